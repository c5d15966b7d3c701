package io.condense.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.condense.client.SentHistory.Checkpoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Where a delta begins. */
class SentHistoryTest {
  private static final SentHistory SENT =
      SentHistory.NOTHING
          .extended(Checkpoint.START, digests("a"), "e1")
          .extended(new Checkpoint(1, "e1"), digests("a", "b", "c"), "e3")
          .extended(new Checkpoint(3, "e3"), digests("a", "b", "c", "d"), "e4");

  @Test
  void aListThatPartsGoesBackToTheLastCheckpointBefore() {
    assertEquals(1, SENT.baseFor(2).length());
    assertEquals(new Checkpoint(3, "e3"), SENT.baseFor(3));
    assertEquals(Checkpoint.START, SENT.baseFor(0));
  }

  @Test
  void aRewoundAnswerForgetsWhatLayBehind() {
    SentHistory rewound = SENT.extended(new Checkpoint(1, "e1"), digests("a", "x"), "f2");
    assertEquals(List.of(new Checkpoint(1, "e1"), new Checkpoint(2, "f2")), rewound.checkpoints());
  }

  @Test
  void aRefusedBaseIsFollowedByOneThatTheServerMayKnow() {
    Checkpoint refused = new Checkpoint(4, "e4");
    assertEquals(
        3,
        SENT.baseAfterMismatch(refused, Map.of("serverLength", "3", "serverEtag", "e3")).length());
    assertEquals(
        1,
        SENT.baseAfterMismatch(refused, Map.of("serverLength", "3", "serverEtag", "no")).length());
    assertEquals(
        1,
        SENT.baseAfterMismatch(refused, Map.of("serverLength", "9", "commonLength", "2")).length());
    assertEquals(0, SENT.baseAfterMismatch(refused, Map.of("serverLength", "0")).length());
    assertEquals(3, SENT.baseAfterMismatch(refused, Map.of()).length());
  }

  @Test
  void checkpointsGetRareAndNeverMoreThanTheLimit() {
    SentHistory sent = SentHistory.NOTHING;
    List<Digest> all = new ArrayList<>();
    for (int number = 0; number < 1000; number++) {
      Checkpoint base = sent.baseFor(number);
      all.add(new Digest(number, number));
      sent = sent.extended(base, all, "e" + number);
      assertTrue(sent.checkpoints().size() <= 128);
    }
    assertEquals(1000, sent.baseFor(1000).length());
    assertTrue(sent.baseFor(60).length() > 0);
  }

  private static List<Digest> digests(String... texts) {
    return Stream.of(texts).map(text -> Digest.of(text.getBytes())).toList();
  }
}
