import assert from "node:assert/strict";
import { test } from "node:test";

import { create, type MessageInitShape } from "@bufbuild/protobuf";

import { EditSchema } from "../src/contract.js";
import { applyEdits, EditNotUnderstood, readFullView } from "../src/native-view.js";

const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const edits = (...inits: MessageInitShape<typeof EditSchema>[]) => inits.map((init) => create(EditSchema, init));
const insert = (index: bigint, value: unknown) => ({
  messageIndex: index,
  change: { case: "insertAfter" as const, value: { content: { case: "nativeJson" as const, value: json(value) } } },
});
const history = ["a", "b", "c", "d"].map((id) => ({ id }));

test("without edits the view is the caller's objects", () => {
  const view = applyEdits(history, []);
  assert.notEqual(view, history);
  view.forEach((item, index) => assert.equal(item, history[index]));
});

test("an edited element is replaced, the others are the same objects", () => {
  const view = applyEdits(
    history,
    edits({ messageIndex: 1n, change: { case: "replaceResult", value: {} }, nativeJson: json({ id: "stub" }) }),
  );
  assert.deepEqual(
    view.map((item) => item.id),
    ["a", "stub", "c", "d"],
  );
  assert.equal(view[2], history[2]);
  assert.equal(history[1]?.id, "b");
});

test("what is anchored follows its anchor in listed order, also where the anchor is dropped or moved", () => {
  const view = applyEdits(
    history,
    edits(
      insert(-1n, { id: "first" }),
      { messageIndex: 1n, change: { case: "drop", value: {} } },
      insert(1n, { id: "x" }),
      { messageIndex: 0n, change: { case: "moveAfter", value: { afterIndex: 1n } } },
      insert(1n, { id: "y" }),
      insert(3n, { id: "last" }),
    ),
  );
  assert.deepEqual(
    view.map((item) => item.id),
    ["first", "x", "a", "y", "c", "d", "last"],
  );
});

test("a message that moves and is edited is edited first, whatever the order in the list", () => {
  const view = applyEdits(
    history,
    edits(
      { messageIndex: 0n, change: { case: "moveAfter", value: { afterIndex: 3n } } },
      { messageIndex: 0n, change: { case: "stripThinking", value: {} }, nativeJson: json({ id: "A" }) },
    ),
  );
  assert.deepEqual(
    view.map((item) => item.id),
    ["b", "c", "d", "A"],
  );
});

test("a drop or an insertion of a part happens within its element", () => {
  const view = applyEdits(
    history,
    edits(
      { messageIndex: 1n, partIndex: 0, change: { case: "drop", value: {} } },
      { messageIndex: 1n, partIndex: 1, change: { case: "drop", value: {} }, nativeJson: json({ id: "rest" }) },
    ),
  );
  assert.deepEqual(
    view.map((item) => item.id),
    ["a", "rest", "c", "d"],
  );
});

test("edits of newer kinds and at places that are not there are not guessed", () => {
  const newer: MessageInitShape<typeof EditSchema>[] = [
    { messageIndex: 0n },
    { messageIndex: 4n, change: { case: "drop", value: {} } },
    { messageIndex: -1n, change: { case: "drop", value: {} } },
    { messageIndex: 0n, change: { case: "moveAfter", value: { afterIndex: 4n } } },
    { messageIndex: 0n, change: { case: "insertAfter", value: {} } },
  ];
  for (const unknown of newer) {
    assert.throws(() => applyEdits(history, edits(unknown)), EditNotUnderstood);
  }
});

test("a full view has the caller's own objects where they are equal, each once", () => {
  const twins = [{ id: "a" }, { id: "a" }, { id: "b" }];
  const view = readFullView(twins, json([{ id: "a" }, { id: "a" }, { id: "a" }, { id: "b" }]));
  assert.equal(view[0], twins[0]);
  assert.equal(view[1], twins[1]);
  assert.notEqual(view[2], twins[0]);
  assert.equal(view[3], twins[2]);
});
