package io.condense.client;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.condense.client.SentHistory.Checkpoint;
import io.condense.v1.AppendMessagesRequest;
import io.condense.v1.NativeMessages;
import io.condense.v1.SessionConfig;
import io.condense.v1.TranscriptDelta;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A caller's list on its way to the server: compared with what was sent, and written as JSON where
 * it is new. Serves one call.
 *
 * <p>This is the door. What cannot be sent is refused here, with its place in the list and before
 * anything has left.
 */
final class Draft<T> {
  private final List<T> elements;
  private final Format format;
  private final Json<T> json;
  private final int maxMessageBytes;
  private final int[] sizes;
  private final Map<Integer, byte[]> texts = new HashMap<>();

  /** Those of all elements. */
  final List<Digest> digests;

  /** What is known to be sent. */
  SentHistory sent;

  private int unchanged;

  Draft(List<T> elements, Format format, Json<T> json, SentHistory sent, int maxMessageBytes) {
    this.elements = elements;
    this.format = format;
    this.json = json;
    this.sent = sent;
    this.maxMessageBytes = maxMessageBytes;
    this.sizes = new int[elements.size()];
    this.digests = new ArrayList<>(elements.size());
    for (int index = 0; index < elements.size(); index++) {
      byte[] text = write(index);
      Digest digest = Digest.of(text);
      digests.add(digest);
      sizes[index] = text.length;
      if (unchanged == index && sent.has(index, digest)) {
        unchanged++;
      } else {
        requireObject(index, text);
        texts.put(index, text);
      }
    }
  }

  int length() {
    return elements.size();
  }

  /** The caller's elements. */
  List<T> elements() {
    return elements;
  }

  /** The latest checkpoint that the list agrees with. */
  Checkpoint base() {
    return sent.baseFor(unchanged);
  }

  /**
   * Takes note that the server has the whole list, at this etag, after a delta from {@code base}.
   */
  void accept(Checkpoint base, String etag) {
    sent = sent.extended(base, digests, etag);
    unchanged = elements.size();
  }

  /** The size of the elements behind a base. */
  long deltaBytes(Checkpoint base) {
    long size = 0;
    for (int index = base.length(); index < sizes.length; index++) {
      size += sizes[index] + 1;
    }
    return size;
  }

  /** Everything behind a base. An empty list is sent too: the transcript ends at the base then. */
  TranscriptDelta delta(Checkpoint base) {
    return deltaAt(base).setNative(payload(base.length(), length())).build();
  }

  /**
   * Everything behind a base as the requests of an upload, at least one, of about that size. A
   * larger element is alone in its chunk.
   */
  List<AppendMessagesRequest> chunks(
      Checkpoint base, String sessionId, SessionConfig config, int size) {
    List<AppendMessagesRequest> chunks = new ArrayList<>();
    AppendMessagesRequest.Builder request =
        AppendMessagesRequest.newBuilder().setSessionId(sessionId).setDelta(deltaAt(base));
    if (config != null) {
      request.setConfig(config);
    }
    int start = base.length();
    long filled = 0;
    for (int index = base.length(); index < length(); index++) {
      if (index > start && filled + sizes[index] > size) {
        request.getDeltaBuilder().setNative(payload(start, index));
        chunks.add(request.build());
        request = AppendMessagesRequest.newBuilder();
        start = index;
        filled = 0;
      }
      filled += sizes[index];
    }
    request.getDeltaBuilder().setNative(payload(start, length()));
    chunks.add(request.build());
    return chunks;
  }

  private static TranscriptDelta.Builder deltaAt(Checkpoint base) {
    return TranscriptDelta.newBuilder()
        .setBaseLength(base.length())
        .setBaseEtag(base.etag())
        .setCreateIfMissing(true);
  }

  private NativeMessages payload(int start, int end) {
    int size = Math.max(2, 1 + end - start);
    for (int index = start; index < end; index++) {
      size = Math.addExact(size, sizes[index]);
    }
    byte[] array = new byte[size];
    int place = 0;
    array[place++] = '[';
    for (int index = start; index < end; index++) {
      if (index > start) {
        array[place++] = ',';
      }
      byte[] text = texts.getOrDefault(index, null);
      if (text == null) {
        text = write(index);
      }
      System.arraycopy(text, 0, array, place, text.length);
      place += text.length;
    }
    array[place] = ']';
    ByteString wrapped = UnsafeByteOperations.unsafeWrap(array);
    return NativeMessages.newBuilder().setFormat(format.proto()).setJson(wrapped).build();
  }

  private byte[] write(int index) {
    String text;
    try {
      text = json.write(elements.get(index));
    } catch (Exception | StackOverflowError error) {
      throw invalid(index, "cannot be written as JSON (" + error.getClass().getSimpleName() + ")");
    }
    if (text == null || !text.startsWith("{")) {
      throw invalid(index, "is no JSON object");
    }
    byte[] bytes = Utf8.ofJson(text);
    if (bytes.length > maxMessageBytes) {
      throw tooLarge(index, bytes.length);
    }
    return bytes;
  }

  /**
   * One element is one object: anything else would be another list, and be blamed on the server.
   */
  private static void requireObject(int index, byte[] text) {
    try (JsonParser parser = JacksonJson.MAPPER.createParser(text)) {
      boolean isObject = parser.nextToken() == JsonToken.START_OBJECT;
      parser.skipChildren();
      if (isObject && parser.nextToken() == null) {
        return;
      }
    } catch (IOException notJson) {
      // said below
    }
    throw invalid(index, "is no JSON object");
  }

  private static CondenseException invalid(int index, String what) {
    Map<String, String> metadata = Map.of("messageIndex", Integer.toString(index));
    return Errors.local("MESSAGE_INVALID", "message " + index + " " + what, metadata);
  }

  private CondenseException tooLarge(int index, int size) {
    String message =
        ("message %d has %d bytes, more than the %d of one gRPC message: make it smaller, or raise the limit of "
                + "client and server")
            .formatted(index, size, maxMessageBytes);
    Map<String, String> metadata =
        Map.of(
            "messageIndex", Integer.toString(index),
            "bytes", Integer.toString(size),
            "maxBytes", Integer.toString(maxMessageBytes));
    return Errors.local("MESSAGE_TOO_LARGE", message, metadata);
  }
}
