package io.condense.client;

import io.condense.v1.CacheReport;
import io.condense.v1.Edit;
import io.condense.v1.FlushAdvice;
import io.condense.v1.PruneMessagesResponse;
import io.condense.v1.Reclaim;
import io.condense.v1.Violation;
import java.util.List;

/**
 * What to send to the model instead of the raw history, and what the service says about it.
 *
 * <p>Do not hand a view to the service; it wants the raw history.
 *
 * @param messages the messages; those without an edit are the caller's very own objects
 * @param edits what turned the raw history into the view
 * @param response the whole answer; its own edits are empty if they are the ones that the client
 *     already held
 */
public record View<T>(List<T> messages, List<Edit> edits, PruneMessagesResponse response) {
  /** Whether the view differs from the raw history. */
  public boolean pruned() {
    return response.getPruned();
  }

  /** Whether the edits are those of the view before. */
  public boolean unchanged() {
    return response.getUnchanged();
  }

  /** What identifies the edits. */
  public String revision() {
    return response.getRevision();
  }

  /** What the view saves. */
  public Reclaim reclaim() {
    return response.getReclaim();
  }

  /** What the view means for the provider's prompt cache. */
  public CacheReport cache() {
    return response.getCache();
  }

  /** Whether it is a good moment to flush. */
  public FlushAdvice advice() {
    return response.getAdvice();
  }

  /** What the server found wrong with the new messages. */
  public List<Violation> violations() {
    return response.getViolationsList();
  }

  /** One line for people; empty if it is switched off. */
  public String statusLine() {
    return response.getStatusLine();
  }
}
