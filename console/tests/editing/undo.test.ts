/** What is taken back before it was sent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Effect } from "../../src/editing/log/effects.ts";
import { operation } from "../../src/editing/log/operations.ts";
import { Replica } from "../../src/editing/replica/replica.ts";
import { Entities } from "../../src/editing/state.ts";
import { at, object, type Json } from "../../src/editing/values/values.ts";

const KEY = "block/a";
const PATH = ["with", "prompt"];

function opened(): Replica {
  return new Replica("me", new Entities([[KEY, object([["id", "a"], ["type", "http"], ["parent", null], ["order", "V"], ["with", object([["prompt", "abc"]])]])]]));
}

const textOf = (replica: Replica): Json | undefined => at(replica.view.get(KEY), PATH);

function hear(replica: Replica, ...effects: Effect[]): void {
  replica.hear({ seq: replica.seq + 1, client: "them", n: 1, tag: `them ${replica.seq}`, by: "them", at: 1, effects, outcomes: [], closes: null });
}

test("what was not sent is taken back without a message, and what another removed meanwhile stays removed", () => {
  const replica = opened();
  replica.edit(operation([["splice", KEY, PATH, 0, 2, "x"]]));
  replica.edit(operation([["splice", KEY, PATH, 1, 0, "y"]]), { join: true });
  hear(replica, ["splice", KEY, PATH, 0, 1, ""]);
  assert.equal(textOf(replica), "xyc");
  assert.ok(replica.undo());
  assert.equal(textOf(replica), "bc");
  assert.equal(replica.message(() => "t"), null);
  assert.ok(replica.redo());
  assert.equal(textOf(replica), "xyc");
  assert.ok(replica.undo());
  assert.deepEqual([textOf(replica), replica.message(() => "t"), replica.stacks.undos.length, replica.stacks.redos.length], ["bc", null, 0, 1]);
});

test("what is in flight, or has something after it, is taken back by a gesture of its own", () => {
  const replica = opened();
  replica.edit(operation([["splice", KEY, PATH, 0, 2, "x"]]));
  assert.notEqual(replica.message(() => "t"), null);
  assert.ok(replica.undo());
  assert.deepEqual([textOf(replica), replica.unsent.length], ["abc", 1]);
  const other = opened();
  other.edit(operation([["splice", KEY, PATH, 0, 1, "x"]]));
  other.edit(operation([["set", KEY, ["enabled"], false]]));
  assert.ok(other.undo() && other.undo());
  assert.deepEqual([textOf(other), other.unsent.length, other.view.get(KEY)?.has("enabled")], ["abc", 0, false]);
});
