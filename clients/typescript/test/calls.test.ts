/** Failures, retries, cancellation and broken streams, against a service whose answers a test decides. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

import {
  ErrorReason,
  FlushEventSchema,
  FlushOutcome,
  type AppendMessagesRequest,
  type PruneMessagesRequest,
} from "../src/contract.js";
import * as condense from "../src/index.js";
import { ERROR_BY_REASON } from "../src/errors.js";
import { failure, fakeClient } from "./fake-service.js";

const FORMAT = { format: "openai-chat" } as const;
const message = (text: string) => ({ role: "user", content: text });

test("every reason of the contract has its class, with metadata and the wish to wait", async () => {
  for (const [name, value] of Object.entries(ErrorReason)) {
    if (typeof value === "string" || value === ErrorReason.UNSPECIFIED) {
      continue;
    }
    const { session } = scripted(() => {
      throw failure(Code.FailedPrecondition, name, { metadata: { key: "value" }, retryAfterMs: 99_000 });
    });
    await assert.rejects(session.query(["t1"]), (error) => {
      assert.ok(error instanceof (ERROR_BY_REASON.get(name) ?? assert.fail(name)), name);
      assert.deepEqual([error.reason, error.metadata["key"], error.retryAfterMs], [name, "value", 99_000]);
      assert.equal(error.message, `the sentence of ${name}`);
      return true;
    });
  }
});

test("a reason of a newer server, and one of another domain, are no reason to guess", async () => {
  const newer = scripted(() => {
    throw failure(Code.FailedPrecondition, "BRAND_NEW");
  });
  await assert.rejects(newer.session.query([]), (error: condense.CondenseError) => {
    assert.equal(error.constructor, condense.CondenseError);
    return error.reason === "BRAND_NEW";
  });
  const foreign = scripted(() => {
    throw failure(Code.PermissionDenied, "SESSION_NOT_FOUND", { domain: "proxy.example" });
  });
  await assert.rejects(foreign.session.query([]), condense.PermissionDeniedError);
});

test("a call is tried again until it succeeds, but not when the caller has to do something", async () => {
  const flaky = scripted((attempt) => {
    if (attempt < 3) {
      throw new ConnectError("reset", Code.Aborted);
    }
    return { text: "here" };
  });
  assert.equal((await flaky.session.query(["t1"])).text, "here");
  assert.equal(flaky.calls(), 3);
  const stubborn = scripted(() => {
    throw failure(Code.Aborted, "FLUSH_IN_PROGRESS", { retryAfterMs: 1 });
  });
  await assert.rejects(stubborn.session.query(["t1"]), condense.FlushInProgressError);
  assert.equal(stubborn.calls(), 1);
  const down = scripted(() => {
    throw new ConnectError("no connection", Code.Unavailable);
  });
  await assert.rejects(down.session.query(["t1"]), condense.UnavailableError);
  assert.equal(down.calls(), 4);
});

test("a server that asks for more time than the policy has gets no further try", async () => {
  const busy = scripted(() => {
    throw failure(Code.Unavailable, "STORE_UNAVAILABLE", { retryAfterMs: 60_000 });
  });
  await assert.rejects(busy.session.query(["t1"]), condense.StoreUnavailableError);
  assert.equal(busy.calls(), 1);
});

test("a signal ends a call and its waits, a deadline is a deadline", async () => {
  const { session } = scripted(
    (_, context) =>
      new Promise((_resolve, reject) => {
        context.signal.addEventListener("abort", () => reject(new Error("gone")));
      }),
  );
  const reason = new Error("enough");
  await assert.rejects(session.query(["t1"], { signal: AbortSignal.abort(reason) }), { name: "AbortError" });
  const controller = new AbortController();
  const pending = session.query(["t1"], { signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(pending, (error: condense.CondenseError) => error.cause === reason);
  await assert.rejects(session.query(["t1"], { timeoutMs: 5 }), condense.DeadlineExceededError);
});

test("any number of calls may overlap, without a warning", async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on("warning", note);
  const { session } = scripted(() => ({ text: "here" }));
  await Promise.all(Array.from({ length: 50 }, () => session.query(["t1"])));
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", note);
  assert.deepEqual(warnings, []);
});

test("closing a client ends its calls, and later ones fail", async () => {
  const client = fakeClient({ queryToolCall: () => new Promise(() => undefined) });
  const session = client.session("s", FORMAT);
  const pending = session.query(["t1"]);
  client.close();
  await assert.rejects(pending, condense.CancelledError);
  await assert.rejects(session.query(["t1"]), condense.CancelledError);
});

test("a mismatch is healed from where the server agrees", async () => {
  const bases: bigint[] = [];
  let refuse = false;
  const client = fakeClient({
    pruneMessages: (request) => {
      bases.push(request.delta?.baseLength ?? -1n);
      if (refuse && request.delta?.baseLength !== 2n) {
        throw failure(Code.FailedPrecondition, "TRANSCRIPT_MISMATCH", { metadata: { commonLength: "2" } });
      }
      return appended(request);
    },
  });
  const session = client.session("s", FORMAT);
  const list = [message("a")];
  for (const text of ["b", "c", "d"]) {
    await session.prune(list);
    list.push(message(text));
  }
  refuse = true;
  await session.prune(list);
  assert.deepEqual(bases, [0n, 1n, 2n, 3n, 2n]);
});

test("a server that never agrees is given up, and base 0 is not repeated", async () => {
  const { session, bases } = disagreeing("TRANSCRIPT_MISMATCH");
  await assert.rejects(session.prune([message("a")]), condense.TranscriptMismatchError);
  assert.deepEqual(bases, [0n]);
  const counted = fakeClient({ pruneMessages: () => ({ transcriptLength: 7n }) }).session("s", FORMAT);
  await assert.rejects(counted.prune([message("a")]), /do not agree/);
});

test("a delta that is refused as too large, or is known to be, goes in chunks", async () => {
  const uploads: AppendMessagesRequest[][] = [];
  const bases: bigint[] = [];
  const client = fakeClient(
    {
      pruneMessages: (request) => {
        bases.push(request.delta?.baseLength ?? -1n);
        if (request.delta?.baseLength === 0n) {
          throw failure(Code.InvalidArgument, "DELTA_TOO_LARGE");
        }
        return appended(request);
      },
      appendMessages: async (requests) => {
        const upload: AppendMessagesRequest[] = [];
        for await (const request of requests) {
          upload.push(request);
        }
        uploads.push(upload);
        return { transcriptLength: BigInt(upload.reduce((sum, one) => sum + count(one), 0)), transcriptEtag: "up" };
      },
    },
    { unaryDeltaBytes: 1000, chunkBytes: 300 },
  );
  const small = client.session("s", FORMAT);
  await small.prune([message("a")]);
  assert.deepEqual(bases, [0n, 1n]);
  const large = client.session("s", FORMAT);
  await large.prune(Array.from({ length: 20 }, (_, index) => message("x".repeat(60) + index)));
  assert.deepEqual(bases, [0n, 1n, 20n]);
  assert.equal(uploads.length, 2);
  assert.ok((uploads[1]?.length ?? 0) > 4);
});

test("an edit of a newer kind leads to the full view", async () => {
  const own = message("a");
  const client = fakeClient({
    pruneMessages: (request) => ({
      ...appended(request),
      edits: request.view === 2 ? [] : [{ messageIndex: 0n }],
      nativeJson: new TextEncoder().encode(JSON.stringify([own, message("new")])),
    }),
  });
  const view = await client.session("s", FORMAT).prune([own]);
  assert.deepEqual(view.messages, [own, message("new")]);
  assert.equal(view.messages[0], own);
});

test("an original goes on behind the last chunk after a broken stream, and is given up without progress", async () => {
  const offsets: bigint[] = [];
  const text = new TextEncoder().encode("first second");
  const client = fakeClient({
    readToolResult: async function* (request) {
      offsets.push(request.offsetBytes);
      if (request.offsetBytes === 0n) {
        yield { found: true, offsetBytes: 0n, data: text.subarray(0, 6) };
        throw new ConnectError("reset", Code.Aborted);
      }
      yield { found: true, offsetBytes: 6n, data: text.subarray(6) };
    },
  });
  assert.equal(await read(client.session("s", FORMAT).read("t1")), "first second");
  assert.deepEqual(offsets, [0n, 6n]);
  const broken = fakeClient({
    readToolResult: async function* () {
      yield { found: true, offsetBytes: 0n, data: text.subarray(0, 0) };
      throw new ConnectError("reset", Code.Aborted);
    },
  });
  await assert.rejects(read(broken.session("s", FORMAT).read("t1")), condense.UnavailableError);
});

test("leaving a flush cancels it on the server; one that breaks off says so", async () => {
  let isCancelled: (() => void) | undefined;
  const cancelled = new Promise<void>((resolve) => (isCancelled = resolve));
  const client = fakeClient({
    flushBatches: async function* (_, context) {
      context.signal.addEventListener("abort", () => isCancelled?.());
      yield { event: { sequence: 1n, event: { case: "started", value: {} } } };
      await cancelled;
    },
    compactChains: async function* () {
      yield { event: { sequence: 1n } };
      yield { event: { sequence: 2n, event: { case: "started", value: {} } } };
    },
  });
  const session = client.session("s", FORMAT);
  for await (const event of session.flush()) {
    assert.equal(event.event.case, "started");
    break;
  }
  await cancelled;
  const seen: unknown[] = [];
  await assert.rejects(async () => {
    for await (const event of session.compact()) {
      seen.push(event.event.case);
    }
  }, /ended before its last event/);
  assert.deepEqual(seen, ["started"]);
});

test("events come one by one and in order, however many a response has, and from a server that sends them alone", async () => {
  const events: FlushEventInit[] = [
    { sequence: 1n, event: { case: "started", value: {} } },
    { sequence: 2n }, // of a kind that came later
    { sequence: 3n, event: { case: "notice", value: { text: "so it is" } } },
    { sequence: 4n },
    { sequence: 5n, event: { case: "completed", value: { revision: "r2" } } },
  ];
  for (let together = 1; together <= events.length; together++) {
    const client = fakeClient({
      flushBatches: ({ jointEvents }) => responses(events, jointEvents ? together : 1),
      compactChains: ({ jointEvents }) => responses(events, jointEvents ? together : 1),
    });
    const session = client.session("s", FORMAT);
    for (const stream of [session.flush(), session.compact()]) {
      const seen: number[] = [];
      for await (const event of stream) {
        seen.push(event.sequence);
      }
      assert.deepEqual(seen, [1, 3, 5]);
      assert.equal(stream.completed?.revision, "r2");
    }
  }
});

test("a response of many events can be left in its middle, and is no end without the last one", async () => {
  let isLeft: (() => void) | undefined;
  const left = new Promise<void>((resolve) => (isLeft = resolve));
  const events: FlushEventInit[] = [
    { event: { case: "started", value: {} } },
    { event: { case: "notice", value: {} } },
    { sequence: 3n },
  ];
  const client = fakeClient({
    flushBatches: async function* (_, context) {
      context.signal.addEventListener("abort", () => isLeft?.());
      yield* responses(events, 3);
      await left;
    },
    compactChains: () => responses(events, 3),
  });
  const session = client.session("s", FORMAT);
  for await (const event of session.flush()) {
    assert.equal(event.event.case, "started");
    break;
  }
  await left;
  await assert.rejects(session.compact().wait(), /ended before its last event/);
});

test("a flush heals a mismatch by an upload, and is refused only once", async () => {
  let isRefused = true;
  const client = fakeClient({
    appendMessages: async (requests) => {
      let length = 0;
      for await (const request of requests) {
        length += count(request);
      }
      return { transcriptLength: BigInt(length), transcriptEtag: "up" };
    },
    flushBatches: async function* (request) {
      if (isRefused) {
        isRefused = false;
        throw failure(Code.FailedPrecondition, "TRANSCRIPT_MISMATCH");
      }
      assert.equal(request.delta?.baseLength, 1n);
      yield { event: { event: { case: "completed", value: { outcome: FlushOutcome.EMPTY } } } };
    },
  });
  const completed = await client
    .session("s", FORMAT)
    .flush([message("a")])
    .wait();
  assert.equal(completed.outcome, FlushOutcome.EMPTY);
});

test("texts with lone surrogates that are no messages are refused here", async () => {
  const client = fakeClient({});
  assert.throws(() => client.session("\ud800", FORMAT), condense.SessionIdInvalidError);
  const session = client.session("s", FORMAT);
  await assert.rejects(session.query(["\ud800"]), condense.RequestInvalidError);
  await assert.rejects(read(session.read("\ud800")), condense.RequestInvalidError);
  const config = { summarizerModel: "\ud800" };
  assert.throws(() => client.session("s", { ...FORMAT, config }), condense.ConfigInvalidError);
  assert.throws(() => client.session("s", { format: "yaml" as "pi" }), condense.RequestInvalidError);
});

type FlushEventInit = MessageInitShape<typeof FlushEventSchema>;

/** These events, so many of them in a response. */
async function* responses(events: readonly FlushEventInit[], together: number) {
  for (let at = 0; at < events.length; at += together) {
    const [event, ...furtherEvents] = events.slice(at, at + together);
    yield { ...(event && { event }), furtherEvents };
  }
}

/** A session whose queries are answered by `answer`, which gets the number of the attempt. */
function scripted(answer: (attempt: number, context: { signal: AbortSignal }) => object) {
  let attempts = 0;
  const client = fakeClient({ queryToolCall: (_, context) => answer(++attempts, context) as never });
  return { session: client.session("s", FORMAT), calls: () => attempts };
}

function disagreeing(reason: string) {
  const bases: bigint[] = [];
  const client = fakeClient({
    pruneMessages: (request) => {
      bases.push(request.delta?.baseLength ?? -1n);
      throw failure(Code.FailedPrecondition, reason);
    },
  });
  return { session: client.session("s", FORMAT), bases };
}

function appended(request: PruneMessagesRequest) {
  const length = Number(request.delta?.baseLength ?? 0n) + count(request);
  return { transcriptLength: BigInt(length), transcriptEtag: `e${length}`, revision: "r" };
}

function count({ delta }: { delta?: PruneMessagesRequest["delta"] }): number {
  const json = delta?.payload.case === "native" ? new TextDecoder().decode(delta.payload.value.json) : "[]";
  return (JSON.parse(json) as unknown[]).length;
}

async function read(pieces: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const piece of pieces) {
    text += piece;
  }
  return text;
}
