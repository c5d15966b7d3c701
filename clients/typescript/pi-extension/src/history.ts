/**
 * What the service gets to see of Pi's list of messages, and the way back.
 *
 * The list of a request and the list that Pi reads out of the session file after a restart have to be the same to the
 * byte, or the service would take the difference for a rewind. They differ in the times of messages of extensions, so
 * these are sent without. Summaries that a pruner within Pi has left in a session are not sent at all: they stand for
 * results that the service has itself.
 */

import type { ContextEvent } from "@earendil-works/pi-coding-agent";

export type PiMessage = ContextEvent["messages"][number];

const FOREIGN_SUMMARY = "context-prune-summary";

/** A list as it is sent, and Pi's own messages behind each element. */
export class SentList {
  readonly elements: readonly PiMessage[];
  private readonly originals: ReadonlyMap<PiMessage, PiMessage>;

  constructor(messages: readonly PiMessage[]) {
    const shown = messages.filter((message) => !(message.role === "custom" && message.customType === FOREIGN_SUMMARY));
    const pairs = shown.map((message): [PiMessage, PiMessage] => [untimed(message), message]);
    this.elements = pairs.map(([element]) => element);
    this.originals = new Map(pairs);
  }

  /** A view with Pi's own messages where nothing happened to them. Inserted ones, which have no time, get one. */
  restore(view: readonly PiMessage[]): PiMessage[] {
    return view.map((element) => this.originals.get(element) ?? timed(element));
  }
}

function untimed(message: PiMessage): PiMessage {
  if (message.role !== "custom") {
    return message;
  }
  const { timestamp: _, ...rest } = message;
  return rest as PiMessage;
}

function timed(message: PiMessage): PiMessage {
  return typeof message.timestamp === "number" ? message : { ...message, timestamp: 0 };
}

/** Whether the model has answered with text only, so that a piece of work is finished. */
export function isFinalAnswer(message: PiMessage | undefined): boolean {
  return (
    message?.role === "assistant" &&
    message.stopReason === "stop" &&
    !message.content.some((part) => part.type === "toolCall")
  );
}

/**
 * The history after a turn: what its request was made from, the answer, and the results of its calls.
 *
 * Pi tells of turns after the fact, so the next request may have been made already; its list has the turn then.
 */
export function afterTurn(request: readonly PiMessage[], turn: readonly PiMessage[]): PiMessage[] {
  const answer = turn[0];
  const known = request.findLastIndex(
    (message) => message.role === "assistant" && message.timestamp === answer?.timestamp,
  );
  return [...(known < 0 ? request : request.slice(0, known)), ...turn];
}
