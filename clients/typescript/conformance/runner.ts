/** Carries out the orders of clients/conformance with this client: one line in, one line out. */

import { createHash } from "node:crypto";

import type { DescEnum } from "@bufbuild/protobuf";

import { BatchOutcomeSchema, FlushOutcomeSchema, MessageFormatSchema, ViolationKindSchema } from "../src/contract.js";
import * as condense from "../src/index.js";
import { CondenseClient, CondenseError, DEFAULT_RETRY, PruneOn, recoveryTool, slices } from "../src/index.js";
import { resolveOptions, type ClientOptions } from "../src/options.js";
import type { SessionOptions } from "../src/session.js";

interface Order {
  readonly op: string;
  readonly client?: string;
  readonly session?: string;
  readonly flush?: string;
  // Everything else is as the table of clients/conformance/README.md has it.
  readonly [name: string]: unknown;
}

type Report = Record<string, unknown>;
type Open = condense.Session<Record<string, unknown>>;

/** The names that scenarios use for the classes of this language where they differ. */
const LONE_SURROGATE = /(\p{Surrogate})/u;
const NAMES: Record<string, string> = { NotImplementedByServer: "NotImplemented", ServerInternal: "Internal" };

/** What the orders of one scenario have opened. */
class Runner {
  private clients = new Map<string, { client: CondenseClient; options: ClientOptions }>();
  private sessions = new Map<string, { session: Open; list: Record<string, unknown>[] }>();
  private flushes = new Map<string, condense.FlushStream>();

  constructor(private target: string) {}

  readonly operations: Record<string, (order: Order) => Promise<Report> | Report> = {
    hello: () => ({
      language: "typescript",
      numbers: "ieee754",
      loneSurrogates: "kept",
      stringsHoldSurrogates: true,
    }),
    reset: (order) => this.reset(String(order["target"])),
    client: (order) => this.makeClient(order.client ?? "", (order["options"] ?? {}) as Report),
    options: (order) => {
      const options = resolveOptions(this.clientOf(order).options);
      return {
        maxMessageBytes: options.maxMessageBytes,
        unaryDeltaBytes: options.unaryDeltaBytes,
        chunkBytes: options.chunkBytes,
        keepaliveSeconds: options.keepaliveMs / 1000,
        callTimeoutSeconds: options.callTimeoutMs / 1000,
        maxAttempts: options.retry.maxAttempts,
      };
    },
    close: (order) => {
      this.clientOf(order).client.close();
      return {};
    },
    capabilities: async (order) => {
      const told = await this.clientOf(order).client.capabilities();
      return {
        version: told.version,
        formats: told.formats.map((format) => nameOf(MessageFormatSchema, format)),
        maxMessageBytes: told.limits?.maxMessageBytes,
        recoveryTool: told.recoveryTool,
      };
    },
    session: (order) => {
      const options = { format: order["format"], config: configOf(order["config"]) } as SessionOptions;
      const session = this.clientOf(order).client.session(String(order["id"]), options);
      this.sessions.set(order.session ?? "", { session, list: [] });
      return {};
    },
    append: (order) => {
      const elements = order["elements"] as string[];
      this.at(order).list.push(...elements.map((text) => JSON.parse(text) as Record<string, unknown>));
      return {};
    },
    cut: (order) => {
      this.at(order).list.length = Number(order["length"]);
      return {};
    },
    prune: async (order) => {
      const { session, list } = this.at(order);
      const given = order as condense.PruneOptions;
      const { minSavingsChars, dryRun = false, usage } = given;
      return viewReport(list, await session.prune(list, { minSavingsChars, dryRun, usage }));
    },
    flush: (order) => {
      const { session, list } = this.at(order);
      const attach = order["attach"] !== false;
      return this.opened(order, session.flush(order["list"] === false ? undefined : list, { attach }));
    },
    compact: (order) => this.opened(order, this.at(order).session.compact({ attach: order["attach"] !== false })),
    next: (order) => readEvents(this.flushes.get(order.flush ?? "") ?? missing(order), order["until"]),
    cancel: async (order) => {
      await (this.flushes.get(order.flush ?? "") ?? missing(order)).return();
      return {};
    },
    query: async (order) => {
      const wanted = ((order["slices"] ?? []) as Report[]).map(sliceOf);
      const answer = await this.at(order).session.query(order["refs"] as string[], { slices: wanted });
      const results = answer.results.map(({ requested, found, blocks }) => ({
        requested,
        found,
        blocks: blocks.map(({ label, text, truncated, totalLines, record }) => ({
          ...{ label, text, truncated, totalLines },
          ref: record?.ref ?? "",
          argumentsJson: record?.argumentsJson ?? "",
        })),
      }));
      return { text: answer.text, results };
    },
    read: async (order) => {
      let text = "";
      for await (const piece of this.at(order).session.read(String(order["ref"]))) {
        text += piece;
      }
      let chars = 0;
      const digest = createHash("sha256");
      for (const piece of text.split(LONE_SURROGATE)) {
        chars += Array.from(piece).length;
        digest.update(piece.isWellFormed() ? piece : bytesOfHalf(piece));
      }
      return { chars, sha256: digest.digest("hex") };
    },
    recoveryTool: (order) => ({ json: JSON.stringify(recoveryTool(order["provider"] as "openai")) }),
    answer: async (order) => ({ text: await this.at(order).session.answerToolCall(order["arguments"]) }),
    diagnostics: async (order) => {
      const told = await this.at(order).session.diagnostics();
      return {
        statusLine: told.statusLine,
        pendingBatches: told.advice?.pendingBatches,
        running: told.advice?.running,
        lastOutcomes: told.lastFlushes.map((flush) => nameOf(FlushOutcomeSchema, flush.outcome)),
      };
    },
    delete: async (order) => ({ deleted: await this.at(order).session.delete() }),
  };

  /** Carries out one order. */
  async report(order: Order): Promise<Report> {
    try {
      const carryOut = this.operations[order.op] ?? missing(order);
      return { result: await carryOut(order) };
    } catch (error) {
      if (error instanceof CondenseError) {
        return { error: errorReport(error) };
      }
      throw error;
    }
  }

  async reset(target: string): Promise<Report> {
    for (const flush of this.flushes.values()) {
      await flush.return();
    }
    for (const { client } of this.clients.values()) {
      client.close();
    }
    this.clients = new Map();
    this.sessions = new Map();
    this.flushes = new Map();
    this.target = target;
    return {};
  }

  private makeClient(name: string, given: Report): Report {
    const { maxAttempts, callTimeoutSeconds, token, target = this.target } = given;
    const options = {
      ...(token !== undefined && { token: String(token) }),
      ...(callTimeoutSeconds !== undefined && { callTimeoutMs: Number(callTimeoutSeconds) * 1000 }),
      retry: { ...DEFAULT_RETRY, ...(maxAttempts !== undefined && { maxAttempts: Number(maxAttempts) }) },
    };
    this.clients.set(name, { client: new CondenseClient(String(target), options), options });
    return {};
  }

  private clientOf(order: Order) {
    const name = order.client ?? "";
    if (!this.clients.has(name)) {
      this.makeClient(name, {});
    }
    return this.clients.get(name) ?? missing(order);
  }

  private at(order: Order) {
    return this.sessions.get(order.session ?? "") ?? missing(order);
  }

  private opened(order: Order, stream: condense.FlushStream): Promise<Report> {
    this.flushes.set(order.flush ?? "", stream);
    return readEvents(stream, order["until"]);
  }
}

/** Half of a character as the bytes that it would have. */
function bytesOfHalf(half: string): Uint8Array {
  const code = half.charCodeAt(0);
  return Uint8Array.of(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
}

function configOf(given: unknown): SessionOptions["config"] {
  const { pruneOn, ...rest } = (given ?? {}) as { pruneOn?: string };
  const name = pruneOn?.replace(/^PRUNE_ON_/, "") as keyof typeof PruneOn | undefined;
  return { ...rest, ...(name && { pruneOn: PruneOn[name] }) };
}

function sliceOf(wanted: Report): condense.Slice {
  const ref = wanted["ref"] as string;
  const options = wanted["maxChars"] === undefined ? {} : { maxChars: Number(wanted["maxChars"]) };
  for (const [member, part] of [
    ["lines", slices.lines],
    ["chars", slices.chars],
  ] as const) {
    if (wanted[member] !== undefined) {
      const [first, last] = wanted[member] as [number, number | null];
      return part(ref, first, last ?? undefined, options);
    }
  }
  const regex = wanted["regex"] === true;
  return slices.matches(ref, wanted["pattern"] as string, {
    ...options,
    regex,
    contextLines: Number(wanted["contextLines"] ?? 0),
  });
}

function viewReport(list: readonly object[], view: condense.View<Record<string, unknown>>): Report {
  const own = new Map(list.map((message, index) => [message, index]));
  return {
    view: view.messages.map((message) => (own.has(message) ? `=${own.get(message)}` : JSON.stringify(message))),
    edits: view.edits.length,
    pruned: view.pruned,
    unchanged: view.unchanged,
    revision: view.revision,
    statusLine: view.statusLine,
    reclaim: view.reclaim,
    cache: {
      firstChangedIndex: view.cache?.firstChangedIndex ?? null,
      breaksCache: view.cache?.breaksCache ?? false,
    },
    advice: view.advice,
    violations: view.violations.map(({ kind, messageIndex }) => ({
      kind: nameOf(ViolationKindSchema, kind),
      messageIndex,
    })),
  };
}

async function readEvents(stream: condense.FlushStream, until: unknown): Promise<Report> {
  const events: (string | undefined)[] = [];
  const batches: Report[] = [];
  let completed: Report | null = null;
  // Not a `for await`: leaving that would leave the flush.
  for (let next = await stream.next(); !next.done; next = await stream.next()) {
    const { event } = next.value;
    events.push(event.case);
    if (event.case === "batchFinished") {
      batches.push({ outcome: nameOf(BatchOutcomeSchema, event.value.outcome), refs: event.value.refs });
    } else if (event.case === "completed") {
      const { outcome, counts, blockIds } = event.value;
      completed = {
        outcome: nameOf(FlushOutcomeSchema, outcome),
        summarizedBatches: counts?.summarizedBatches ?? 0,
        blocks: blockIds.length,
      };
    }
    if (event.case === until) {
      break;
    }
  }
  return { events, batches, completed };
}

function errorReport(error: CondenseError): Report {
  const [exported = ""] = Object.entries(condense).find(([, value]) => value === error.constructor) ?? [];
  const name = exported.replace(/Error$/, "");
  return {
    type: NAMES[name] ?? name,
    reason: error.reason,
    metadata: error.metadata,
    retryAfterSeconds: error.retryAfterMs === undefined ? null : error.retryAfterMs / 1000,
    violations: error.violations,
    message: error.message,
  };
}

function nameOf(schema: DescEnum, number: number): string {
  return schema.values.find((value) => value.number === number)?.name ?? String(number);
}

function missing(order: Order): never {
  throw new Error(`nothing is there for ${JSON.stringify(order).slice(0, 200)}`);
}

const runner = new Runner(process.argv[2] ?? "");
let pending: Buffer[] = [];
for await (const chunk of process.stdin) {
  let rest = chunk as Buffer;
  for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
    const line = Buffer.concat([...pending, rest.subarray(0, end)]).toString();
    pending = [];
    rest = rest.subarray(end + 1);
    process.stdout.write(`${JSON.stringify(await runner.report(JSON.parse(line) as Order))}\n`);
  }
  pending.push(rest);
}
await runner.reset("");
