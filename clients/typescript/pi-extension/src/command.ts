/** `/condense`: how the session is doing, and what a person can have done at once. */

import { FlushOutcome, FlushTrigger } from "@condense-grpc/client";

import type { PiMessage } from "./history.js";
import { thousands } from "./progress.js";
import type { Pruner } from "./pruner.js";

/** What can follow `/condense`, with what it does. */
export const SUBCOMMANDS = {
  status: "how the session is doing",
  now: "condense what is finished",
  compact: "compress every finished chain",
  tree: "what is archived; with a ref: that original",
} as const;

const ORIGINAL_CHARS = 4000;

/** Carries out a command. Returns what to say. */
export async function runCommand(args: string, pruner: Pruner, history: () => readonly PiMessage[]): Promise<string> {
  const [subcommand = "status", ref] = args.trim().split(/\s+/).filter(Boolean);
  switch (subcommand) {
    case "status":
      return status(pruner);
    case "now":
      return outcome(await pruner.flush(history(), FlushTrigger.MANUAL));
    case "compact":
      return outcome(await pruner.compact());
    case "tree":
      return ref ? original(pruner, ref) : tree(pruner);
    default:
      return Object.entries(SUBCOMMANDS)
        .map(([name, what]) => `/condense ${name}: ${what}`)
        .join("\n");
  }
}

async function status(pruner: Pruner): Promise<string> {
  const { statusLine, advice, reclaim, stats, lastFlushes, counters } = await pruner.session.diagnostics();
  const last = lastFlushes[0];
  const lines = [
    `session ${pruner.session.sessionId}  ${statusLine}`,
    `pending: ${advice?.pendingBatches ?? 0} batches, ${thousands(advice?.pendingChars ?? 0)} chars` +
      (advice?.running ? "; a flush is running" : ""),
  ];
  if (reclaim) {
    lines.push(`last view: ${thousands(reclaim.beforeTokens)} → ${thousands(reclaim.afterTokens)} tokens`);
  }
  if (last) {
    lines.push(`last flush: ${FlushOutcome[last.outcome]?.toLowerCase()}, ${last.processedBatches} batches`);
  }
  if (stats?.total?.costUsd !== undefined && stats.callCount > 0) {
    lines.push(`summaries: ${stats.callCount} by models, ${stats.total.costUsd.toFixed(4)} USD`);
  }
  const problems = counters.reduce((sum, counter) => sum + counter.count, 0);
  if (problems > 0) {
    lines.push(`problems coped with: ${problems} (condense-grpc diagnostics tells them)`);
  }
  return lines.join("\n");
}

function outcome(completed: Awaited<ReturnType<Pruner["flush"]>>): string {
  if (!completed) {
    return "Nothing was condensed: the service did not answer, or the flush was stopped.";
  }
  const { counts, blockIds } = completed;
  const results = `${counts?.processedCalls ?? 0} results, ${thousands(counts?.rawChars ?? 0)} chars`;
  return `${FlushOutcome[completed.outcome]?.toLowerCase()}: ${results}, ${blockIds.length} chains compressed`;
}

async function tree(pruner: Pruner): Promise<string> {
  const lines: string[] = [];
  let summaryId: string | undefined;
  for await (const { summary, records } of pruner.session.toolCalls()) {
    if (lines.length === 0 || summary?.summaryId !== summaryId) {
      summaryId = summary?.summaryId;
      const block = summary?.blockId ? ` in block ${summary.blockId}` : "";
      lines.push(summary ? `summary ${summary.summaryId}${block}` : "not summarized");
    }
    for (const record of records) {
      const failed = record.isError ? ", failed" : "";
      const args = record.argumentsJson.replace(/\s+/g, " ").slice(0, 60);
      lines.push(`  ${record.ref || "-"}  ${record.toolName} ${args}  ${thousands(record.textChars)} chars${failed}`);
    }
  }
  return lines.join("\n") || "Nothing is archived yet.";
}

async function original(pruner: Pruner, ref: string): Promise<string> {
  const { text } = await pruner.session.query([ref]);
  return text.length > ORIGINAL_CHARS ? `${text.slice(0, ORIGINAL_CHARS)}\n… (${thousands(text.length)} chars)` : text;
}
