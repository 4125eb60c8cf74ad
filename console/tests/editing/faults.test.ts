/** What a session does when a tab is copied, a server refuses, a log is gone, or a storage fails. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { Write } from "../../src/editing/log/effects.ts";
import { gesture, type Gesture } from "../../src/editing/log/gestures.ts";
import { readObject } from "../../src/editing/values/json.ts";
import { expand } from "../../src/editing/rules/expanding.ts";
import { at, plain } from "../../src/editing/values/values.ts";
import { Dice } from "../dice.ts";
import { entity } from "./edits.ts";
import { Browser } from "./machine.ts";
import { agree, Room, waiting } from "./rooms.ts";
import { said } from "./server.ts";

const one = (...writes: Write[]): Gesture => gesture(writes);
const url = (value: string): Gesture => one(["set", "block/b", ["with", "url"], value]);
const name = (value: string): Gesture => one(["set", "doc", ["name"], value]);
const typing = (text: string): Gesture => one(["splice", "block/b", ["with", "prompt"], 0, 0, text]);

test("a copied tab is another client, and sends nothing of the first one's", async () => {
  const room = new Room(new Dice(1));
  const browser = new Browser(room.clock);
  const ann = await room.seat("ann", browser);
  ann.cut(true);
  ann.session.edit(typing("ann"), { typed: true });
  await room.clock.pass(1_000);
  const copy = await room.seat("ann", browser, ann.machine.remembered());
  assert.notEqual(copy.session.replica.client, ann.session.replica.client);
  copy.session.edit(typing("copy"), { typed: true });
  await room.clock.pass(1_000);
  ann.cut(false);
  await room.clock.pass(2_000);
  agree(ann, copy);
  assert.equal(at(ann.view.get("block/b"), ["with", "prompt"]), "copyannscore <order.id>");
});

test("the work of a tab that is gone is sent by the next tab of the browser, once", async () => {
  const room = new Room(new Dice(2));
  const browser = new Browser(room.clock);
  const tabs = [await room.seat("one", browser), await room.seat("two", browser)];
  for (const tab of tabs) {
    tab.cut(true);
    tab.session.edit(typing(tab.name), { typed: true });
  }
  await room.clock.pass(1_000);
  for (const tab of tabs) tab.die();
  assert.equal(waiting(browser), 2);
  const next = await room.seat("three", browser);
  await room.clock.pass(5_000);
  agree(next);
  assert.equal(waiting(browser), 0);
  const text = at(next.view.get("block/b"), ["with", "prompt"]);
  assert.ok(["onetwo", "twoone"].some((start) => text === `${start}score <order.id>`));
  assert.ok(next.session.undo() && next.session.undo(), "what it did can be undone");
});

test("what was committed is recognised by its tag, also under a former id of the client", async () => {
  const room = new Room(new Dice(3));
  const ann = await room.seat("ann");
  let answers = 0;
  room.intercept = (intent) => {
    answers += 1;
    if (answers > 1) return null;
    const done = room.servers[0]?.commit(intent, "ann"); // committed, and nothing is said of it
    assert.ok(typeof done === "object" && done.isNew);
    return said.answer(intent, "forked");
  };
  const { client } = ann.session.replica;
  ann.session.edit(url("new"));
  await room.clock.pass(1_000);
  agree(ann);
  assert.equal(ann.session.replica.client, client);
  assert.equal(room.log.head, 1);
});

test("a client that the server no longer knows goes on as a new one", async () => {
  const room = new Room(new Dice(4));
  const ann = await room.seat("ann");
  const { client } = ann.session.replica;
  room.intercept = (intent) => (intent.client === client ? said.answer(intent, "stale") : null);
  ann.session.edit(url("new"));
  await room.clock.pass(1_000);
  agree(ann);
  assert.notEqual(ann.session.replica.client, client);
  assert.deepEqual(room.log.items.map((item) => [item.n, item.client]), [[1, ann.session.replica.client]]);
  assert.equal(ann.machine.remembered(), ann.session.replica.client);
});

test("without the role the draft is read-only, the work is kept, and goes on when the role is back", async () => {
  const room = new Room(new Dice(6));
  const ann = await room.seat("ann");
  room.intercept = (intent) => said.answer(intent, "forbidden");
  ann.session.edit(url("new"));
  await room.clock.pass(1_000);
  assert.equal(ann.status, "Read-only: your role does not allow editing");
  assert.equal(ann.session.edit(url("newer")), false);
  room.intercept = () => null;
  ann.cut(true);
  ann.cut(false);
  await room.clock.pass(1_000);
  agree(ann);
  assert.equal(at(ann.view.get("block/b"), ["with", "url"]), "new");
});

test("of a draft that was replaced what waits is listed; none applies itself", async () => {
  const room = new Room(new Dice(7));
  const browser = new Browser(room.clock);
  const ann = await room.seat("ann", browser);
  ann.cut(true);
  ann.session.edit(name("of ann"));
  ann.session.edit(url("of ann"));
  await room.clock.pass(500);
  room.replace(2);
  ann.cut(false);
  await room.clock.pass(1_000);
  assert.equal(ann.status, "Read-only: this draft was replaced by another one");
  assert.equal(ann.session.snapshot().canEdit, false);
  ann.die();
  const again = await room.seat("ann", browser, ann.machine.remembered());
  agree(again);
  const { listed } = again.session.snapshot();
  assert.equal(listed.length, 2);
  const [first, second] = listed;
  assert.ok(first !== undefined && second !== undefined);
  assert.deepEqual(expand(again.view, first).effects, [["set", "doc", ["name"], "of ann"]]);
  assert.equal(room.log.head, 0);
  assert.ok(again.session.apply(first));
  again.session.discard(second);
  await room.clock.pass(1_000);
  agree(again);
  assert.deepEqual([room.log.head, again.session.snapshot().listed.length], [1, 0]);
});

test("where the log lost what is missing here, what waits is listed and the draft is opened again", async () => {
  const room = new Room(new Dice(8));
  const [ann, bo] = [await room.seat("ann"), await room.seat("bo")];
  ann.cut(true);
  ann.session.edit(name("of ann"));
  for (const value of ["1", "2", "3"]) {
    bo.session.edit(url(value));
    await room.clock.pass(100);
  }
  room.log.first = 3;
  ann.cut(false);
  await room.clock.pass(2_000);
  agree(ann, bo);
  assert.deepEqual(ann.session.snapshot().listed.map((listed) => listed.writes), [[["set", "doc", ["name"], "of ann"]]]);
});

test("an item that is missing is asked for after 250 ms", async () => {
  const room = new Room(new Dice(9));
  const [ann, bo] = [await room.seat("ann"), await room.seat("bo")];
  bo.isCut = true;
  ann.session.edit(url("1"));
  await room.clock.pass(100);
  bo.isCut = false;
  ann.session.edit(url("2"));
  await room.clock.pass(100);
  assert.deepEqual([bo.session.replica.seq, bo.frames("pull").length], [0, 0]);
  await room.clock.pass(300);
  assert.equal(bo.frames("pull").length, 1);
  agree(ann, bo);
});

test("an item whose fan-out was lost is asked for after a minute without any", async () => {
  const room = new Room(new Dice(10));
  const [ann, bo] = [await room.seat("ann"), await room.seat("bo")];
  bo.isCut = true;
  ann.session.edit(url("1"));
  await room.clock.pass(100);
  bo.isCut = false;
  await room.clock.pass(61_000);
  agree(ann, bo);
});

test("a tab whose storage fails goes on without it, and says so", async () => {
  const room = new Room(new Dice(12));
  const ann = await room.seat("ann", new Browser(room.clock, () => { throw new Error("full"); }, 3));
  assert.equal(ann.session.snapshot().kept, false);
  assert.ok(ann.session.edit(url("new")));
  await room.clock.pass(1_000);
  agree(ann);
});

test("nothing is sent before it is stored", async () => {
  const room = new Room(new Dice(13));
  let slow = 0;
  const ann = await room.seat("ann", new Browser(room.clock, () => slow));
  slow = 500;
  ann.session.edit(url("new"));
  await room.clock.pass(400);
  assert.equal(ann.frames("op").length, 0);
  await room.clock.pass(1_200);
  agree(ann);
});

test("a page sees another snapshot when something changed, and only then", async () => {
  const room = new Room(new Dice(14));
  const [ann, bo] = [await room.seat("ann"), await room.seat("bo")];
  let heard = 0;
  const leave = bo.session.subscribe(() => { heard += 1; });
  const before = bo.session.snapshot();
  await room.clock.pass(1_000);
  assert.equal(bo.session.snapshot(), before);
  ann.session.edit(url("new"));
  await room.clock.pass(1_000);
  assert.ok(heard > 0 && bo.session.snapshot() !== before);
  leave();
  heard = 0;
  ann.session.edit(url("newer"));
  await room.clock.pass(1_000);
  assert.equal(heard, 0);
});

test("numbers are shown as they will be committed, and read from JSON in the same form", () => {
  const wanted: [number, unknown][] = [
    [1, 1], [-0, 0], [0.5, 0.5], [0.0001, 0.0001], [0.00001, "1e-05"], [1.5e-7, "1.5e-07"], [1e-10, "1e-10"], [2 ** 53, "9007199254740992"],
    [1e21, "1e+21"], [1.5e300, "1.5e+300"], [9007199254740991, 9007199254740991], [-123456.789, -123456.789],
  ];
  for (const [value, form] of wanted) assert.deepEqual(plain(value), typeof form === "string" ? new Map([["#", form]]) : form);
  assert.deepEqual(plain([entity({ a: 1e-5 })]), [entity({ a: new Map([["#", "1e-05"]]) })]);
  assert.throws(() => plain(Infinity), RangeError);
  assert.deepEqual(readObject('{"a":1e-05}').get("a"), new Map([["#", "1e-05"]]));
});

test("gestures that were made over an earlier state are carried over what came since, and are one action", async () => {
  const room = new Room(new Dice(3));
  const [ann, bob] = [await room.seat("ann"), await room.seat("bob")];
  bob.session.edit(one(["splice", "block/b", ["with", "prompt"], 0, 0, "BB "]));
  await room.clock.pass(2_000);
  ann.session.edit(one(["splice", "block/b", ["with", "prompt"], 3, 0, "AA "])); // on its way
  const asked = [one(["splice", "block/b", ["with", "prompt"], 0, 5, "rate"]), url("v")]; // over the start
  assert.equal(ann.session.perform(asked, 0), true);
  await room.clock.pass(2_000);
  for (const desk of [ann, bob]) {
    assert.equal(at(desk.view.get("block/b"), ["with", "prompt"]), "BB AA rate <order.id>");
    assert.equal(at(desk.view.get("block/b"), ["with", "url"]), "v");
  }
  ann.session.undo();
  await room.clock.pass(2_000);
  assert.equal(at(bob.view.get("block/b"), ["with", "prompt"]), "BB AA score <order.id>");
  assert.equal(at(bob.view.get("block/b"), ["with", "url"]), "u");
  assert.equal(ann.session.perform(asked, ann.session.replica.seq + 1), null, "it is not there yet");
  const late = await room.seat("cleo");
  assert.equal(late.session.perform(asked, 0), null, "it was opened later, and does not know what came before");
});
