package io.condense.client;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * What the server is known to have of the caller's history.
 *
 * <p>After every answered append there is a checkpoint: a length and its etag. The next delta
 * starts at the last checkpoint before the place where the caller's list parts from what was sent.
 * When the server turns out to have something else, an earlier checkpoint that it confirms takes
 * its place, and base 0 with everything is always right.
 *
 * <p>Values are immutable: calls that overlap each work on the value they started with, and
 * whichever ends later leaves a value that was true when the server answered.
 *
 * @param digests those of the elements that were sent
 * @param checkpoints ascending
 */
record SentHistory(List<Digest> digests, List<Checkpoint> checkpoints) {
  private static final int MAX_CHECKPOINTS = 128;

  static final SentHistory NOTHING = new SentHistory(List.of(), List.of());

  /** A state of the transcript. */
  record Checkpoint(int length, String etag) {
    static final Checkpoint START = new Checkpoint(0, "");
  }

  /** The latest checkpoint within that many elements. */
  Checkpoint baseFor(int unchanged) {
    for (int place = checkpoints.size() - 1; place >= 0; place--) {
      if (checkpoints.get(place).length() <= unchanged) {
        return checkpoints.get(place);
      }
    }
    return Checkpoint.START;
  }

  /** Whether the element at this position is what was sent there. */
  boolean has(int index, Digest digest) {
    return index < digests.size() && digests.get(index).equals(digest);
  }

  /**
   * Where to send from after the server has refused a base: before it, and where the server agrees.
   *
   * <p>An etag of ours at the server's own length has to be the server's. Below that length, or up
   * to a common length that the server names, the latest checkpoint is the best guess.
   */
  Checkpoint baseAfterMismatch(Checkpoint refused, Map<String, String> metadata) {
    OptionalLong common = number(metadata.get("commonLength"));
    OptionalLong length = number(metadata.get("serverLength"));
    String etag = metadata.getOrDefault("serverEtag", "");
    for (int place = checkpoints.size() - 1; place >= 0; place--) {
      Checkpoint checkpoint = checkpoints.get(place);
      if (checkpoint.length() >= refused.length()) {
        continue;
      }
      boolean isLikely = true;
      if (common.isPresent()) {
        isLikely = checkpoint.length() <= common.getAsLong();
      } else if (length.isPresent()) {
        boolean isSame =
            checkpoint.length() == length.getAsLong() && checkpoint.etag().equals(etag);
        isLikely = checkpoint.length() < length.getAsLong() || isSame;
      }
      if (isLikely) {
        return checkpoint;
      }
    }
    return Checkpoint.START;
  }

  /**
   * After an answer to a delta from {@code base}: the server has exactly these elements, at this
   * etag.
   */
  SentHistory extended(Checkpoint base, List<Digest> elements, String etag) {
    Checkpoint latest = new Checkpoint(elements.size(), etag);
    List<Checkpoint> kept = new ArrayList<>(checkpoints.size() + 1);
    for (Checkpoint checkpoint : checkpoints) {
      if (checkpoint.length() <= base.length() && checkpoint.length() < latest.length()) {
        kept.add(checkpoint);
      }
    }
    kept.add(latest);
    return new SentHistory(List.copyOf(elements), thinned(kept));
  }

  /** Of the older half every second one goes, so that early bases get rare, not absent. */
  private static List<Checkpoint> thinned(List<Checkpoint> checkpoints) {
    if (checkpoints.size() <= MAX_CHECKPOINTS) {
      return Collections.unmodifiableList(checkpoints);
    }
    List<Checkpoint> kept = new ArrayList<>(checkpoints.size());
    for (int place = 0; place < checkpoints.size(); place++) {
      if (place >= MAX_CHECKPOINTS / 2 || place % 2 == 0) {
        kept.add(checkpoints.get(place));
      }
    }
    return Collections.unmodifiableList(kept);
  }

  private static OptionalLong number(String text) {
    try {
      return text == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(text));
    } catch (NumberFormatException notOne) {
      return OptionalLong.empty();
    }
  }
}
