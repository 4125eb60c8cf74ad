/**
 * Nine faults of the editor of Sim (simstudioai/sim, `stores/operation-queue/store.ts` and `socket/handlers/operations.ts`), each as a test
 * that a session passes.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { Write } from "../../src/editing/log/effects.ts";
import { operation, type Operation } from "../../src/editing/log/operations.ts";
import { at, type Json } from "../../src/editing/values/values.ts";
import { Dice } from "../dice.ts";
import { entity } from "./edits.ts";
import { Browser } from "./machine.ts";
import { agree, SharedDraft, type Desk } from "./shared_draft.ts";

const one = (...writes: Write[]): Operation => operation(writes);
const set = (key: string, name: string, value: Json): Operation => one(["set", key, [name], value]);
const value = (desk: Desk, key: string, ...path: string[]): Json | undefined => at(desk.view.get(key), path);

test("fault 1: after the last try the queue is kept, where Sim's is emptied", async () => {
  const shared = new SharedDraft(new Dice(1));
  const ann = await shared.seat("ann");
  ann.isCut = true;
  ann.session.edit(set("block/a", "enabled", false));
  ann.session.edit(set("block/b", "enabled", false));
  await shared.clock.pass(60_000);
  assert.equal(ann.status, "Offline, 2 edits kept");
  ann.isCut = false;
  await shared.clock.pass(20_000);
  agree(ann);
  assert.deepEqual(["block/a", "block/b"].map((key) => value(ann, key, "enabled")), [false, false]);
});

test("fault 2: a refusal takes one gesture, where Sim's takes the queue", async () => {
  const shared = new SharedDraft(new Dice(2));
  const [ann, bo] = [await shared.seat("ann"), await shared.seat("bo")];
  ann.cut(true);
  ann.session.edit(set("block/a", "enabled", false));
  ann.session.edit(one(["rename", "block/a", "taken"]));
  ann.session.edit(set("block/b", "enabled", false));
  bo.session.edit(one(["rename", "block/b", "taken"]));
  await shared.clock.pass(1_000);
  ann.cut(false);
  await shared.clock.pass(3_000);
  agree(ann, bo);
  assert.deepEqual([value(ann, "block/a", "id"), value(ann, "block/a", "enabled"), value(ann, "block/b", "enabled")], ["order", false, false]);
  assert.deepEqual(ann.session.snapshot().notices.map(({ code }) => code), ["name_taken"]);
});

test("fault 3: a reload keeps the queue, where Sim's is in memory", async () => {
  const shared = new SharedDraft(new Dice(3));
  const browser = new Browser(shared.clock);
  const ann = await shared.seat("ann", browser);
  ann.cut(true);
  ann.session.edit(set("block/a", "enabled", false));
  await shared.clock.pass(100);
  ann.die();
  const again = await shared.seat("ann", browser, ann.machine.remembered());
  await shared.clock.pass(2_000);
  agree(again);
  assert.equal(value(again, "block/a", "enabled"), false);
});

test("fault 4: a second change of one block is no double of the first, where Sim drops it", async () => {
  const shared = new SharedDraft(new Dice(4));
  const ann = await shared.seat("ann");
  ann.cut(true);
  for (const name of ["first", "second"]) ann.session.edit(one(["rename", "block/a", name]));
  for (const enabled of [false, true, false]) ann.session.edit(set("block/a", "enabled", enabled));
  ann.cut(false);
  await shared.clock.pass(2_000);
  agree(ann);
  assert.deepEqual([value(ann, "block/a", "id"), value(ann, "block/a", "enabled")], ["second", false]);
});

test("fault 5: typing that is joined keeps its place in the order, where Sim moves it to the end", async () => {
  const shared = new SharedDraft(new Dice(5));
  const ann = await shared.seat("ann");
  ann.cut(true);
  ann.session.edit(set("block/a", "description", "1"));
  ann.session.edit(one(["del", "block/d"]));
  ann.session.edit(set("block/a", "description", "2"));
  ann.session.edit(one(["put", "block/n", entity({ id: "later", type: "http", parent: null, order: "N" })]));
  ann.session.edit(set("block/a", "description", "3"));
  ann.session.edit(set("block/a", "type", "webhook"));
  ann.cut(false);
  await shared.clock.pass(2_000);
  agree(ann);
  assert.deepEqual([value(ann, "block/a", "description"), value(ann, "block/a", "type"), ann.view.has("block/d")], ["3", "webhook", false]);
  const keys = shared.log.items.flatMap((item) => item.effects.map((effect) => effect[1]));
  assert.ok(keys.indexOf("block/d") < keys.indexOf("block/n"));
});

test("fault 6: deleting one block cancels what is about it, where Sim cancels the whole batch", async () => {
  const shared = new SharedDraft(new Dice(6));
  const [ann, bo] = [await shared.seat("ann"), await shared.seat("bo")];
  ann.cut(true);
  const moved = (key: string): Write => ["put", key, entity({ x: 1, y: 2 })];
  ann.session.edit(one(moved("place/a"), moved("place/b"), moved("place/c")));
  bo.session.edit(one(["del", "block/b"]));
  await shared.clock.pass(1_000);
  ann.cut(false);
  await shared.clock.pass(2_000);
  agree(ann, bo);
  assert.deepEqual(["place/a", "place/b", "place/c"].map((key) => ann.view.has(key)), [true, false, true]);
});

test("fault 7: what is tried again after its answer was lost is done once, where Sim does it twice", async () => {
  const shared = new SharedDraft(new Dice(7));
  const ann = await shared.seat("ann");
  let lost = 0;
  shared.intercept = (request) => {
    if (lost > 0) return null;
    lost += 1;
    const done = shared.servers[0]?.commit(request, "ann"); // committed, and its answer is lost
    assert.ok(typeof done === "object" && done.isNew);
    return "{\"type\":\"none\"}";
  };
  ann.session.edit(one(["splice", "block/b", ["with", "prompt"], 0, 0, "twice?"]));
  await shared.clock.pass(30_000);
  agree(ann);
  assert.equal(value(ann, "block/b", "with", "prompt"), "twice?score <order.id>");
  assert.equal(shared.log.head, 1);
});

test("fault 8: of two places the one that the server took later stands, where Sim asks the clock of the browser", async () => {
  const shared = new SharedDraft(new Dice(8));
  const ahead = await shared.seat("ahead", new Browser(shared.clock), null, 300_000);
  const bo = await shared.seat("bo");
  for (const [desk, x] of [[ahead, 1], [bo, 2], [ahead, 3], [bo, 4]] as const) {
    desk.session.edit(one(["put", "place/a", entity({ x, y: 0 })]));
    await shared.clock.pass(1_000);
    agree(ahead, bo);
    assert.deepEqual([value(ahead, "place/a", "x"), value(bo, "place/a", "x")], [x, x]);
  }
});

test("fault 9: a message that was lost is noticed and asked for, where Sim's has no number", async () => {
  const shared = new SharedDraft(new Dice(9));
  const [ann, bo] = [await shared.seat("ann"), await shared.seat("bo")];
  bo.isCut = true; // it hears nothing, and nothing says so
  ann.session.edit(set("block/a", "enabled", false));
  await shared.clock.pass(1_000);
  bo.isCut = false;
  ann.session.edit(set("block/b", "enabled", false));
  await shared.clock.pass(1_000);
  agree(ann, bo);
  assert.deepEqual(["block/a", "block/b"].map((key) => value(bo, key, "enabled")), [false, false]);
});
