import assert from "node:assert/strict";
import { test } from "node:test";
import { remove } from "../../src/canvas/actions/changing.ts";
import { graphOf } from "../../src/canvas/model/graph.ts";
import { faults } from "../../src/editing/rules/invariants.ts";
import { Entities } from "../../src/editing/state.ts";
import { object } from "../../src/editing/values/values.ts";
import type { Value } from "../../src/editing/values/encoding.ts";
import { MAX_PIN_BYTES } from "../../src/editing/tables.ts";
import { faultOf, pinned, pinOf } from "../../src/testruns/pins.ts";
import { textOf, valueOf } from "../../src/wire/exact.ts";
import { Alone, counted, KINDS } from "../canvas/drafts.ts";

const OUTPUT = '{"status": 200, "body": {"risk": 9.0, "rows": [{"id": "a"}, {"id": "b"}], "#": "a tag", "[]": [1, 2.5, null]}}';

test("an output is pinned as it was typed, in one gesture that can be undone", () => {
  const draft = new Alone();
  const operation = pinned(draft.replica.view, "b", { output: valueOf(OUTPUT), handle: "error" }, counted());
  assert.ok(operation !== null && draft.edit(operation));
  assert.deepEqual(faults(draft.replica.view), []);
  const pin = pinOf(draft.replica.view, "b");
  assert.ok(pin !== null);
  assert.equal(textOf(pin.output).replaceAll(/\s+/g, " "), textOf(valueOf(OUTPUT)).replaceAll(/\s+/g, " "));
  assert.match(textOf(pin.output), /"risk": 9\.0/);
  assert.equal(pin.handle, "error");
  assert.equal(draft.undo(), true);
  assert.equal(pinOf(draft.replica.view, "b"), null);
});

test("a pin goes with its block, and is taken away by itself", () => {
  const draft = new Alone();
  const put = pinned(draft.replica.view, "b", { output: null, handle: "" }, counted());
  assert.ok(put !== null && draft.edit(put));
  const gone = remove(graphOf(draft.replica.view, KINDS), ["b"]);
  assert.ok(gone !== null && draft.edit(gone));
  assert.equal(draft.replica.view.has("pin/b"), false);
  assert.equal(draft.undo(), true);
  const off = pinned(draft.replica.view, "b", null, counted());
  assert.ok(off !== null && draft.edit(off));
  assert.equal(draft.replica.view.has("pin/b"), false);
  assert.equal(pinned(draft.replica.view, "b", null, counted()), null);
});

test("an output that is too large, or no JSON, is not pinned", () => {
  const none = new Entities([]);
  const fault = (state: Entities, output: Value): string => faultOf(state, "n", output, counted()) ?? "";
  assert.equal(fault(none, "x".repeat(MAX_PIN_BYTES - 2)), "");
  assert.match(fault(none, "ä".repeat(MAX_PIN_BYTES)), /512,002 bytes/);
  const full = new Entities(Array.from({ length: 20 }, (_, n) => [`pin/p${n}`, object([["output", "x".repeat(249_000)]])] as const));
  assert.equal(fault(full, "x".repeat(10_000)), "");
  assert.match(fault(full, "x".repeat(30_000)), /other pins of this draft 4,980,040/);
  assert.throws(() => valueOf("{"), SyntaxError);
});

test("a value is written over several lines, and empty ones in one", () => {
  assert.equal(textOf(valueOf('{"a":[1,{}],"b":[]}')), '{\n  "a": [\n    1,\n    {}\n  ],\n  "b": []\n}');
});
