import assert from "node:assert/strict";
import { test } from "node:test";
import { readJson } from "../../src/editing/values/json.ts";
import { apart, largeOf } from "../../src/runs/view/large.ts";

const LARGE = `{"large_value": {"size": 5000000, "preview": "[1,", "hash": "ab", "url": "/runs/r/values/ab"}}`;

test("a value that is too large is told from one that only looks like it", () => {
  assert.deepEqual(largeOf(readJson(LARGE)), { size: 5_000_000, preview: "[1,", hash: "ab" });
  for (const other of ["null", "[]", "{}", `{"large_value": 1}`, `{"large_value": {"size": "1", "hash": "ab"}}`, `{"large_value": {"size": 1, "hash": ""}}`, LARGE.replace("}}", `}, "b": 1}`)]) {
    assert.equal(largeOf(readJson(other)), null, other);
  }
});

test("what is too large is taken out, and the rest is shown in its order", () => {
  const { shown, large } = apart(readJson(`{"z": 1, "list": ${LARGE}, "a": 2}`));
  assert.deepEqual([shown, large.map(([name]) => name)], [new Map([["z", 1], ["a", 2]]), ["list"]]);
  assert.deepEqual(apart(readJson(LARGE)).large.map(([name]) => name), [""]);
  assert.equal(apart(readJson(`{"list": ${LARGE}}`)).shown, undefined);
  assert.deepEqual(apart(readJson("[1]")), { shown: [1], large: [] });
  assert.deepEqual(apart(readJson("{}")), { shown: new Map(), large: [] });
});
