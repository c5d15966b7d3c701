/**
 * Errors of the client, one class per reason of the contract.
 *
 *     CondenseError
 *     ├── RequestInvalidError          correct what `violations` and the message name
 *     │   ├── SessionIdInvalidError
 *     │   ├── MessageInvalidError      also thrown before anything is sent: objects that are no JSON
 *     │   ├── MessageTooLargeError
 *     │   ├── DeltaTooLargeError
 *     │   ├── NativeJsonInvalidError
 *     │   ├── ConfigInvalidError
 *     │   ├── PageTokenInvalidError
 *     │   ├── PatternInvalidError
 *     │   └── SummarizerUnknownError
 *     ├── SessionNotFoundError
 *     ├── SessionAlreadyExistsError
 *     ├── TranscriptMismatchError      sessions of this client heal it by themselves
 *     ├── FlushInProgressError
 *     ├── RevisionConflictError
 *     ├── QuotaExceededError
 *     ├── UnauthenticatedError
 *     ├── PermissionDeniedError
 *     ├── NotImplementedByServerError
 *     ├── ServerInternalError
 *     ├── ResultNotFoundError          a ref that names no single result
 *     ├── UnavailableError             no answer from the server, or from what stands before it
 *     │   ├── StoreUnavailableError
 *     │   └── ShuttingDownError
 *     ├── DeadlineExceededError
 *     └── CancelledError               its `name` is `AbortError`, its `cause` the reason of the signal
 *
 * A class is chosen by the reason of the error's details; without details (a proxy, the transport itself) by the
 * status code, never by the text. A reason that this client does not know is a plain `CondenseError` with that reason.
 */

import { Code, ConnectError } from "@connectrpc/connect";

import { NO_DETAILS, readDetails, type FieldViolation, type StatusDetails } from "./status-details.js";

export type { FieldViolation } from "./status-details.js";

const DOMAIN = "condense.v1";

/** What an error knows besides its sentence. */
export interface ErrorFacts {
  readonly code?: Code | undefined;
  readonly details?: StatusDetails | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly cause?: unknown;
}

/** The root: a call that failed. */
export class CondenseError extends Error {
  /** The reason of the contract that the class stands for; empty: none. */
  static readonly reason: string = "";

  /** The reason of the contract; empty for errors without details. */
  readonly reason: string;
  /** The status code of gRPC; undefined if nothing was sent. */
  readonly code: Code | undefined;
  /** Facts for programs, as the contract documents them per reason. */
  readonly metadata: Readonly<Record<string, string>>;
  /** How long the server wants a caller to wait; undefined: it does not say. */
  readonly retryAfterMs: number | undefined;
  /** The fields of the request that cannot be used. */
  readonly violations: readonly FieldViolation[];

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = new.target.name;
    const details = facts.details ?? NO_DETAILS;
    this.reason = details.reason || new.target.reason;
    this.code = facts.code;
    this.metadata = facts.metadata ?? details.metadata;
    this.retryAfterMs = details.retryAfterMs;
    this.violations = details.violations;
  }
}

/** Something of the request cannot be used; nothing of it was applied. */
export class RequestInvalidError extends CondenseError {
  static override readonly reason: string = "REQUEST_INVALID";
}

/** A session cannot have this id. */
export class SessionIdInvalidError extends RequestInvalidError {
  static override readonly reason = "SESSION_ID_INVALID";
}

/** A message cannot be stored. Metadata `messageIndex`: where it is. */
export class MessageInvalidError extends RequestInvalidError {
  static override readonly reason = "MESSAGE_INVALID";
}

/** One message is larger than the server takes. */
export class MessageTooLargeError extends RequestInvalidError {
  static override readonly reason = "MESSAGE_TOO_LARGE";
}

/** The new messages together are more than the server takes. */
export class DeltaTooLargeError extends RequestInvalidError {
  static override readonly reason = "DELTA_TOO_LARGE";
}

/** The server cannot read the messages as what their format says. */
export class NativeJsonInvalidError extends RequestInvalidError {
  static override readonly reason = "NATIVE_JSON_INVALID";
}

/** A knob has a value that it cannot have. */
export class ConfigInvalidError extends RequestInvalidError {
  static override readonly reason = "CONFIG_INVALID";
}

/** A page token or a cursor is not one of this request. */
export class PageTokenInvalidError extends RequestInvalidError {
  static override readonly reason = "PAGE_TOKEN_INVALID";
}

/** A regular expression cannot be used. */
export class PatternInvalidError extends RequestInvalidError {
  static override readonly reason = "PATTERN_INVALID";
}

/** The server has no summarizer of that name. */
export class SummarizerUnknownError extends RequestInvalidError {
  static override readonly reason = "SUMMARIZER_UNKNOWN";
}

/** There is no session with this id. */
export class SessionNotFoundError extends CondenseError {
  static override readonly reason = "SESSION_NOT_FOUND";
}

/** There is a session with this id. */
export class SessionAlreadyExistsError extends CondenseError {
  static override readonly reason = "SESSION_ALREADY_EXISTS";
}

/** The base of a delta is not what the server has, and resending from earlier bases has not helped. */
export class TranscriptMismatchError extends CondenseError {
  static override readonly reason = "TRANSCRIPT_MISMATCH";
}

/** A flush or a compaction is running: follow it with `attach`, or wait for its end. */
export class FlushInProgressError extends CondenseError {
  static override readonly reason = "FLUSH_IN_PROGRESS";
}

/** Other servers kept writing to the session at the same moment. */
export class RevisionConflictError extends CondenseError {
  static override readonly reason = "REVISION_CONFLICT";
}

/** A limit of the server is reached. */
export class QuotaExceededError extends CondenseError {
  static override readonly reason = "QUOTA_EXCEEDED";
}

/** The call has no valid credentials. */
export class UnauthenticatedError extends CondenseError {
  static override readonly reason = "UNAUTHENTICATED";
}

/** The caller may not do this. */
export class PermissionDeniedError extends CondenseError {
  static override readonly reason = "PERMISSION_DENIED";
}

/** This server does not have what was asked for. */
export class NotImplementedByServerError extends CondenseError {
  static override readonly reason = "NOT_IMPLEMENTED";
}

/** A defect of the server. Metadata `incidentId` names it in the server's log. */
export class ServerInternalError extends CondenseError {
  static override readonly reason = "INTERNAL";
}

/** A ref names no result of the session, or several. */
export class ResultNotFoundError extends CondenseError {}

/** No answer came. Whether the call took effect is not known; repeating it is safe. */
export class UnavailableError extends CondenseError {}

/** The server's store does not answer. */
export class StoreUnavailableError extends UnavailableError {
  static override readonly reason = "STORE_UNAVAILABLE";
}

/** The server takes no more work. */
export class ShuttingDownError extends UnavailableError {
  static override readonly reason = "SHUTTING_DOWN";
}

/** The call took longer than its timeout. Whether it took effect is not known; repeating it is safe. */
export class DeadlineExceededError extends CondenseError {}

/** The caller has cancelled the call, or has closed the client. */
export class CancelledError extends CondenseError {
  constructor(message: string, facts?: ErrorFacts) {
    super(message, facts);
    this.name = "AbortError";
  }
}

type ErrorClass = new (message: string, facts?: ErrorFacts) => CondenseError;

/** The class of every reason of the contract. */
export const ERROR_BY_REASON: ReadonlyMap<string, ErrorClass> = new Map(
  [
    RequestInvalidError,
    SessionIdInvalidError,
    MessageInvalidError,
    MessageTooLargeError,
    DeltaTooLargeError,
    NativeJsonInvalidError,
    ConfigInvalidError,
    PageTokenInvalidError,
    PatternInvalidError,
    SummarizerUnknownError,
    SessionNotFoundError,
    SessionAlreadyExistsError,
    TranscriptMismatchError,
    FlushInProgressError,
    RevisionConflictError,
    QuotaExceededError,
    UnauthenticatedError,
    PermissionDeniedError,
    NotImplementedByServerError,
    ServerInternalError,
    StoreUnavailableError,
    ShuttingDownError,
  ].map((kind) => [kind.reason, kind]),
);

/**
 * For failures without details. The server gives every failure of its own details, so what has none comes from the
 * connection: a process that died in the middle of a call shows as a reset, an abort or a cut-off answer.
 */
const ERROR_BY_CODE: ReadonlyMap<Code, ErrorClass> = new Map<Code, ErrorClass>([
  [Code.Unavailable, UnavailableError],
  [Code.Aborted, UnavailableError],
  [Code.Internal, UnavailableError],
  [Code.Unknown, UnavailableError],
  [Code.Canceled, UnavailableError],
  [Code.DeadlineExceeded, DeadlineExceededError],
  [Code.Unauthenticated, UnauthenticatedError],
  [Code.PermissionDenied, PermissionDeniedError],
  [Code.Unimplemented, NotImplementedByServerError],
]);

/** The error of a failed call, with the transport's own as its cause. `signal`: what could have cancelled it. */
export function errorOf(failure: unknown, signal?: AbortSignal): CondenseError {
  if (failure instanceof CondenseError) {
    return failure;
  }
  const error = ConnectError.from(failure);
  if (signal?.aborted) {
    return new CancelledError("the call was cancelled", { code: Code.Canceled, cause: signal.reason });
  }
  const raw = error.details.flatMap((detail) => ("type" in detail ? [detail] : []));
  const read = readDetails(raw);
  const details = read.domain === DOMAIN ? read : { ...NO_DETAILS, retryAfterMs: read.retryAfterMs };
  const kind = details.reason ? ERROR_BY_REASON.get(details.reason) : ERROR_BY_CODE.get(error.code);
  const message = error.rawMessage || Code[error.code];
  return new (kind ?? CondenseError)(message, { code: error.code, details, cause: failure });
}
