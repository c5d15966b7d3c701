package io.condense.client;

import io.condense.v1.ContextUsage;

/**
 * What a prune can be told.
 *
 * @param usage what the last request to the model used; null: not known
 * @param minSavingsChars if the view would save fewer characters, the raw history is shown; null: 0
 * @param dryRun only report; nothing is stored, and the view is the raw history
 */
public record PruneOptions(ContextUsage usage, Long minSavingsChars, boolean dryRun) {
  /** The defaults. */
  public static final PruneOptions DEFAULT = new PruneOptions(null, null, false);

  /** With the size of the context. */
  public static PruneOptions usage(long tokens, long contextWindow) {
    return new PruneOptions(
        ContextUsage.newBuilder().setTokens(tokens).setContextWindow(contextWindow).build(),
        null,
        false);
  }
}
