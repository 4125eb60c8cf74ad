import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, spanOf } from "../../src/inbox/groups.ts";

test("the highest bar is full, and one that counts something is seen", () => {
  assert.deepEqual(barsOf([0, 1, 1_000, 500], 24).map(({ height }) => height), [1, 3, 24, 12]);
  assert.deepEqual(barsOf([0, 0], 24).map(({ height }) => height), [1, 1]);
});

test("an address that names no span has a week", () => {
  assert.deepEqual([null, "", "24h", "30d", "constructor", "9y"].map(spanOf), ["7d", "7d", "24h", "30d", "7d", "7d"]);
});
