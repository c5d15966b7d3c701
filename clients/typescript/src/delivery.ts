/**
 * Brings a caller's list to the server, whatever has happened before: lost answers, rewinds, a server that forgot.
 *
 * A delta starts at the latest checkpoint that the list still agrees with. If the server refuses that base, the next
 * try starts at an earlier one, and after a few tries at 0, which the server never refuses. Deltas that are too big
 * for one request are uploaded in chunks first; then nothing is left to send with the request itself.
 */

import type { Connection } from "./connection.js";
import { Draft } from "./draft.js";
import { CondenseError, DeltaTooLargeError, TranscriptMismatchError } from "./errors.js";
import type { SessionConfig } from "./gen/condense/v1/config_pb.js";
import type { MessageFormat, TranscriptDelta } from "./gen/condense/v1/transcript_pb.js";
import type { PruneMessagesResponse } from "./gen/condense/v1/view_pb.js";
import type { CallOptions } from "./options.js";
import { SentHistory, START, type Checkpoint } from "./sent-history.js";

export const MAX_ATTEMPTS = 5;

/** The deliveries of one session, and what the server is known to have of its history. */
export class Delivery<T extends object> {
  private sent = new SentHistory();

  constructor(
    private readonly connection: Connection,
    private readonly sessionId: string,
    private readonly format: MessageFormat,
    readonly config: SessionConfig | undefined,
  ) {}

  /** A list to deliver, written and checked. */
  draft(objects: readonly T[]): Draft<T> {
    return new Draft(this.format, objects, this.sent, this.connection.options.maxMessageBytes);
  }

  /** Assumes from now on that the server has nothing. */
  forget(): void {
    this.sent = new SentHistory();
  }

  /** Delivers a draft with a `PruneMessages`. Not `stored`: a dry run, which changes nothing anywhere. */
  async prune(
    draft: Draft<T>,
    options: CallOptions & { readonly stored: boolean },
    send: (delta: TranscriptDelta) => Promise<PruneMessagesResponse>,
  ): Promise<PruneMessagesResponse> {
    let base = draft.base();
    let isRefused = false;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      try {
        const isLarge = draft.deltaBytes(base) > this.connection.options.unaryDeltaBytes;
        if (options.stored && (isLarge || isRefused)) {
          base = await this.upload(draft, base, options);
          isRefused = false;
        }
        const response = await send(draft.delta(base));
        if (options.stored) {
          this.accept(draft, base, response);
        }
        return response;
      } catch (error) {
        if (error instanceof DeltaTooLargeError && options.stored && !isRefused) {
          isRefused = true;
        } else {
          base = stepBack(draft, base, error);
        }
      }
    }
    throw disagreement(draft.length);
  }

  /** What is new in a draft, if that fits into one request. */
  findSmallDelta(draft: Draft<T>): TranscriptDelta | undefined {
    const base = draft.base();
    return draft.deltaBytes(base) <= this.connection.options.unaryDeltaBytes ? draft.delta(base) : undefined;
  }

  /** Delivers a draft by an upload. Returns the delta that says: exactly this. */
  async append(draft: Draft<T>, options: CallOptions): Promise<TranscriptDelta> {
    let base = draft.base();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      try {
        return draft.delta(await this.upload(draft, base, options));
      } catch (error) {
        base = stepBack(draft, base, error);
      }
    }
    throw disagreement(draft.length);
  }

  private async upload(draft: Draft<T>, base: Checkpoint, { signal }: CallOptions): Promise<Checkpoint> {
    const { uploadTimeoutMs: timeoutMs, chunkBytes: size } = this.connection.options;
    const { sessionId, config } = this;
    const response = await this.connection.call(sessionId, { signal, timeoutMs }, (attempt) => {
      const chunks = draft.chunks(base, { sessionId, config, size });
      return this.connection.condense.appendMessages(asynchronous(chunks), attempt);
    });
    return this.accept(draft, base, response);
  }

  private accept(
    draft: Draft<T>,
    base: Checkpoint,
    answer: { readonly transcriptLength: bigint; readonly transcriptEtag: string },
  ): Checkpoint {
    if (Number(answer.transcriptLength) !== draft.length) {
      throw disagreement(draft.length);
    }
    this.sent = draft.accept(base, answer.transcriptEtag);
    return draft.base();
  }
}

/** The base to try after a refusal. At 0 there is none, and other errors are the caller's. */
function stepBack(draft: Draft<object>, refused: Checkpoint, error: unknown): Checkpoint {
  if (!(error instanceof TranscriptMismatchError) || refused.length === START.length) {
    throw error;
  }
  return draft.sent.baseAfterMismatch(refused, error.metadata);
}

function disagreement(length: number): CondenseError {
  return new CondenseError(
    `client and server do not agree about a history of ${length} messages: ` +
      "check that client and server are of the same release, and that one client writes to the session",
  );
}

async function* asynchronous<M>(items: Iterable<M>): AsyncGenerator<M> {
  yield* items;
}
