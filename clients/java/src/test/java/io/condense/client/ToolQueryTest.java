package io.condense.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** How models call the recovery tool. */
class ToolQueryTest {
  @Test
  void whatIsClearIsTaken() throws Exception {
    assertEquals(
        List.of("t1", "t2"), ToolQuery.parse("{\"toolCallIds\": [\"t1\", \"t2\"]}").refs());
    assertEquals(List.of("t1"), ToolQuery.parse("{\"toolCallIds\": \"t1\"}").refs());
    assertEquals(List.of("t1"), ToolQuery.parse("{\"toolCallIds\": \"[\\\"t1\\\"]\"}").refs());
    assertEquals(
        List.of("t3"),
        ToolQuery.parse("{\"slices\": [{\"ref\": \"t3\"}, {\"ref\": \"t3\"}]}").refs());
    for (String lines : List.of("[10, 40]", "\"10-40\"", "\"10 40\"", "[10.0, \"40\"]")) {
      assertEquals(
          List.of(Slices.lines("t1", 10, 40)),
          ToolQuery.parse("{\"slices\": {\"ref\": \"t1\", \"lines\": " + lines + "}}").slices());
    }
    assertEquals(
        List.of(Slices.linesFrom("t1", 7)),
        ToolQuery.parse("{\"slices\": {\"ref\": \"t1\", \"lines\": [7, null]}}").slices());
    assertEquals(
        List.of(Slices.matching("t1", "a+", 2)),
        ToolQuery.parse(
                "{\"slices\": [{\"ref\": \"t1\", \"pattern\": \"a+\", \"regex\": true, \"contextLines\": 2}]}")
            .slices());
  }

  @Test
  void theRestIsAnsweredWithWhatIsWanted() {
    for (String text :
        List.of(
            "",
            "t1",
            "[]",
            "null",
            "{}",
            "{} {}",
            "{\"toolCallIds\": [1]}",
            "{\"toolCallIds\": \"[t1\"}")) {
      String answer =
          assertThrows(ToolQuery.Unclear.class, () -> ToolQuery.parse(text), text).getMessage();
      assertTrue(answer.contains("Call it again with"), answer);
    }
    for (String slice :
        List.of(
            "{\"lines\": [1]}",
            "7",
            "{\"ref\": \"t1\", \"lines\": []}",
            "{\"ref\": \"t1\", \"lines\": \"x\"}",
            "{\"ref\": \"t1\", \"pattern\": 1}")) {
      String text = "{\"slices\": [" + slice + "]}";
      String answer =
          assertThrows(ToolQuery.Unclear.class, () -> ToolQuery.parse(text), text).getMessage();
      assertTrue(answer.startsWith("A member of slices is not clear."), answer);
    }
  }
}
