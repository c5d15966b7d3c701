package io.condense.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.condense.v1.Slice;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What a model wants to read, from the arguments of its call.
 *
 * <p>Models write arguments in many ways; whatever is clear is taken, and the rest is answered with
 * a sentence that says what is wanted.
 */
record ToolQuery(List<String> refs, List<Slice> slices) {
  private static final String WANTED =
      "Call it again with {\"toolCallIds\": [\"t12\"]}, the refs as the stub or summary shows them.";
  private static final String WANTED_SLICES =
      "{\"ref\": \"t12\", \"lines\": [1, 200]}, {\"ref\": \"t12\", \"chars\": [1, 5000]} or "
          + "{\"ref\": \"t12\", \"pattern\": \"x\"}";

  /** Arguments that name nothing to read. The message is the answer for the model. */
  static final class Unclear extends Exception {
    private static final long serialVersionUID = 1L;

    private Unclear(String message) {
      super(message);
    }
  }

  static ToolQuery parse(String text) throws Unclear {
    return read(parsed(text, "The arguments of " + RecoveryTool.NAME + " are"));
  }

  static ToolQuery read(JsonNode arguments) throws Unclear {
    if (arguments == null || !arguments.isObject()) {
      throw new Unclear("The arguments of " + RecoveryTool.NAME + " are not an object. " + WANTED);
    }
    List<Slice> slices = new ArrayList<>();
    for (JsonNode member : members(arguments.path("slices"), "slices")) {
      slices.add(slice(member));
    }
    List<String> refs = new ArrayList<>();
    for (JsonNode member : members(arguments.path("toolCallIds"), "toolCallIds")) {
      refs.add(ref(member));
    }
    if (refs.isEmpty()) {
      Set<String> named = new LinkedHashSet<>();
      slices.forEach(it -> named.add(it.getRef()));
      refs.addAll(named);
    }
    if (refs.isEmpty()) {
      throw new Unclear(RecoveryTool.NAME + " was called without refs. " + WANTED);
    }
    return new ToolQuery(refs, slices);
  }

  private static JsonNode parsed(String text, String what) throws Unclear {
    try {
      JsonNode value = JacksonJson.MAPPER.readTree(text);
      if (!value.isMissingNode()) {
        return value;
      }
    } catch (JsonProcessingException notJson) {
      // said below
    }
    throw new Unclear(what + " not valid JSON. " + WANTED);
  }

  /** A list; a single member and a list written as text are taken for one. */
  private static List<JsonNode> members(JsonNode value, String name) throws Unclear {
    JsonNode list = value;
    if (value.isTextual()) {
      String text = value.textValue().stripLeading();
      if (text.startsWith("[") || text.startsWith("{")) {
        list = parsed(text, name + " is");
      }
    }
    List<JsonNode> members = new ArrayList<>();
    if (list.isArray()) {
      list.forEach(members::add);
    } else if (!list.isMissingNode() && !list.isNull()) {
      members.add(list);
    }
    return members;
  }

  private static String ref(JsonNode value) throws Unclear {
    if (!value.isTextual()) {
      throw new Unclear("A member of toolCallIds is not a text. " + WANTED);
    }
    if (!Utf8.isWellFormed(value.textValue())) {
      throw new Unclear("A member of toolCallIds holds half of a character. " + WANTED);
    }
    return value.textValue();
  }

  private static Slice slice(JsonNode value) throws Unclear {
    Unclear unclear = new Unclear("A member of slices is not clear. Use " + WANTED_SLICES + ".");
    JsonNode pattern = value.path("pattern");
    if (!value.path("ref").isTextual() || !(isAbsent(pattern) || pattern.isTextual())) {
      throw unclear;
    }
    String ref = ref(value.path("ref"));
    try {
      if (!isAbsent(value.path("lines"))) {
        Range range = Range.of(value.path("lines"));
        return range.last() == null
            ? Slices.linesFrom(ref, range.first())
            : Slices.lines(ref, range.first(), range.last());
      }
      if (!isAbsent(value.path("chars"))) {
        Range range = Range.of(value.path("chars"));
        return range.last() == null
            ? Slices.charsFrom(ref, range.first())
            : Slices.chars(ref, range.first(), range.last());
      }
      if (isAbsent(pattern)) {
        return Slice.newBuilder().setRef(ref).build();
      }
      if (!Utf8.isWellFormed(pattern.textValue())) {
        throw unclear;
      }
      JsonNode around = value.path("contextLines");
      int context = isAbsent(around) ? 0 : Math.toIntExact(wholeNumber(around));
      boolean isRegex = value.path("regex").isBoolean() && value.path("regex").booleanValue();
      return isRegex
          ? Slices.matching(ref, pattern.textValue(), context)
          : Slices.containing(ref, pattern.textValue(), context);
    } catch (ArithmeticException | NumberFormatException notClear) {
      throw unclear;
    }
  }

  private static boolean isAbsent(JsonNode value) {
    return value.isMissingNode() || value.isNull();
  }

  /**
   * First and last (null: to the end): a list of one or two numbers, a text such as 10-40, or one
   * number.
   */
  private record Range(long first, Long last) {
    static Range of(JsonNode value) {
      if (value.isNumber()) {
        return new Range(wholeNumber(value), wholeNumber(value));
      }
      if (value.isTextual()) {
        String[] ends = value.textValue().replace('-', ' ').strip().split("\\s+");
        if (ends.length <= 2) {
          return new Range(
              Long.parseLong(ends[0]), ends.length == 1 ? null : Long.valueOf(ends[1]));
        }
      }
      if (value.isArray() && (value.size() == 1 || value.size() == 2)) {
        Long last = isAbsent(value.path(1)) ? null : Long.valueOf(wholeNumber(value.get(1)));
        return new Range(wholeNumber(value.get(0)), last);
      }
      throw new NumberFormatException();
    }
  }

  private static long wholeNumber(JsonNode value) {
    if (value.isNumber()) {
      double number = value.doubleValue();
      if (Math.abs(number) < 9e15) {
        return (long) number;
      }
    }
    if (value.isTextual()) {
      return Long.parseLong(value.textValue().strip());
    }
    throw new NumberFormatException();
  }
}
