/** What no server takes is refused before it is shown; what a server does not take ends, and is told. The rest goes on. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { Write } from "../../src/editing/log/effects.ts";
import { operation, type Operation, type DraftRequest } from "../../src/editing/log/operations.ts";
import { MAX_KEPT_BYTES, MAX_UNDO } from "../../src/editing/limits.ts";
import { MAX_DECIDED_CHARACTERS, MAX_DOCUMENT_DEPTH, MAX_INTENT_WRITES } from "../../src/editing/tables.ts";
import { at, object, type Json } from "../../src/editing/values/values.ts";
import { Dice } from "../dice.ts";
import { QUICK } from "../tiers.ts";
import { entity } from "./edits.ts";
import { agree, SharedDraft, textOf } from "./shared_draft.ts";
import { said } from "./server.ts";

const one = (...writes: Write[]): Operation => operation(writes);
const set = (name: string, value: Json): Operation => one(["set", "doc", [name], value]);

function nested(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? object([["a", value]]) : [value];
  return value;
}

for (const [what, value, code] of [
  ["half of a surrogate pair", "a\ud800b", "no_text"], ["half of one in a key", object([["\udc00", 1]]), "no_text"],
  ["half of one in a list", [["\ud800"]], "no_text"], ["a value that is nested too deep", nested(MAX_DOCUMENT_DEPTH + 1), "value_too_deep"],
  ["a value of 4 MB", "x".repeat(4_000_000), "gesture_too_large"],
] as const) {
  test(`${what} is refused before it is shown, and what follows is sent`, async () => {
    const shared = new SharedDraft(new Dice(21));
    const ann = await shared.seat("ann");
    const before = textOf(ann.view);
    assert.equal(ann.session.edit(set("odd", value)), false);
    assert.deepEqual([textOf(ann.view), ann.session.snapshot().canUndo], [before, false]);
    assert.deepEqual(ann.session.snapshot().notices.map((told) => [told.code, told.refused]), [[code, true]]);
    assert.ok(ann.session.edit(set("even", nested(MAX_DOCUMENT_DEPTH))));
    await shared.clock.pass(1_000);
    assert.equal(ann.status, "Saved");
    assert.equal(textOf(shared.log.state()), textOf(ann.view));
    assert.equal(shared.log.head, 1);
  });
}

test("what made the largest gesture is undone, whatever number of guards that takes", { skip: QUICK }, async () => {
  const shared = new SharedDraft(new Dice(22));
  const ann = await shared.seat("ann");
  const notes = (word: "put" | "set"): Operation => operation(Array.from({ length: MAX_INTENT_WRITES }, (_, place): Write => (
    word === "put" ? ["put", `note/n${place}`, entity({ x: 0, y: 0 })] : ["set", `note/n${place}`, ["x"], 1]
  )));
  for (const word of ["put", "set"] as const) {
    assert.ok(ann.session.edit(notes(word)));
    await shared.clock.pass(2_000);
  }
  const guards: number[] = [];
  shared.intercept = (request) => {
    guards.push(...request.operations.map((one) => one.guards.length));
    return null;
  };
  assert.ok(ann.session.undo());
  await shared.clock.pass(2_000);
  assert.deepEqual([guards, ann.status, at(ann.view.get("note/n7"), ["x"])], [[MAX_INTENT_WRITES], "Saved", 0]);
});

test("of what the server cannot read, the gesture at fault ends with a notice, and the others are committed", async () => {
  const shared = new SharedDraft(new Dice(23));
  const ann = await shared.seat("ann");
  shared.intercept = (request) => (
    request.operations.some((one) => one.writes.some((write) => write[0] === "set" && write[3] === "odd")) ? said.answer(request, "malformed") : null
  );
  ann.cut(true);
  for (const value of ["1", "2", "odd", "4"]) ann.session.edit(set(`v${value}`, value));
  ann.cut(false);
  await shared.clock.pass(3_000);
  assert.equal(ann.status, "Saved");
  assert.equal(textOf(shared.log.state()), textOf(ann.view));
  assert.deepEqual(["1", "2", "odd", "4"].map((value) => ann.view.get("doc")?.has(`v${value}`)), [true, true, false, true]);
  const { notices } = ann.session.snapshot();
  assert.deepEqual(notices.map(({ code, lost }) => [code, lost.writes]), [["malformed", [["set", "doc", ["vodd"], "odd"]]]]);
});

test("the room may allow less as people come, which paces what is sent", async () => {
  const shared = new SharedDraft(new Dice(24));
  const ann = await shared.seat("ann");
  const sent = async (): Promise<number> => {
    const before = ann.frames("op").length;
    for (let edits = 0; edits < 20; edits += 1) {
      ann.session.edit(set("name", `${edits} of ${before}`));
      await shared.clock.pass(50);
    }
    return ann.frames("op").length - before;
  };
  assert.ok(await sent() >= 18);
  ann.session.hear('{"v":1,"t":"who","client":"c","person":"Bo","joined":true,"rates":{"ops_per_s":2}}');
  const paced = await sent();
  assert.ok(paced >= 1 && paced <= 3, `${paced} in a second`);
  ann.session.hear('{"v":1,"t":"who","client":"c","person":"Bo","joined":false}');
  assert.ok(await sent() <= 3, "who says nothing of it changes nothing");
});

test("4 MB that wait make the draft read-only until some of it is committed, and nothing is dropped", async () => {
  const shared = new SharedDraft(new Dice(25));
  const ann = await shared.seat("ann");
  ann.cut(true);
  const most = MAX_KEPT_BYTES / 1_000_000;
  for (let edits = 0; edits < most; edits += 1) assert.ok(ann.session.edit(set(`v${edits}`, "x".repeat(1_000_000))));
  assert.equal(ann.status, "Read-only: too much waits to be saved");
  assert.equal(ann.session.edit(set("more", 1)), false);
  ann.cut(false);
  await shared.clock.pass(5_000);
  assert.equal(ann.status, "Saved");
  assert.ok(ann.session.edit(set("more", 1)));
  await shared.clock.pass(1_000);
  assert.equal(textOf(shared.log.state()), textOf(ann.view));
  assert.deepEqual(Array.from({ length: most }, (_, place) => ann.view.get("doc")?.has(`v${place}`)), Array.from({ length: most }, () => true));
});

test("a person takes back their last 100 actions", async () => {
  const shared = new SharedDraft(new Dice(26));
  const ann = await shared.seat("ann");
  for (let edits = 0; edits < MAX_UNDO + 5; edits += 1) {
    assert.ok(ann.session.edit(set("count", edits)));
    await shared.clock.pass(100);
  }
  let undone = 0;
  while (ann.session.undo()) undone += 1;
  assert.deepEqual([undone, at(ann.view.get("doc"), ["count"])], [MAX_UNDO, 4]);
});

test("of what is too large at once fewer gestures are sent; a single one is given up and reported", async () => {
  const shared = new SharedDraft(new Dice(5));
  const ann = await shared.seat("ann");
  const sizes: number[] = [];
  shared.intercept = (request: DraftRequest) => {
    sizes.push(request.operations.length);
    const big = request.operations.some((part) => part.writes.some((write) => write[0] === "set" && write[3] === "big"));
    return request.operations.length > 2 || big ? said.answer(request, "too_large") : null;
  };
  ann.cut(true);
  for (const value of ["1", "2", "3", "4", "big", "6"]) ann.session.edit(one(["set", "doc", [`v${value}`], value]));
  ann.cut(false);
  await shared.clock.pass(3_000);
  agree(ann);
  assert.equal(sizes[0], 6);
  const doc = ann.view.get("doc");
  assert.deepEqual(["1", "2", "3", "4", "big", "6"].map((value) => doc?.has(`v${value}`)), [true, true, true, true, false, true]);
  const { notices } = ann.session.snapshot();
  assert.deepEqual(notices.map(({ code, lost }) => [code, lost.writes]), [["too_large", [["set", "doc", ["vbig"], "big"]]]]);
});

test("at 20,000 writes the draft is read-only and nothing is dropped", { skip: QUICK }, async () => {
  const shared = new SharedDraft(new Dice(11));
  const ann = await shared.seat("ann");
  ann.cut(true);
  const many = (count: number, from: number): Operation =>
    operation(Array.from({ length: count }, (_, place): Write => ["put", `note/n${from + place}`, entity({ x: place, y: 0 })]));
  assert.ok(!ann.session.edit(many(MAX_INTENT_WRITES + 1, 0)), "shown before it could ever be sent");
  assert.deepEqual(ann.session.snapshot().notices.map((report) => report.code), ["gesture_too_large"]);
  assert.ok(ann.session.edit(many(1_000, 0)));
  for (let from = 1_000; from < MAX_INTENT_WRITES; from += 1_000) assert.ok(ann.session.edit(many(1_000, from)));
  assert.equal(ann.status, "Read-only: too much waits to be saved");
  assert.ok(!ann.session.edit(set("name", "more")));
  ann.cut(false);
  await shared.clock.pass(10_000);
  agree(ann);
  assert.equal([...ann.view.keys()].filter((key) => key.startsWith("note/")).length, MAX_INTENT_WRITES);
});

test("what takes more than a decision may is refused before it is shown, and nothing of it is sent", async () => {
  const shared = new SharedDraft(new Dice(18));
  const ann = await shared.seat("ann");
  const mentioning = (place: number): Write =>
    ["put", `block/r${place}`, entity({ id: `r${place}`, type: "http", parent: null, order: "Z", with: entity({ url: "<order.x>" }) })];
  assert.ok(ann.session.edit(operation(Array.from({ length: 100 }, (_, place) => mentioning(place)))));
  await shared.clock.pass(2_000);
  const [before, frames] = [textOf(ann.view), ann.frames("op").length];
  assert.ok(!ann.session.edit(one(["rename", "block/a", "n".repeat(MAX_DECIDED_CHARACTERS / 100 + 1)])));
  await shared.clock.pass(2_000);
  assert.equal(textOf(ann.view), before);
  assert.equal(ann.frames("op").length, frames);
  assert.deepEqual(ann.session.snapshot().notices.map((report) => report.code), ["gesture_too_large"]);
  assert.ok(ann.session.edit(one(["rename", "block/a", "n".repeat(64)])));
  await shared.clock.pass(2_000);
  agree(ann);
});
