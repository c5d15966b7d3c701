/**
 * What the server is known to have of the caller's history.
 *
 * After every answered append there is a checkpoint: so many messages, at this etag. The next delta starts at the last
 * checkpoint before the place where the caller's list parts from what was sent. When the server turns out to have
 * something else, an earlier checkpoint that it confirms takes its place, and base 0 with everything is always right.
 *
 * Values are immutable: calls that overlap each work on the value they started with, and whichever ends later leaves
 * a value that was true when the server answered.
 */

export const MAX_CHECKPOINTS = 128;

/** A state of the transcript. */
export interface Checkpoint {
  readonly length: number;
  readonly etag: string;
}

export const START: Checkpoint = { length: 0, etag: "" };

/** Digests of the messages that were sent, and the checkpoints, ascending. */
export class SentHistory {
  constructor(
    readonly digests: readonly string[] = [],
    readonly checkpoints: readonly Checkpoint[] = [],
  ) {}

  /** How many messages at the head of a list are what was sent. */
  countUnchanged(digests: readonly string[]): number {
    const common = Math.min(digests.length, this.digests.length);
    for (let index = 0; index < common; index++) {
      if (digests[index] !== this.digests[index]) {
        return index;
      }
    }
    return common;
  }

  /** The latest checkpoint within that many messages. */
  baseFor(unchanged: number): Checkpoint {
    return this.checkpoints.findLast((checkpoint) => checkpoint.length <= unchanged) ?? START;
  }

  /**
   * Where to send from after the server has refused a base: before it, and where the server agrees.
   *
   * An etag of ours at the server's own length has to be the server's. Below that length, or up to a common length
   * that the server names, the latest checkpoint is the best guess.
   */
  baseAfterMismatch(refused: Checkpoint, metadata: Readonly<Record<string, string>>): Checkpoint {
    const common = number(metadata["commonLength"]);
    const length = number(metadata["serverLength"]);
    const isLikely = (checkpoint: Checkpoint): boolean => {
      if (common !== undefined) {
        return checkpoint.length <= common;
      }
      if (length !== undefined) {
        const isServers = checkpoint.length === length && checkpoint.etag === metadata["serverEtag"];
        return checkpoint.length < length || isServers;
      }
      return true;
    };
    return this.checkpoints.findLast((it) => it.length < refused.length && isLikely(it)) ?? START;
  }

  /** After an answer: the server has these messages at this checkpoint, and nothing else behind the delta's base. */
  extended(base: Checkpoint, digests: readonly string[], latest: Checkpoint): SentHistory {
    const kept = this.checkpoints.filter((it) => it.length <= base.length && it.length < latest.length);
    return new SentHistory(digests, thinned([...kept, latest]));
  }
}

/** Of the older half every second one goes when there are too many, so that early bases get rare, not absent. */
function thinned(checkpoints: readonly Checkpoint[]): readonly Checkpoint[] {
  const half = MAX_CHECKPOINTS / 2;
  return checkpoints.length <= MAX_CHECKPOINTS
    ? checkpoints
    : [...checkpoints.slice(0, half).filter((_, index) => index % 2 === 0), ...checkpoints.slice(half)];
}

function number(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9]+$/.test(text) ? Number(text) : undefined;
}
