package io.condense.client;

import io.condense.v1.CharRange;
import io.condense.v1.LineRange;
import io.condense.v1.PatternMatch;
import io.condense.v1.Slice;

/**
 * Parts of an original to ask for. Characters and lines count from 1, and both ends belong to a
 * part.
 */
public final class Slices {
  private Slices() {}

  /** The lines from {@code first} to {@code last} of what {@code ref} names. */
  public static Slice lines(String ref, long first, long last) {
    long count = Math.max(0, last - Math.max(first, 1) + 1);
    LineRange range = LineRange.newBuilder().setStartLine(first).setLineCount(count).build();
    return Slice.newBuilder().setRef(ref).setLines(range).build();
  }

  /** The lines from {@code first} to the end. */
  public static Slice linesFrom(String ref, long first) {
    return Slice.newBuilder()
        .setRef(ref)
        .setLines(LineRange.newBuilder().setStartLine(first))
        .build();
  }

  /** The characters (code points) from {@code first} to {@code last}. */
  public static Slice chars(String ref, long first, long last) {
    CharRange range = CharRange.newBuilder().setStartChar(first).setEndChar(last).build();
    return Slice.newBuilder().setRef(ref).setChars(range).build();
  }

  /** The characters (code points) from {@code first} to the end. */
  public static Slice charsFrom(String ref, long first) {
    return Slice.newBuilder()
        .setRef(ref)
        .setChars(CharRange.newBuilder().setStartChar(first))
        .build();
  }

  /** The lines that hold a text, with {@code contextLines} around each. */
  public static Slice containing(String ref, String text, int contextLines) {
    return match(ref, PatternMatch.newBuilder().setPattern(text).setContextLines(contextLines));
  }

  /** The lines that match an RE2 expression, with {@code contextLines} around each. */
  public static Slice matching(String ref, String expression, int contextLines) {
    return match(
        ref,
        PatternMatch.newBuilder()
            .setPattern(expression)
            .setRegex(true)
            .setContextLines(contextLines));
  }

  private static Slice match(String ref, PatternMatch.Builder match) {
    return Slice.newBuilder().setRef(ref).setPattern(match).build();
  }
}
