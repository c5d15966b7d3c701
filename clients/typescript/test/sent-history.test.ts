import assert from "node:assert/strict";
import { test } from "node:test";

import { MAX_CHECKPOINTS, SentHistory, START, type Checkpoint } from "../src/sent-history.js";

const at = (length: number): Checkpoint => ({ length, etag: `e${length}` });
const history = new SentHistory(["a", "b", "c", "d"], [at(1), at(2), at(4)]);

test("the base is the latest checkpoint before the first difference", () => {
  assert.equal(history.countUnchanged(["a", "b", "X", "d"]), 2);
  assert.deepEqual(history.baseFor(2), at(2));
  assert.deepEqual(history.baseFor(3), at(2));
  assert.deepEqual(history.baseFor(0), START);
});

test("after a mismatch the base is where the server agrees, and always before the refused one", () => {
  assert.deepEqual(history.baseAfterMismatch(at(4), { commonLength: "1" }), at(1));
  assert.deepEqual(history.baseAfterMismatch(at(4), { serverLength: "2", serverEtag: "e2" }), at(2));
  assert.deepEqual(history.baseAfterMismatch(at(4), { serverLength: "2", serverEtag: "other" }), at(1));
  assert.deepEqual(history.baseAfterMismatch(at(4), { serverLength: "0", serverEtag: "" }), START);
  assert.deepEqual(history.baseAfterMismatch(at(4), { serverLength: "9", serverEtag: "x" }), at(2));
  assert.deepEqual(history.baseAfterMismatch(at(1), {}), START);
});

test("an answer takes the checkpoints behind its base away", () => {
  const rewound = history.extended(at(1), ["a", "X", "Y"], at(3));
  assert.deepEqual(rewound.checkpoints, [at(1), at(3)]);
  assert.deepEqual(rewound.digests, ["a", "X", "Y"]);
});

test("the number of checkpoints is bounded, and early ones get rare, not absent", () => {
  let long = new SentHistory();
  for (let length = 1; length <= 2000; length++) {
    long = long.extended(long.checkpoints.at(-1) ?? START, [], at(length));
    assert.ok(long.checkpoints.length <= MAX_CHECKPOINTS);
  }
  assert.deepEqual(long.checkpoints.at(-1), at(2000));
  assert.ok((long.checkpoints[0]?.length ?? 0) < 1000);
});
