/**
 * The TypeScript client: the caller keeps its raw history, and asks the service what to send to the model instead.
 *
 * A session sends only what is new in the caller's list, recovers by itself from lost answers and from a server that
 * knows less, and applies the server's edits to the caller's own objects.
 */

export { CondenseClient } from "./client.js";
export * from "./errors.js";
export { FlushStream, type FlushCompleted, type FlushEvent } from "./flush-stream.js";
export { BatchOutcome, FlushOutcome, FlushTrigger } from "./gen/condense/v1/flush_pb.js";
export { BatchingMode, PruneOn, ThinkingLevel } from "./gen/condense/v1/config_pb.js";
export type { CallOptions, ClientOptions } from "./options.js";
export type { Init, Plain } from "./plain.js";
export {
  RECOVERY_TOOL_DESCRIPTION,
  RECOVERY_TOOL_NAME,
  recoveryTool,
  recoveryToolParameters,
  type RecoveryTools,
} from "./recovery.js";
export { DEFAULT_RETRY, NEVER_RETRY, type RetryPolicy } from "./retry.js";
export { configFromJson, Session, type FlushOptions, type PruneOptions, type SessionOptions } from "./session.js";
export * as slices from "./slices.js";
export type { Slice } from "./slices.js";
export type { Answer, View, ViewFacts } from "./view.js";
