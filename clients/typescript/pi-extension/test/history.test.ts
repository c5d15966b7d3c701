import assert from "node:assert/strict";
import { test } from "node:test";

import { FlushOutcome, type FlushEvent } from "@condense-grpc/client";

import { afterTurn, isFinalAnswer, SentList, type PiMessage } from "../src/history.js";
import { Progress } from "../src/progress.js";

const user = (content: string, timestamp = 1) => ({ role: "user", content, timestamp }) as PiMessage;
const assistant = (timestamp: number, more: object = {}) =>
  ({ role: "assistant", content: [{ type: "text", text: "a" }], stopReason: "stop", timestamp, ...more }) as PiMessage;
const custom = (customType: string, timestamp: number) =>
  ({ role: "custom", customType, content: "c", display: true, timestamp }) as PiMessage;

test("messages of extensions are sent without time, summaries of a pruner within Pi not at all", () => {
  const messages = [user("u"), custom("notice", 5), custom("context-prune-summary", 6), assistant(7)];
  const list = new SentList(messages);
  assert.deepEqual(
    list.elements.map((message) => [message.role, message.timestamp]),
    [
      ["user", 1],
      ["custom", undefined],
      ["assistant", 7],
    ],
  );
  assert.equal(
    JSON.stringify(new SentList([user("u"), custom("notice", 99)]).elements[1]),
    JSON.stringify(list.elements[1]),
  );
  const inserted = { role: "custom", customType: "summary", content: "s", display: false } as unknown as PiMessage;
  const restored = list.restore([list.elements[0] as PiMessage, inserted, list.elements[1] as PiMessage]);
  assert.equal(restored[0], messages[0]);
  assert.equal(typeof restored[1]?.timestamp, "number");
  assert.equal(restored[2], messages[1]);
});

test("a turn follows its request, also if the next request has been made already", () => {
  const [question, answer, next] = [user("q"), assistant(2), user("n", 3)];
  assert.deepEqual(afterTurn([question], [answer]), [question, answer]);
  assert.deepEqual(afterTurn([question, structuredClone(answer), next], [answer]), [question, answer]);
});

test("only an answer with text alone is final", () => {
  assert.ok(isFinalAnswer(assistant(1)));
  assert.ok(!isFinalAnswer(assistant(1, { stopReason: "aborted" })));
  assert.ok(!isFinalAnswer(assistant(1, { content: [{ type: "toolCall", id: "1", name: "x", arguments: {} }] })));
  assert.ok(!isFinalAnswer(user("u")));
  assert.ok(!isFinalAnswer(undefined));
});

test("progress tells how many batches are done, and how it has ended", () => {
  const progress = new Progress();
  const after = (event: object) => progress.after({ event } as FlushEvent);
  assert.equal(after({ case: "started", value: { batches: [{}, {}] } }), "condensing 0/2 …");
  assert.equal(after({ case: "batchStarted", value: {} }), undefined);
  assert.match(
    after({ case: "batchProgress", value: { batchIndex: 0, receivedChars: 1500 } }) ?? "",
    /0\/2, 1.5k chars/,
  );
  assert.match(after({ case: "batchFinished", value: {} }) ?? "", /1\/2/);
  const counts = { processedCalls: 3, rawChars: 12_345, summaryChars: 600 };
  const completed = { outcome: FlushOutcome.SUMMARIZED, counts, blockIds: ["b1"] };
  assert.equal(
    after({ case: "completed", value: completed }),
    "condensed 3 results: 12.3k → 600 chars, 1 chains compressed",
  );
  for (const outcome of Object.values(FlushOutcome).filter((value) => typeof value === "number")) {
    assert.ok(after({ case: "completed", value: { outcome, blockIds: [] } }));
  }
});
