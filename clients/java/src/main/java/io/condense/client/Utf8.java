package io.condense.client;

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
