/** References to an added block that gets another name, because another person's block took its name first. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Effect, PutEffect } from "../../src/editing/effects.ts";
import { gesture } from "../../src/editing/gestures.ts";
import { Replica } from "../../src/editing/replica.ts";
import { Entities } from "../../src/editing/state.ts";
import { at, object, type Json } from "../../src/editing/values.ts";

const KEY = "block/a";
const PATH = ["with", "prompt"];

function block(id: string, prompt: string): ReturnType<typeof object> {
  return object([["id", id], ["type", "http"], ["parent", null], ["order", "V"], ["with", object([["prompt", prompt]])]]);
}

const put = (key: string, id: string, prompt = ""): PutEffect => ["put", `block/${key}`, block(id, prompt)];

function hear(replica: Replica, tag: string, ...effects: Effect[]): void {
  replica.hear({ seq: replica.seq + 1, client: "them", n: 1, tag, by: "them", at: 1, effects, outcomes: [], closes: null });
}

function opened(prompt: string): Replica {
  return new Replica("me", new Entities([[KEY, block("a", prompt)]]));
}

const textOf = (replica: Replica): Json | undefined => at(replica.view.get(KEY), PATH);

test("what was written while an addition is in flight follows its name", () => {
  const replica = opened("");
  replica.edit(gesture([put("mine", "http")]));
  const sent = replica.message(() => "t");
  replica.edit(gesture([["set", KEY, PATH, "<http.body> <http>"]]));
  hear(replica, "theirs", put("theirs", "http"));
  assert.equal(textOf(replica), "<http_2.body> <http_2>");
  hear(replica, sent?.tag ?? "", put("mine", "http_2"));
  assert.equal(textOf(replica), "<http_2.body> <http_2>");
  assert.equal(replica.message(() => "u")?.gestures.length, 2);
});

test("it follows again where the second name is taken too, and an undo takes all of it back", () => {
  const replica = opened("");
  replica.edit(gesture([put("mine", "http")]));
  replica.edit(gesture([["set", KEY, PATH, "<http.body>"]]));
  replica.message(() => "t");
  hear(replica, "1", put("theirs", "http"));
  hear(replica, "2", put("more", "http_2"));
  assert.equal(textOf(replica), "<http_3.body>");
  assert.ok(replica.undo());
  assert.deepEqual([textOf(replica), replica.notices], ["", []]);
});

test("what was written after the name had changed means the other block, as does what others wrote", () => {
  const replica = opened("");
  replica.edit(gesture([put("mine", "http")]));
  hear(replica, "1", put("theirs", "http"));
  replica.edit(gesture([["set", KEY, PATH, "<http.body>"]]));
  hear(replica, "2", put("more", "other"));
  assert.equal(textOf(replica), "<http.body>");
  const other = opened("<http.x> ");
  other.edit(gesture([put("mine", "http")]));
  other.edit(gesture([["set", KEY, ["enabled"], false]]));
  hear(other, "1", put("theirs", "http"));
  assert.equal(textOf(other), "<http.x> ");
});
