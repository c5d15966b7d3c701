/** The events of a flush or a compaction as they come. */

import { CondenseError } from "./errors.js";
import type { FlushEvent as FlushEventMessage } from "./gen/condense/v1/flush_event_pb.js";
import type { Plain } from "./plain.js";

/** Something that happened: `event.case` says what. */
export type FlushEvent = Plain<FlushEventMessage>;

/** How it has ended. */
export type FlushCompleted = Extract<FlushEvent["event"], { case: "completed" }>["value"];

/**
 * The events, for one reader. Begins when it is read; the last event is always `completed`.
 *
 * Leaving the loop before that stops a flush that this call has started; one that it followed (`attach`) goes on.
 */
export class FlushStream implements AsyncIterableIterator<FlushEvent> {
  /** How it has ended; undefined until the last event has come. */
  completed: FlushCompleted | undefined;

  constructor(private readonly events: AsyncGenerator<FlushEvent, void>) {}

  async next(): Promise<IteratorResult<FlushEvent, void>> {
    const result = await this.events.next();
    if (!result.done && result.value.event.case === "completed") {
      this.completed = result.value.event.value;
    }
    return result;
  }

  async return(): Promise<IteratorResult<FlushEvent, void>> {
    return this.events.return();
  }

  /** Reads to the end and says how it has ended. */
  async wait(): Promise<FlushCompleted> {
    for await (const _ of this) {
      // Only the end is wanted.
    }
    if (!this.completed) {
      throw new CondenseError("the stream was left before its last event: the outcome is in the diagnostics");
    }
    return this.completed;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
