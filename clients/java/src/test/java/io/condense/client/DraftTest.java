package io.condense.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.condense.client.SentHistory.Checkpoint;
import io.condense.v1.AppendMessagesRequest;
import io.condense.v1.TranscriptDelta;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What leaves for the server, and what does not. */
class DraftTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  @Test
  void chunksTogetherAreTheDeltaAndOnlyTheFirstSaysWhere() throws Exception {
    List<String> elements = new ArrayList<>();
    for (int number = 0; number < 10; number++) {
      elements.add("{\"content\":\"%s\"}".formatted("x".repeat(number * 10)));
    }
    Draft<String> draft = new Draft<>(elements, Format.PI, Json.text(), SentHistory.NOTHING, 1000);
    List<AppendMessagesRequest> chunks = draft.chunks(new Checkpoint(2, "e2"), "s", null, 100);
    assertTrue(chunks.size() > 2);
    TranscriptDelta first = chunks.get(0).getDelta();
    assertEquals("s", chunks.get(0).getSessionId());
    assertEquals(2, first.getBaseLength());
    assertEquals("e2", first.getBaseEtag());
    assertTrue(first.getCreateIfMissing());
    List<JsonNode> sent = new ArrayList<>();
    for (AppendMessagesRequest chunk : chunks) {
      assertEquals(chunk == chunks.get(0), chunk.getDelta().getCreateIfMissing());
      MAPPER.readTree(chunk.getDelta().getNative().getJson().toByteArray()).forEach(sent::add);
    }
    assertEquals(elements.subList(2, 10), sent.stream().map(JsonNode::toString).toList());
  }

  @Test
  void nothingNewIsAnEmptyArrayAndNotAbsent() {
    Draft<String> draft =
        new Draft<>(List.of("{}"), Format.PI, Json.text(), SentHistory.NOTHING, 1000);
    TranscriptDelta delta = draft.delta(new Checkpoint(1, "e1"));
    assertTrue(delta.hasNative());
    assertEquals("[]", delta.getNative().getJson().toStringUtf8());
    assertEquals("[{}]", draft.delta(Checkpoint.START).getNative().getJson().toStringUtf8());
    assertEquals(1, draft.chunks(new Checkpoint(1, "e1"), "s", null, 100).size());
  }

  @Test
  void whatCannotBeSentIsRefusedWithItsPlace() {
    List<String> wrong =
        List.of("text", "[]", "", "{\"a\":", "{},{}", "{} {}", "{}x", "{'a':1}", "{\"a\":\"\n\"}");
    for (String element : wrong) {
      CondenseException error =
          assertThrows(CondenseException.MessageInvalid.class, () -> draft("{}", element), element);
      assertEquals("1", error.metadata().get("messageIndex"));
      assertEquals("MESSAGE_INVALID", error.reason());
    }
    String large = "{\"content\":\"" + "x".repeat(1000) + "\"}";
    assertThrows(CondenseException.MessageTooLarge.class, () -> draft("{}", large));
  }

  @Test
  void halfOfACharacterIsSentAsItsEscape() throws Exception {
    JsonNode element = MAPPER.readTree("{\"a\":\"\\ud83d 🙂 \\ude42\"}");
    Draft<JsonNode> draft =
        new Draft<>(List.of(element), Format.PI, Json.jackson(), SentHistory.NOTHING, 1000);
    String sent = draft.delta(Checkpoint.START).getNative().getJson().toStringUtf8();
    assertEquals("[{\"a\":\"\\ud83d 🙂 \\ude42\"}]", sent);
    assertFalse(Utf8.isWellFormed("\ud83d"));
    assertTrue(Utf8.isWellFormed("🙂"));
  }

  @Test
  void originalsKeepHalfOfACharacterAndWholeOnesWhereverAChunkEnds() {
    byte[] half = {'a', (byte) 0xed, (byte) 0xa0, (byte) 0xbd, 'b', (byte) 0xff, 'c'};
    assertEquals("a\ud83db\ufffdc", Utf8.take(ByteBuffer.wrap(half)));
    byte[] original = "a🙂é漢".getBytes(StandardCharsets.UTF_8);
    for (int cut = 0; cut <= original.length; cut++) {
      ByteBuffer first = ByteBuffer.wrap(original, 0, cut);
      String text = Utf8.take(first);
      ByteBuffer second = ByteBuffer.allocate(first.remaining() + original.length - cut);
      second.put(first).put(original, cut, original.length - cut).flip();
      assertEquals("a🙂é漢", text + Utf8.take(second));
    }
  }

  @Test
  void numbersOfTheServiceKeepTheirDigits() throws Exception {
    String json =
        "{\"a\":1.50,\"b\":123456789012345678901234567890,\"c\":0.10,\"d\":9007199254740993}";
    assertEquals(json, Json.jackson().write(Json.jackson().read(json)));
  }

  private static Draft<String> draft(String... elements) {
    return new Draft<>(List.of(elements), Format.PI, Json.text(), SentHistory.NOTHING, 500);
  }
}
