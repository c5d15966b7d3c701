package io.condense.client;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;

/** Texts of this language as UTF-8, which cannot hold half of a character (a lone surrogate). */
final class Utf8 {
  private Utf8() {}

  /** Whether a text can be sent as it is. */
  static boolean isWellFormed(String text) {
    return findLoneSurrogate(text, 0) < 0;
  }

  /** A JSON text. Lone surrogates, which stand within its strings, are written as their escapes. */
  static byte[] ofJson(String json) {
    int lone = findLoneSurrogate(json, 0);
    if (lone < 0) {
      return json.getBytes(StandardCharsets.UTF_8);
    }
    StringBuilder escaped = new StringBuilder(json.length() + 16);
    int start = 0;
    for (; lone >= 0; lone = findLoneSurrogate(json, start)) {
      escaped.append(json, start, lone).append(String.format("\\u%04x", (int) json.charAt(lone)));
      start = lone + 1;
    }
    return escaped.append(json, start, json.length()).toString().getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Takes the characters that are complete out of a buffer. Half of a character, which originals
   * carry as the three bytes that it would have, becomes a lone surrogate; what is no character at
   * all is shown as U+FFFD.
   */
  static String take(ByteBuffer bytes) {
    CharBuffer text = CharBuffer.allocate(bytes.remaining());
    CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
    while (true) {
      CoderResult result = decoder.decode(bytes, text, false);
      if (!result.isMalformed()) {
        return text.flip().toString();
      }
      int place = bytes.position();
      boolean isSurrogate =
          (bytes.get(place) & 0xff) == 0xed
              && bytes.remaining() >= 3
              && (bytes.get(place + 1) & 0xe0) == 0xa0
              && (bytes.get(place + 2) & 0xc0) == 0x80;
      if (isSurrogate) {
        text.put(
            (char) (0xd000 | (bytes.get(place + 1) & 0x3f) << 6 | bytes.get(place + 2) & 0x3f));
        bytes.position(place + 3);
      } else {
        text.put('\ufffd');
        bytes.position(place + result.length());
      }
    }
  }

  private static int findLoneSurrogate(String text, int from) {
    for (int index = from; index < text.length(); index++) {
      char unit = text.charAt(index);
      if (!Character.isSurrogate(unit)) {
        continue;
      }
      boolean isPair =
          Character.isHighSurrogate(unit)
              && index + 1 < text.length()
              && Character.isLowSurrogate(text.charAt(index + 1));
      if (!isPair) {
        return index;
      }
      index++;
    }
    return -1;
  }
}
