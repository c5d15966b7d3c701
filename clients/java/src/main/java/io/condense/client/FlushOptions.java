package io.condense.client;

import io.condense.v1.FlushTrigger;
import java.time.Duration;

/**
 * What a flush or a compaction can be told.
 *
 * @param trigger why it is done
 * @param attach follow a flush that is already running instead of failing
 * @param compact compress all eligible chains, also those within the rolling window
 * @param dryRun only say what would be flushed
 * @param timeout how long it may take; null: as long as it takes
 */
public record FlushOptions(
    FlushTrigger trigger, boolean attach, boolean compact, boolean dryRun, Duration timeout) {
  /** The defaults. */
  public static final FlushOptions DEFAULT =
      new FlushOptions(FlushTrigger.FLUSH_TRIGGER_MANUAL, true, false, false, null);

  /** The same, following a running flush or not. */
  public FlushOptions withAttach(boolean attach) {
    return new FlushOptions(trigger, attach, compact, dryRun, timeout);
  }

  /** The same for another reason. */
  public FlushOptions withTrigger(FlushTrigger trigger) {
    return new FlushOptions(trigger, attach, compact, dryRun, timeout);
  }

  /** The same with a timeout. */
  public FlushOptions withTimeout(Duration timeout) {
    return new FlushOptions(trigger, attach, compact, dryRun, timeout);
  }
}
