package io.condense.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.condense.v1.Drop;
import io.condense.v1.Edit;
import io.condense.v1.InsertAfter;
import io.condense.v1.Message;
import io.condense.v1.MoveAfter;
import io.condense.v1.ReplaceResult;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Edits as the contract describes them, on elements of any shape. */
class EditsTest {
  private static final List<String> RAW =
      List.of("{\"n\":0}", "{\"n\":1}", "{\"n\":2}", "{\"n\":3}");

  @Test
  void elementsWithoutAnEditAreTheCallersOwn() {
    List<String> view = apply(replace(1, "{\"n\":1.50}")).orElseThrow();
    assertSame(RAW.get(0), view.get(0));
    assertEquals("{\"n\":1.50}", view.get(1));
    assertSame(RAW.get(3), view.get(3));
  }

  @Test
  void anchorsHoldAlsoWhereNothingIsShown() {
    List<String> view =
        apply(
                insert(-1, "first"),
                Edit.newBuilder().setMessageIndex(1).setDrop(Drop.getDefaultInstance()).build(),
                insert(1, "behind the dropped"),
                move(3, 1),
                replace(3, "moved and edited"))
            .orElseThrow();
    assertEquals(
        List.of("first", RAW.get(0), "behind the dropped", "moved and edited", RAW.get(2)), view);
  }

  @Test
  void editsWithinAnElementSayNothingBeyondTheirJson() {
    Edit within =
        Edit.newBuilder()
            .setMessageIndex(1)
            .setPartIndex(0)
            .setDrop(Drop.getDefaultInstance())
            .build();
    Edit last =
        Edit.newBuilder()
            .setMessageIndex(1)
            .setPartIndex(2)
            .setNativeJson(ByteString.copyFromUtf8("new"))
            .build();
    assertEquals(
        List.of(RAW.get(0), "new", RAW.get(2), RAW.get(3)), apply(within, last).orElseThrow());
  }

  @Test
  void whatIsNotUnderstoodIsNotGuessed() {
    Edit drop = Edit.newBuilder().setDrop(Drop.getDefaultInstance()).build();
    InsertAfter ofContract =
        InsertAfter.newBuilder().setMessage(Message.getDefaultInstance()).build();
    for (Edit edit :
        List.of(
            Edit.newBuilder().setMessageIndex(1).build(),
            drop.toBuilder().setMessageIndex(4).build(),
            drop.toBuilder().setMessageIndex(-1).build(),
            insert(4, "x"),
            insert(-2, "x"),
            move(0, 4),
            Edit.newBuilder().setMessageIndex(0).setInsertAfter(ofContract).build())) {
      assertTrue(apply(edit).isEmpty(), edit.toString());
    }
  }

  @Test
  void aViewThatWasWrittenOutGivesOwnElementsBack() {
    List<String> elements =
        List.of("{\"a\":\"],[\"}", new String("{\"a\":\"],[\"}"), "{\"b\":[2,{}]}");
    Draft<String> draft = new Draft<>(elements, Format.PI, Json.text(), SentHistory.NOTHING, 1000);
    ByteString written =
        ByteString.copyFromUtf8(
            "[{\"a\":\"],[\"}, {\"new\":\"\\\"\"} ,{\"a\":\"],[\"},{\"b\":[2,{}]},{\"b\":[2,{}]}]");
    List<String> view = Edits.readFullView(Json.text(), draft, written);
    assertEquals(5, view.size());
    assertSame(elements.get(0), view.get(0));
    assertEquals("{\"new\":\"\\\"\"}", view.get(1));
    assertSame(elements.get(1), view.get(2));
    assertSame(elements.get(2), view.get(3));
    assertEquals(
        List.of(), Edits.readFullView(Json.text(), draft, ByteString.copyFromUtf8(" [ ] ")));
  }

  private static Optional<List<String>> apply(Edit... edits) {
    return Edits.apply(Json.text(), RAW, List.of(edits));
  }

  private static Edit replace(int at, String json) {
    return Edit.newBuilder()
        .setMessageIndex(at)
        .setReplaceResult(ReplaceResult.getDefaultInstance())
        .setNativeJson(ByteString.copyFromUtf8(json))
        .build();
  }

  private static Edit insert(int at, String json) {
    InsertAfter insert =
        InsertAfter.newBuilder().setNativeJson(ByteString.copyFromUtf8(json)).build();
    return Edit.newBuilder().setMessageIndex(at).setInsertAfter(insert).build();
  }

  private static Edit move(int at, int anchor) {
    return Edit.newBuilder()
        .setMessageIndex(at)
        .setMoveAfter(MoveAfter.newBuilder().setAfterIndex(anchor))
        .build();
  }
}
