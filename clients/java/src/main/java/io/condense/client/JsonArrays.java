package io.condense.client;

import java.util.ArrayList;
import java.util.List;

/** Cuts the text of a JSON array into the texts of its elements, none of which is read. */
final class JsonArrays {
  private JsonArrays() {}

  static List<String> split(String array) {
    List<String> elements = new ArrayList<>();
    int depth = 0;
    int start = -1;
    for (int place = 0; place < array.length(); place++) {
      switch (array.charAt(place)) {
        case '"' -> place = endOfString(array, place);
        case '[', '{' -> {
          depth++;
          start = depth == 1 ? place + 1 : start;
        }
        case ']', '}' -> {
          depth--;
          if (depth == 0) {
            add(elements, array.substring(start, place));
          }
        }
        case ',' -> {
          if (depth == 1) {
            add(elements, array.substring(start, place));
            start = place + 1;
          }
        }
        default -> {
          // A number, a literal or white space.
        }
      }
    }
    return elements;
  }

  private static void add(List<String> elements, String element) {
    if (!element.isBlank()) {
      elements.add(element.strip());
    }
  }

  private static int endOfString(String text, int start) {
    int place = start + 1;
    while (text.charAt(place) != '"') {
      place += text.charAt(place) == '\\' ? 2 : 1;
    }
    return place;
  }
}
