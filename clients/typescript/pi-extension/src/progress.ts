/** How a flush goes, in words for Pi's status line. */

import { FlushOutcome, type FlushEvent } from "@condense-grpc/client";

const OUTCOMES: Readonly<Record<number, string>> = {
  [FlushOutcome.SKIPPED_OVERSIZED]: "nothing condensed: the summaries came out longer than the results",
  [FlushOutcome.SKIPPED_DEDUPED]: "nothing to summarize: the results repeat earlier ones",
  [FlushOutcome.SKIPPED_TRIVIAL]: "nothing condensed: the results are too short",
  [FlushOutcome.ERROR]: "condensing failed; nothing is lost, and the results are pending again",
  [FlushOutcome.COMPRESSED]: "compressed",
  [FlushOutcome.EMPTY]: "nothing new to condense",
  [FlushOutcome.DISABLED]: "condensing is switched off for this session",
  [FlushOutcome.CANCELLED]: "condensing was stopped; nothing is lost",
};

/** One flush, or one compaction. */
export class Progress {
  private total = 0;
  private done = 0;
  private received = new Map<number, number>();

  /** What to show after an event; undefined: nothing new. */
  after({ event }: FlushEvent): string | undefined {
    switch (event.case) {
      case "started":
        this.total = event.value.batches.length;
        return this.text();
      case "batchProgress":
        this.received.set(event.value.batchIndex, event.value.receivedChars);
        return this.text();
      case "batchFinished":
        this.done += 1;
        return this.text();
      case "completed":
        return told(event.value);
      default:
        return undefined;
    }
  }

  private text(): string {
    const chars = [...this.received.values()].reduce((sum, count) => sum + count, 0);
    const batches = this.total > 0 ? ` ${this.done}/${this.total}` : "";
    return `condensing${batches}${chars > 0 ? `, ${thousands(chars)} chars of summaries` : ""} …`;
  }
}

function told(completed: Extract<FlushEvent["event"], { case: "completed" }>["value"]): string {
  const blocks = completed.blockIds.length > 0 ? `, ${completed.blockIds.length} chains compressed` : "";
  if (completed.outcome === FlushOutcome.SUMMARIZED) {
    const { processedCalls = 0, rawChars = 0, summaryChars = 0 } = completed.counts ?? {};
    return `condensed ${processedCalls} results: ${thousands(rawChars)} → ${thousands(summaryChars)} chars${blocks}`;
  }
  return `${OUTCOMES[completed.outcome] ?? "condensed"}${blocks}`;
}

/** The same of a flush that was over before anybody could watch it. */
export function ended(outcome: FlushOutcome, processedBatches: number): string {
  return outcome === FlushOutcome.SUMMARIZED
    ? `condensed ${processedBatches} batches`
    : (OUTCOMES[outcome] ?? "condensed");
}

/** A number as people read it: `940`, `12.3k`. */
export function thousands(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(1)}k`;
}
