import assert from "node:assert/strict";
import { test } from "node:test";

import { recoveryTool } from "../src/index.js";
import { ArgumentsUnclear, readArguments } from "../src/recovery.js";
import { chars, lines, matches } from "../src/slices.js";

test("refs are taken from a list, a text, and JSON within JSON", () => {
  for (const args of [
    { toolCallIds: ["t1"] },
    '{"toolCallIds": ["t1"]}',
    { toolCallIds: "t1" },
    { toolCallIds: '["t1"]' },
    { slices: [{ ref: "t1" }] },
  ]) {
    assert.deepEqual(readArguments(args).refs, ["t1"], JSON.stringify(args));
  }
});

test("slices are taken in the ways in which models write them", () => {
  const slice = (part: object) => readArguments({ toolCallIds: ["t1"], slices: [part] }).slices[0];
  assert.deepEqual(slice({ ref: "t1", lines: [2, 5] }), lines("t1", 2, 5));
  assert.deepEqual(slice({ ref: "t1", lines: "2-5" }), lines("t1", 2, 5));
  assert.deepEqual(slice({ ref: "t1", lines: 7 }), lines("t1", 7, 7));
  assert.deepEqual(slice({ ref: "t1", lines: [7] }), lines("t1", 7));
  assert.deepEqual(slice({ ref: "t1", lines: [7, null] }), lines("t1", 7));
  assert.deepEqual(slice({ ref: "t1", chars: [1, 90] }), chars("t1", 1, 90));
  assert.deepEqual(
    slice({ ref: "t1", pattern: "x+", regex: true, contextLines: 2 }),
    matches("t1", "x+", { regex: true, contextLines: 2 }),
  );
});

test("what is not clear is answered with what is wanted", () => {
  for (const args of [
    undefined,
    null,
    "not json",
    "[1]",
    7,
    {},
    { toolCallIds: [7] },
    { toolCallIds: ["\ud800"] },
    { toolCallIds: ["t1"], slices: [{ ref: "t1", lines: ["x"] }] },
    { toolCallIds: ["t1"], slices: [{ ref: "t1", lines: [1, 2, 3] }] },
    { toolCallIds: ["t1"], slices: [{ lines: [1, 2] }] },
    { toolCallIds: ["t1"], slices: ["t1"] },
    { toolCallIds: ["t1"], slices: [{ ref: "t1", pattern: "\ud800" }] },
  ]) {
    assert.throws(() => readArguments(args), ArgumentsUnclear, JSON.stringify(args));
  }
});

test("the definition is written alike every time", () => {
  for (const provider of ["openai", "openai-responses", "anthropic", "gemini"] as const) {
    assert.equal(JSON.stringify(recoveryTool(provider)), JSON.stringify(recoveryTool(provider)));
    assert.ok(JSON.stringify(recoveryTool(provider)).includes("context_tree_query"));
  }
});
