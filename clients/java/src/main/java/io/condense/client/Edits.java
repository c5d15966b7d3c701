package io.condense.client;

import com.google.protobuf.ByteString;
import io.condense.v1.Edit;
import io.condense.v1.Edit.ChangeCase;
import io.condense.v1.InsertAfter.ContentCase;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Applies edits to the caller's own elements: raw + edits = view.
 *
 * <p>Everything that happens within an element is in the JSON that an edit brings; what is left is
 * to drop, to insert and to move elements. Positions count in the raw history throughout, and an
 * element that moves is edited first, whatever the order in the list.
 */
final class Edits {
  private Edits() {}

  /**
   * The view; empty if an edit is of a kind that this client does not know, or at a place that is
   * not there.
   */
  static <T> Optional<List<T>> apply(Json<T> json, List<T> elements, List<Edit> edits) {
    List<T> shown = new ArrayList<>(elements);
    boolean[] isAbsent = new boolean[shown.size()];
    Map<Integer, List<Anchored<T>>> behind = new HashMap<>();
    for (Edit edit : edits) {
      if (!isKnown(edit, shown.size())) {
        return Optional.empty();
      }
      int at = (int) edit.getMessageIndex();
      if (!edit.getNativeJson().isEmpty()) {
        shown.set(at, read(json, edit.getNativeJson()));
      }
      if (edit.hasPartIndex()) {
        continue;
      }
      switch (edit.getChangeCase()) {
        case DROP -> isAbsent[at] = true;
        case INSERT_AFTER -> {
          T inserted = read(json, edit.getInsertAfter().getNativeJson());
          behind.computeIfAbsent(at, unused -> new ArrayList<>()).add(new Anchored<>(-1, inserted));
        }
        case MOVE_AFTER -> {
          isAbsent[at] = true;
          int anchor = (int) edit.getMoveAfter().getAfterIndex();
          behind.computeIfAbsent(anchor, unused -> new ArrayList<>()).add(new Anchored<>(at, null));
        }
        default -> {
          // Happens within the element, whose JSON is in this edit or in a later one of the same
          // element.
        }
      }
    }
    List<T> view = new ArrayList<>(shown.size());
    for (int at = -1; at < shown.size(); at++) {
      if (at >= 0 && !isAbsent[at]) {
        view.add(shown.get(at));
      }
      for (Anchored<T> anchored : behind.getOrDefault(at, List.of())) {
        view.add(anchored.place() < 0 ? anchored.inserted() : shown.get(anchored.place()));
      }
    }
    return Optional.of(view);
  }

  /**
   * The view that a server has written out. Elements that the caller has are the caller's own
   * objects.
   */
  static <T> List<T> readFullView(Json<T> json, Draft<T> draft, ByteString array) {
    Map<Digest, Deque<T>> own = new HashMap<>();
    for (int index = 0; index < draft.length(); index++) {
      own.computeIfAbsent(draft.digests.get(index), unused -> new ArrayDeque<>())
          .add(draft.elements().get(index));
    }
    List<T> view = new ArrayList<>();
    for (String text : JsonArrays.split(array.toString(StandardCharsets.UTF_8))) {
      Deque<T> same = own.get(Digest.of(text.getBytes(StandardCharsets.UTF_8)));
      view.add(same == null || same.isEmpty() ? read(json, text) : same.poll());
    }
    return view;
  }

  /**
   * An element that stands behind a position: one that moves, by its place, or one that is
   * inserted.
   */
  private record Anchored<T>(int place, T inserted) {}

  private static boolean isKnown(Edit edit, int length) {
    long at = edit.getMessageIndex();
    boolean isInsert = edit.getChangeCase() == ChangeCase.INSERT_AFTER;
    if (edit.getChangeCase() == ChangeCase.CHANGE_NOT_SET) {
      return edit.hasPartIndex() && !edit.getNativeJson().isEmpty() && at >= 0 && at < length;
    }
    if (edit.hasPartIndex() || !isInsert) {
      long anchor =
          edit.getChangeCase() == ChangeCase.MOVE_AFTER ? edit.getMoveAfter().getAfterIndex() : 0;
      return at >= 0 && at < length && isAnchor(anchor, length);
    }
    return isAnchor(at, length)
        && edit.getInsertAfter().getContentCase() == ContentCase.NATIVE_JSON;
  }

  private static boolean isAnchor(long at, int length) {
    return at >= -1 && at < Math.max(length, 1);
  }

  private static <T> T read(Json<T> json, ByteString element) {
    return read(json, element.toString(StandardCharsets.UTF_8));
  }

  private static <T> T read(Json<T> json, String element) {
    try {
      return json.read(element);
    } catch (Exception error) {
      String kind = error.getClass().getSimpleName();
      throw Errors.local("an element that the server has written cannot be read (" + kind + ")");
    }
  }
}
