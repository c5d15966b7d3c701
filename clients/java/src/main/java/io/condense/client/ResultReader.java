package io.condense.client;

import io.condense.v1.CondenseServiceGrpc;
import io.condense.v1.ReadToolResultRequest;
import io.condense.v1.ReadToolResultResponse;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Optional;

/**
 * One original, verbatim and of any size, piece by piece, for one reader. A broken stream goes on
 * where it ended.
 */
public final class ResultReader implements Iterator<String>, AutoCloseable {
  private final Transport transport;
  private final String sessionId;
  private final String ref;
  private Transport.Stream<ReadToolResultResponse> stream;
  private ByteBuffer rest = ByteBuffer.allocate(0);
  private long offset;
  private long brokenAt = -1;
  private String next;
  private boolean isDone;

  ResultReader(Transport transport, String sessionId, String ref) {
    this.transport = transport;
    this.sessionId = sessionId;
    this.ref = ref;
  }

  /** Whether there is another piece; waits for it. */
  @Override
  public boolean hasNext() {
    while (next == null && !isDone) {
      try {
        take(receive());
      } catch (CondenseException.Unavailable error) {
        close();
        if (brokenAt == offset) {
          isDone = true;
          throw error;
        }
        brokenAt = offset;
      } catch (CondenseException error) {
        isDone = true;
        throw error;
      }
    }
    return next != null;
  }

  @Override
  public String next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    String piece = next;
    next = null;
    return piece;
  }

  /** All that is left, as one text. */
  public String readAll() {
    StringBuilder text = new StringBuilder();
    while (hasNext()) {
      text.append(next());
    }
    return text.toString();
  }

  /** Leaves the stream. */
  @Override
  public void close() {
    if (stream != null) {
      stream.close();
      stream = null;
    }
  }

  private ReadToolResultResponse receive() {
    if (stream == null) {
      ReadToolResultRequest request =
          ReadToolResultRequest.newBuilder()
              .setSessionId(sessionId)
              .setRef(ref)
              .setOffsetBytes(offset)
              .build();
      stream =
          transport.open(CondenseServiceGrpc.getReadToolResultMethod(), request, Optional.empty());
    }
    return stream.receive();
  }

  private void take(ReadToolResultResponse chunk) {
    if (chunk == null) {
      isDone = true;
      return;
    }
    if (!chunk.getFound()) {
      throw Errors.resultNotFound(ref);
    }
    offset = chunk.getOffsetBytes() + chunk.getData().size();
    ByteBuffer bytes = ByteBuffer.allocate(rest.remaining() + chunk.getData().size());
    bytes.put(rest);
    chunk.getData().copyTo(bytes);
    bytes.flip();
    String text = Utf8.take(bytes);
    rest = bytes.slice();
    next = text.isEmpty() ? null : text;
  }
}
