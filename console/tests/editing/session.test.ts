/** What a person sees of a session, on the wire and in the view. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { Write } from "../../src/editing/log/effects.ts";
import { operation, type Operation } from "../../src/editing/log/operations.ts";
import { writeJson } from "../../src/editing/values/json.ts";
import { list } from "../../src/editing/log/messages.ts";
import { at, isObject, type Json } from "../../src/editing/values/values.ts";
import { Dice } from "../dice.ts";
import { entity } from "./edits.ts";
import { Browser } from "./machine.ts";
import { said } from "./server.ts";
import { SharedDraft, textOf, waiting, type Desk } from "./shared_draft.ts";

const PROMPT = ["with", "prompt"];
const one = (...writes: Write[]): Operation => operation(writes);
const typing = (start: number, text: string): Operation => one(["splice", "block/b", PROMPT, start, 0, text]);
const promptOf = (desk: Desk): Json | undefined => at(desk.view.get("block/b"), PROMPT);
const connect = (key: string, source: string, target: string): Operation =>
  one(["put", key, entity({ source, target, order: "V", handle: key })]);

/** What a person reads while time passes, each status once. */
async function statuses(desk: Desk, ms: number): Promise<{ seen: string[]; at: Map<string, number> }> {
  const { clock } = desk.shared;
  const start = clock.now();
  const seen: string[] = [desk.status];
  const times = new Map<string, number>([[desk.status, 0]]);
  while (clock.now() < start + ms) {
    await clock.pass(50);
    if (seen.at(-1) === desk.status) continue;
    seen.push(desk.status);
    times.set(desk.status, clock.now() - start);
  }
  return { seen, at: times };
}

function same(...desks: Desk[]): void {
  for (const desk of desks) assert.equal(textOf(desk.view), textOf(desk.shared.log.state()), desk.name);
}

test("M3: structure is tried 3 times, then kept offline, over a reload, and committed once", async () => {
  const shared = new SharedDraft(new Dice(1));
  const browser = new Browser(shared.clock);
  const ann = await shared.seat("ann", browser);
  assert.equal(ann.status, "Saved");
  ann.isCut = true; // the network is gone; nothing says so
  assert.ok(ann.session.edit(connect("edge/one", "a", "c")));
  const { seen, at: times } = await statuses(ann, 40_000);
  assert.deepEqual(seen, ["Saving", "Retrying 1 of 3", "Retrying 2 of 3", "Retrying 3 of 3", "Offline, 1 edit kept"]);
  const [first, last] = [times.get("Retrying 1 of 3") ?? 0, times.get("Offline, 1 edit kept") ?? 0];
  assert.ok(first >= 5_000 && first <= 5_100, `${first}`);
  assert.ok(last >= 5_000 + 11_000 && last <= 5_100 + 13_300, `${last}`);
  ann.session.edit(typing(0, "x"), { typed: true });
  ann.session.edit(typing(1, "y"), { typed: true });
  assert.equal(ann.status, "Offline, 3 edits kept");
  assert.ok(ann.session.snapshot().canEdit);
  await shared.clock.pass(100);
  ann.die();
  const again = await shared.seat("ann", browser, ann.machine.remembered());
  await shared.clock.pass(2_000);
  assert.equal(again.status, "Saved");
  assert.equal(promptOf(again), "xyscore <order.id>");
  assert.equal(shared.log.items.flatMap((item) => item.effects).filter((effect) => effect[1] === "edge/one").length, 1);
  same(again);
});

test("M3: text alone is tried 5 times; a returning connection is no try and everything arrives in its order", async () => {
  const shared = new SharedDraft(new Dice(2));
  const ann = await shared.seat("ann");
  const bo = await shared.seat("bo");
  ann.cut(true);
  ann.session.edit(typing(0, "a"), { typed: true });
  const { seen } = await statuses(ann, 60_000);
  assert.deepEqual(seen, ["Saving", ...[1, 2, 3, 4, 5].map((attempt) => `Retrying ${attempt} of 5`), "Offline, 1 edit kept"]);
  ann.session.edit(connect("edge/one", "a", "c"));
  ann.session.edit(one(["set", "block/b", ["enabled"], false]));
  bo.session.edit(typing(0, "b"), { typed: true });
  bo.session.flush();
  await shared.clock.pass(500);
  ann.cut(false);
  await shared.clock.pass(2_000);
  assert.equal(ann.status, "Saved");
  assert.equal(promptOf(ann), "bascore <order.id>");
  assert.deepEqual(shared.log.items.map((item) => item.by), ["bo", "ann"]);
  same(ann, bo);
});

test("M3: one intent is in flight; a refusal takes one gesture", async () => {
  const shared = new SharedDraft(new Dice(3));
  const [ann, bo] = [await shared.seat("ann"), await shared.seat("bo")];
  shared.mostDelay = 1_000;
  ann.session.edit(one(["rename", "block/a", "start"]));
  ann.session.edit(connect("edge/one", "b", "c"));
  ann.session.edit(one(["set", "block/b", ["enabled"], true]));
  bo.session.edit(one(["put", "block/x", entity({ id: "start", type: "http", parent: null, order: "X" })]));
  const inFlight = new Set<number>();
  for (let step = 0; step < 200; step += 1) {
    await shared.clock.pass(50);
    for (const frame of ann.frames("op")) inFlight.add(Number(frame.get("n")));
    assert.ok(inFlight.size <= 1 + shared.log.items.filter((item) => item.by === "ann").length);
  }
  assert.equal(ann.status, "Saved");
  assert.equal(at(ann.view.get("block/b"), ["enabled"]), true);
  assert.ok(ann.view.has("edge/one"));
  const names = ["block/a", "block/x"].map((key) => at(ann.view.get(key), ["id"]));
  const refused = ann.session.snapshot().notices.filter((report) => report.code === "name_taken");
  assert.equal(names[0] === "order", refused.length === 1);
  assert.notEqual(names[0], names[1]);
  same(ann, bo);
});

test("M4: 500 characters at 8 keys a second are at most 25 messages, and all arrive", async () => {
  const shared = new SharedDraft(new Dice(4));
  const ann = await shared.seat("ann");
  const letters = ann.editor.letters(500);
  for (const [place, letter] of Array.from(letters).entries()) {
    ann.session.edit(typing(place, letter), { typed: true, join: place > 0 });
    await shared.clock.pass(125);
  }
  await shared.clock.pass(1_000);
  const frames = ann.frames("op");
  assert.ok(frames.length > 5 && frames.length <= 25, `${frames.length} messages`);
  for (const frame of frames) {
    const [only, ...more] = list(frame, "gestures");
    assert.ok(isObject(only) && more.length === 0 && list(only, "writes").length === 1, "keys of one pause are one splice");
  }
  assert.equal(promptOf(ann), `${letters}score <order.id>`);
  same(ann);
  assert.ok(ann.session.undo());
  await shared.clock.pass(100);
  assert.equal(promptOf(ann), "score <order.id>");
});

test("M4: a pause of 400 ms sends; leaving the field sends; beside a peer the first key is sent at once, then every 25 ms", async () => {
  const shared = new SharedDraft(new Dice(5));
  shared.mostDelay = 1;
  const ann = await shared.seat("ann");
  const start = ann.frames("op").length;
  ann.session.edit(typing(0, "a"), { typed: true });
  await shared.clock.pass(399);
  assert.equal(ann.frames("op").length, start);
  await shared.clock.pass(2);
  assert.equal(ann.frames("op").length, start + 1);
  await shared.clock.pass(100);
  ann.session.edit(typing(0, "b"), { typed: true });
  ann.session.flush();
  await shared.clock.pass(1);
  assert.equal(ann.frames("op").length, start + 2);
  await shared.clock.pass(100);
  ann.session.beside(new Set(["b"]));
  ann.session.edit(typing(0, "c"), { typed: true });
  await shared.clock.pass(0);
  assert.equal(ann.frames("op").length, start + 3);
  for (let key = 0; key < 40; key += 1) {
    ann.session.edit(typing(0, "d"), { typed: true });
    await shared.clock.pass(5);
  }
  const more = ann.frames("op").length - start - 3;
  assert.ok(more >= 6 && more <= 8, `${more} messages in 200 ms`);
});

test("M5: of two values the one that the server took later stands, whatever the clocks of the tabs say", async () => {
  const shared = new SharedDraft(new Dice(6));
  const ann = await shared.seat("ann", new Browser(shared.clock), null, 300_000);
  const bo = await shared.seat("bo");
  ann.session.edit(one(["set", "block/b", ["with", "url"], "of ann"]));
  await shared.clock.pass(0);
  bo.session.edit(one(["set", "block/b", ["with", "url"], "of bo"]));
  await shared.clock.pass(1_000);
  const last = shared.log.items.at(-1);
  for (const desk of [ann, bo]) {
    assert.equal(at(desk.view.get("block/b"), ["with", "url"]), `of ${last?.by ?? ""}`);
    assert.deepEqual(desk.session.touch("block/b"), { by: last?.by, at: last?.at, seq: 2 });
  }
  const times = shared.log.items.map((item) => item.at);
  assert.ok((times[0] ?? 0) < (times[1] ?? 0));
  same(ann, bo);
});

test("M6: what needs a block that was deleted meanwhile is cancelled before it is sent, and can be restored", async () => {
  const shared = new SharedDraft(new Dice(7));
  const [ann, bo] = [await shared.seat("ann"), await shared.seat("bo")];
  bo.cut(true);
  bo.session.edit(connect("edge/one", "b", "c"));
  bo.session.edit(typing(0, "typed by bo: "), { typed: true });
  bo.session.edit(one(["set", "doc", ["name"], "of bo"]));
  await shared.clock.pass(1_000);
  ann.session.edit(one(["del", "block/b"]));
  await shared.clock.pass(1_000);
  bo.cut(false);
  await shared.clock.pass(2_000);
  assert.equal(bo.status, "Saved");
  const frames = bo.frames("op").map(writeJson);
  assert.ok(frames.length === 1 && !frames.some((text) => text.includes("block/b") || text.includes("edge/one")), frames.join());
  assert.equal(at(bo.view.get("doc"), ["name"]), "of bo");
  same(ann, bo);
  const { notices } = bo.session.snapshot();
  assert.deepEqual(notices.map(({ code, key, by }) => [code, key, by]), [["gone", "block/b", "ann"], ["gone", "block/b", "ann"]]);
  for (const { id } of notices) assert.ok(bo.session.restore(id));
  await shared.clock.pass(2_000);
  assert.equal(promptOf(ann), "typed by bo: score <order.id>");
  assert.ok(ann.view.has("edge/one") && ann.view.has("edge/e"));
  assert.deepEqual(bo.session.snapshot().notices, []);
  same(ann, bo);
});

test("M7: undoing an addition takes along the edges of others, who get a notice and can restore it", async () => {
  const shared = new SharedDraft(new Dice(8));
  const [ann, bo] = [await shared.seat("ann"), await shared.seat("bo")];
  ann.session.edit(one(["put", "block/x", entity({ id: "new", type: "http", parent: null, order: "X" })]));
  await shared.clock.pass(500);
  bo.session.edit(connect("edge/bo", "b", "x"));
  bo.session.edit(one(["set", "block/b", ["enabled"], false]));
  await shared.clock.pass(500);
  assert.ok(ann.session.undo());
  await shared.clock.pass(500);
  for (const desk of [ann, bo]) assert.ok(!desk.view.has("block/x") && !desk.view.has("edge/bo"));
  assert.equal(at(ann.view.get("block/b"), ["enabled"]), false);
  const [report, ...more] = bo.session.snapshot().notices;
  assert.deepEqual([report?.code, report?.key, report?.by, more.length], ["taken_along", "edge/bo", "ann", 0]);
  assert.ok(bo.session.restore(report?.id ?? 0));
  await shared.clock.pass(500);
  for (const desk of [ann, bo]) assert.ok(desk.view.has("block/x") && desk.view.has("edge/bo"));
  same(ann, bo);
});

test("M7: a drag of 50 steps is one undo, over a reload too, and leaves the work of others", async () => {
  const shared = new SharedDraft(new Dice(9));
  const browser = new Browser(shared.clock);
  const [ann, bo] = [await shared.seat("ann", browser), await shared.seat("bo")];
  ann.session.edit(one(["put", "place/b", entity({ x: 0, y: 0 })]));
  await shared.clock.pass(500);
  for (let step = 1; step <= 50; step += 1) {
    ann.session.edit(one(["set", "place/b", ["x"], step], ["set", "place/b", ["y"], step]), { join: step > 1, typed: true });
    await shared.clock.pass(20);
  }
  await shared.clock.pass(1_000);
  bo.session.edit(one(["put", "place/a", entity({ x: 5, y: 5 })]));
  await shared.clock.pass(500);
  ann.die();
  const again = await shared.seat("ann", browser, ann.machine.remembered());
  assert.equal(again.session.snapshot().canUndo, true);
  assert.ok(again.session.undo());
  await shared.clock.pass(500);
  assert.deepEqual([at(bo.view.get("place/b"), ["x"]), at(bo.view.get("place/a"), ["x"])], [0, 5]);
  assert.ok(again.session.redo());
  await shared.clock.pass(500);
  assert.equal(at(bo.view.get("place/b"), ["x"]), 50);
  same(again, bo);
  assert.equal(waiting(browser), 0);
});

test("M7: an undo of what was changed since asks, and overwrites on demand", async () => {
  const shared = new SharedDraft(new Dice(10));
  const [ann, bo] = [await shared.seat("ann"), await shared.seat("bo")];
  ann.session.edit(one(["set", "block/b", ["with"], entity({ url: "of ann" })]));
  await shared.clock.pass(500);
  bo.session.edit(one(["set", "block/b", ["with", "url"], "of bo"]));
  await shared.clock.pass(500);
  assert.ok(!ann.session.undo());
  const [report] = ann.session.snapshot().notices;
  assert.deepEqual([report?.code, report?.key, report?.origin], ["changed_since", "block/b", "undo"]);
  assert.equal(ann.session.snapshot().canUndo, true);
  assert.ok(ann.session.overwrite(report?.id ?? 0));
  await shared.clock.pass(500);
  assert.equal(promptOf(bo), "score <order.id>");
  same(ann, bo);
});

test("an answer that asks to wait is no try; a late one is ignored", async () => {
  const shared = new SharedDraft(new Dice(11));
  const ann = await shared.seat("ann");
  let asked = 0;
  shared.intercept = (request) => {
    asked += 1;
    return asked <= 3 ? said.answer(request, asked === 2 ? "rate" : "busy", [["retry_after_ms", 2_000]]) : null;
  };
  ann.session.edit(connect("edge/one", "a", "c"));
  const { seen } = await statuses(ann, 10_000);
  assert.deepEqual(seen, ["Saving", "Saved"]);
  assert.equal(asked, 4);
  const [frame] = ann.frames("op");
  for (const code of ["forked", "forbidden", "too_large", "replaced"]) {
    ann.hear(said.answer({ client: "", n: Number(frame?.get("n")), tag: "elsewhere", base: 0, operations: [] }, code));
  }
  await shared.clock.pass(1_000);
  assert.equal(ann.status, "Saved");
  same(ann);
});
