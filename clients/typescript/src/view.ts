/** What a session answers: the view to send to the model, and what was read back from the archive. */

import type { Edit } from "./gen/condense/v1/edit_pb.js";
import type { QueryResult } from "./gen/condense/v1/query_pb.js";
import type { ToolCallRecord } from "./gen/condense/v1/tool_call_pb.js";
import type { PruneMessagesResponse } from "./gen/condense/v1/view_pb.js";
import type { Plain } from "./plain.js";

/** What the server says about a view. */
export type ViewFacts = Pick<
  Plain<PruneMessagesResponse>,
  "revision" | "unchanged" | "pruned" | "reclaim" | "cache" | "applied" | "advice" | "violations" | "statusLine"
>;

/**
 * What to send to the model instead of the raw history, and what the server says about it.
 *
 * Do not send a view to the service; it wants the raw history.
 */
export interface View<T extends object> extends ViewFacts {
  /** The caller's own objects: those without an edit are the very same ones (`===`). */
  readonly messages: T[];
  /** The edits that make it, from raw history to view. */
  readonly edits: readonly Edit[];
  /** How many messages the transcript has now. */
  readonly transcriptLength: number;
  /** Its etag. */
  readonly transcriptEtag: string;
}

/** Originals that were read back. */
export interface Answer {
  /** Ready to be handed to the model. */
  readonly text: string;
  /** One per ref, in order. */
  readonly results: Plain<QueryResult>[];
  /** The records that were found, in the order of the text, each once. */
  readonly records: Plain<ToolCallRecord>[];
}
