import assert from "node:assert/strict";
import { test } from "node:test";

import { SessionConfigSchema } from "../src/contract.js";
import { Draft } from "../src/draft.js";
import {
  configFromJson,
  ConfigInvalidError,
  MessageInvalidError,
  MessageTooLargeError,
  PruneOn,
} from "../src/index.js";
import { MessageFormat } from "../src/contract.js";
import { fromInit, NotEncodable, toPlain } from "../src/plain.js";
import { SentHistory, START } from "../src/sent-history.js";
import { decodeVerbatim } from "../src/verbatim.js";

const draftOf = (objects: object[], maxBytes = 1000) =>
  new Draft(MessageFormat.OPENAI_CHAT, objects, new SentHistory(), maxBytes);

test("numbers are taken where the contract has 64 bits, also in messages within", () => {
  const config = fromInit(SessionConfigSchema, {
    minBatchChars: 10,
    purgeErrors: { minArgChars: 7 },
    protectedTools: { values: ["read"] },
  });
  assert.equal(config.minBatchChars, 10n);
  assert.equal(config.purgeErrors?.minArgChars, 7n);
  assert.deepEqual(toPlain(config).minBatchChars, 10);
});

test("a configuration can come as JSON", () => {
  const config = configFromJson({ pruneOn: "PRUNE_ON_ON_DEMAND", minBatchChars: 7, protectedTools: { values: ["a"] } });
  assert.equal(config.pruneOn, PruneOn.ON_DEMAND);
  assert.equal(fromInit(SessionConfigSchema, config).minBatchChars, 7n);
  for (const bad of [{ pruneWhen: 1 }, { pruneOn: "NEVER" }, { minBatchChars: "many" }, [], 7, null]) {
    assert.throws(() => configFromJson(bad), ConfigInvalidError, JSON.stringify(bad));
  }
});

test("what cannot be encoded is refused with its place", () => {
  assert.throws(() => fromInit(SessionConfigSchema, { minBatchChars: 1.5 }), /minBatchChars is 1.5/);
  assert.throws(() => fromInit(SessionConfigSchema, { minBatchChars: Number.NaN }), NotEncodable);
  const named = "PRUNE_ON_ON_DEMAND" as unknown as PruneOn;
  assert.throws(() => fromInit(SessionConfigSchema, { pruneOn: named }), /give a member of PruneOn/);
  assert.throws(
    () => fromInit(SessionConfigSchema, { protectedTools: { values: ["ok", "\udc00"] } }),
    /protectedTools.values holds a lone surrogate/,
  );
});

test("lone surrogates travel as escapes, and are decoded again", () => {
  const payload = draftOf([{ role: "user", content: "a\ud800b😀" }]).delta(START).payload;
  assert.equal(payload.case, "native");
  const json = new TextDecoder("utf-8", { fatal: true }).decode((payload.value as { json: Uint8Array }).json);
  assert.equal(json, '[{"role":"user","content":"a\\ud800b😀"}]');
  assert.equal(decodeVerbatim(Uint8Array.of(0x61, 0xed, 0xa0, 0x80, 0xed, 0xbf, 0xbf, 0x62)), "a\ud800\udfffb");
  const text = "\ufeff한글 힣 😀 \u0000\r\n";
  assert.equal(decodeVerbatim(new TextEncoder().encode(text)), text);
});

test("objects that are no JSON are refused with their place, before anything is sent", () => {
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  for (const bad of [circular, { n: 1n }, [], "text", null, () => 1, undefined]) {
    assert.throws(
      () => draftOf([{ role: "user" }, bad as object]),
      (error) => error instanceof MessageInvalidError && error.metadata["messageIndex"] === "1",
    );
  }
  assert.throws(() => draftOf([{ content: "x".repeat(1001) }]), MessageTooLargeError);
});

test("a draft is what the list was when the call began", () => {
  const list: object[] = [{ role: "user", content: "a" }];
  const draft = draftOf(list);
  list.push({ role: "user", content: "b" });
  assert.equal(draft.length, 1);
});

test("chunks hold everything behind the base, in order, and large messages stand alone", () => {
  const objects = [10, 10, 500, 10, 10, 10].map((size, index) => ({ index, text: "x".repeat(size) }));
  const draft = draftOf(objects);
  const chunks = [...draft.chunks(START, { sessionId: "s", config: undefined, size: 80 })];
  const parts = chunks.map((chunk) => {
    const payload = chunk.delta?.payload;
    assert.equal(payload?.case, "native");
    return JSON.parse(new TextDecoder().decode((payload?.value as { json: Uint8Array }).json)) as object[];
  });
  assert.deepEqual(parts.flat(), objects);
  assert.deepEqual(
    parts.map((part) => part.length),
    [2, 1, 2, 1],
  );
  assert.deepEqual(
    chunks.map((chunk) => chunk.sessionId),
    ["s", "", "", ""],
  );
  assert.equal([...draftOf([]).chunks(START, { sessionId: "s", config: undefined, size: 80 })].length, 1);
});
