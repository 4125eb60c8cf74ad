/** What a session does when a tab is copied, a server refuses, a log is gone, or a storage fails. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { Write } from "../../src/editing/log/effects.ts";
import { operation, type Operation } from "../../src/editing/log/operations.ts";
import { readObject } from "../../src/editing/values/json.ts";
import { expand } from "../../src/editing/rules/expanding.ts";
import { at, plain } from "../../src/editing/values/values.ts";
import { Dice } from "../dice.ts";
import { entity } from "./edits.ts";
import { Browser } from "./machine.ts";
import { agree, SharedDraft, waiting } from "./shared_draft.ts";
import { said } from "./server.ts";

const one = (...writes: Write[]): Operation => operation(writes);
const url = (value: string): Operation => one(["set", "block/b", ["with", "url"], value]);
const name = (value: string): Operation => one(["set", "doc", ["name"], value]);
const typing = (text: string): Operation => one(["splice", "block/b", ["with", "prompt"], 0, 0, text]);

test("a copied tab is another client, and sends nothing of the first one's", async () => {
  const shared = new SharedDraft(new Dice(1));
  const browser = new Browser(shared.clock);
  const ann = await shared.seat("ann", browser);
  ann.cut(true);
  ann.session.edit(typing("ann"), { typed: true });
  await shared.clock.pass(1_000);
  const copy = await shared.seat("ann", browser, ann.machine.remembered());
  assert.notEqual(copy.session.replica.client, ann.session.replica.client);
  copy.session.edit(typing("copy"), { typed: true });
  await shared.clock.pass(1_000);
  ann.cut(false);
  await shared.clock.pass(2_000);
  agree(ann, copy);
  assert.equal(at(ann.view.get("block/b"), ["with", "prompt"]), "copyannscore <order.id>");
});

test("the work of a tab that is gone is sent by the next tab of the browser, once", async () => {
  const shared = new SharedDraft(new Dice(2));
  const browser = new Browser(shared.clock);
  const tabs = [await shared.seat("one", browser), await shared.seat("two", browser)];
  for (const tab of tabs) {
    tab.cut(true);
    tab.session.edit(typing(tab.name), { typed: true });
  }
  await shared.clock.pass(1_000);
  for (const tab of tabs) tab.die();
  assert.equal(waiting(browser), 2);
  const next = await shared.seat("three", browser);
  await shared.clock.pass(5_000);
  agree(next);
  assert.equal(waiting(browser), 0);
  const text = at(next.view.get("block/b"), ["with", "prompt"]);
  assert.ok(["onetwo", "twoone"].some((start) => text === `${start}score <order.id>`));
  assert.ok(next.session.undo() && next.session.undo(), "what it did can be undone");
});

test("what was committed is recognised by its tag, also under a former id of the client", async () => {
  const shared = new SharedDraft(new Dice(3));
  const ann = await shared.seat("ann");
  let answers = 0;
  shared.intercept = (request) => {
    answers += 1;
    if (answers > 1) return null;
    const done = shared.servers[0]?.commit(request, "ann"); // committed, and nothing is said of it
    assert.ok(typeof done === "object" && done.isNew);
    return said.answer(request, "forked");
  };
  const { client } = ann.session.replica;
  ann.session.edit(url("new"));
  await shared.clock.pass(1_000);
  agree(ann);
  assert.equal(ann.session.replica.client, client);
  assert.equal(shared.log.head, 1);
});

test("a client that the server no longer knows goes on as a new one", async () => {
  const shared = new SharedDraft(new Dice(4));
  const ann = await shared.seat("ann");
  const { client } = ann.session.replica;
  shared.intercept = (request) => (request.client === client ? said.answer(request, "stale") : null);
  ann.session.edit(url("new"));
  await shared.clock.pass(1_000);
  agree(ann);
  assert.notEqual(ann.session.replica.client, client);
  assert.deepEqual(shared.log.items.map((item) => [item.n, item.client]), [[1, ann.session.replica.client]]);
  assert.equal(ann.machine.remembered(), ann.session.replica.client);
});

test("without the role the draft is read-only, the work is kept, and goes on when the role is back", async () => {
  const shared = new SharedDraft(new Dice(6));
  const ann = await shared.seat("ann");
  shared.intercept = (request) => said.answer(request, "forbidden");
  ann.session.edit(url("new"));
  await shared.clock.pass(1_000);
  assert.equal(ann.status, "Read-only: your role does not allow editing");
  assert.equal(ann.session.edit(url("newer")), false);
  shared.intercept = () => null;
  ann.cut(true);
  ann.cut(false);
  await shared.clock.pass(1_000);
  agree(ann);
  assert.equal(at(ann.view.get("block/b"), ["with", "url"]), "new");
});

test("of a draft that was replaced what waits is listed; none applies itself", async () => {
  const shared = new SharedDraft(new Dice(7));
  const browser = new Browser(shared.clock);
  const ann = await shared.seat("ann", browser);
  ann.cut(true);
  ann.session.edit(name("of ann"));
  ann.session.edit(url("of ann"));
  await shared.clock.pass(500);
  shared.replace(2);
  ann.cut(false);
  await shared.clock.pass(1_000);
  assert.equal(ann.status, "Read-only: this draft was replaced by another one");
  assert.equal(ann.session.snapshot().canEdit, false);
  ann.die();
  const again = await shared.seat("ann", browser, ann.machine.remembered());
  agree(again);
  const { listed } = again.session.snapshot();
  assert.equal(listed.length, 2);
  const [first, second] = listed;
  assert.ok(first !== undefined && second !== undefined);
  assert.deepEqual(expand(again.view, first).effects, [["set", "doc", ["name"], "of ann"]]);
  assert.equal(shared.log.head, 0);
  assert.ok(again.session.apply(first));
  again.session.discard(second);
  await shared.clock.pass(1_000);
  agree(again);
  assert.deepEqual([shared.log.head, again.session.snapshot().listed.length], [1, 0]);
});

test("where the log lost what is missing here, what waits is listed and the draft is opened again", async () => {
  const shared = new SharedDraft(new Dice(8));
  const [ann, bo] = [await shared.seat("ann"), await shared.seat("bo")];
  ann.cut(true);
  ann.session.edit(name("of ann"));
  for (const value of ["1", "2", "3"]) {
    bo.session.edit(url(value));
    await shared.clock.pass(100);
  }
  shared.log.first = 3;
  ann.cut(false);
  await shared.clock.pass(2_000);
  agree(ann, bo);
  assert.deepEqual(ann.session.snapshot().listed.map((listed) => listed.writes), [[["set", "doc", ["name"], "of ann"]]]);
});

test("an item that is missing is asked for after 250 ms", async () => {
  const shared = new SharedDraft(new Dice(9));
  const [ann, bo] = [await shared.seat("ann"), await shared.seat("bo")];
  bo.isCut = true;
  ann.session.edit(url("1"));
  await shared.clock.pass(100);
  bo.isCut = false;
  ann.session.edit(url("2"));
  await shared.clock.pass(100);
  assert.deepEqual([bo.session.replica.seq, bo.frames("pull").length], [0, 0]);
  await shared.clock.pass(300);
  assert.equal(bo.frames("pull").length, 1);
  agree(ann, bo);
});

test("an item whose fan-out was lost is asked for after a minute without any", async () => {
  const shared = new SharedDraft(new Dice(10));
  const [ann, bo] = [await shared.seat("ann"), await shared.seat("bo")];
  bo.isCut = true;
  ann.session.edit(url("1"));
  await shared.clock.pass(100);
  bo.isCut = false;
  await shared.clock.pass(61_000);
  agree(ann, bo);
});

test("a tab whose storage fails goes on without it, and says so", async () => {
  const shared = new SharedDraft(new Dice(12));
  const ann = await shared.seat("ann", new Browser(shared.clock, () => { throw new Error("full"); }, 3));
  assert.equal(ann.session.snapshot().kept, false);
  assert.ok(ann.session.edit(url("new")));
  await shared.clock.pass(1_000);
  agree(ann);
});

test("nothing is sent before it is stored", async () => {
  const shared = new SharedDraft(new Dice(13));
  let slow = 0;
  const ann = await shared.seat("ann", new Browser(shared.clock, () => slow));
  slow = 500;
  ann.session.edit(url("new"));
  await shared.clock.pass(400);
  assert.equal(ann.frames("op").length, 0);
  await shared.clock.pass(1_200);
  agree(ann);
});

test("a page sees another snapshot when something changed, and only then", async () => {
  const shared = new SharedDraft(new Dice(14));
  const [ann, bo] = [await shared.seat("ann"), await shared.seat("bo")];
  let heard = 0;
  const leave = bo.session.subscribe(() => { heard += 1; });
  const before = bo.session.snapshot();
  await shared.clock.pass(1_000);
  assert.equal(bo.session.snapshot(), before);
  ann.session.edit(url("new"));
  await shared.clock.pass(1_000);
  assert.ok(heard > 0 && bo.session.snapshot() !== before);
  leave();
  heard = 0;
  ann.session.edit(url("newer"));
  await shared.clock.pass(1_000);
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
  const shared = new SharedDraft(new Dice(3));
  const [ann, bob] = [await shared.seat("ann"), await shared.seat("bob")];
  bob.session.edit(one(["splice", "block/b", ["with", "prompt"], 0, 0, "BB "]));
  await shared.clock.pass(2_000);
  ann.session.edit(one(["splice", "block/b", ["with", "prompt"], 3, 0, "AA "])); // on its way
  const asked = [one(["splice", "block/b", ["with", "prompt"], 0, 5, "rate"]), url("v")]; // over the start
  assert.equal(ann.session.perform(asked, 0), true);
  await shared.clock.pass(2_000);
  for (const desk of [ann, bob]) {
    assert.equal(at(desk.view.get("block/b"), ["with", "prompt"]), "BB AA rate <order.id>");
    assert.equal(at(desk.view.get("block/b"), ["with", "url"]), "v");
  }
  ann.session.undo();
  await shared.clock.pass(2_000);
  assert.equal(at(bob.view.get("block/b"), ["with", "prompt"]), "BB AA score <order.id>");
  assert.equal(at(bob.view.get("block/b"), ["with", "url"]), "u");
  assert.equal(ann.session.perform(asked, ann.session.replica.seq + 1), null, "it is not there yet");
  const late = await shared.seat("cleo");
  assert.equal(late.session.perform(asked, 0), null, "it was opened later, and does not know what came before");
});
