/** References to an added block that gets another name, because another person's block took its name first. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Effect, PutEffect } from "../../src/editing/log/effects.ts";
import { operation, type Operation, type LogEntry } from "../../src/editing/log/operations.ts";
import { Replica } from "../../src/editing/replica/replica.ts";
import { Entities } from "../../src/editing/state.ts";
import { at, object, type Json } from "../../src/editing/values/values.ts";
import { Dice } from "../dice.ts";
import { Browser } from "./machine.ts";
import { SharedDraft, textOf as stateOf } from "./shared_draft.ts";

const KEY = "block/a";
const PATH = ["with", "prompt"];

function block(id: string, prompt: string): ReturnType<typeof object> {
  return object([["id", id], ["type", "http"], ["parent", null], ["order", "V"], ["with", object([["prompt", prompt]])]]);
}

const put = (key: string, id: string, prompt = ""): PutEffect => ["put", `block/${key}`, block(id, prompt)];

function itemOf(seq: number, tag: string, ...effects: Effect[]): LogEntry {
  return { seq, client: tag === "t" ? "me" : "them", n: 1, tag, by: "them", at: 1, effects, outcomes: [], closes: null };
}

function hear(replica: Replica, tag: string, ...effects: Effect[]): void {
  replica.hear(itemOf(replica.seq + 1, tag, ...effects));
}

function opened(prompt: string): Replica {
  return new Replica("me", new Entities([[KEY, block("a", prompt)]]));
}

const textOf = (replica: Replica): Json | undefined => at(replica.view.get(KEY), PATH);

test("what was written while an addition is in flight follows its name", () => {
  const replica = opened("");
  replica.edit(operation([put("mine", "http")]));
  const sent = replica.message(() => "t");
  replica.edit(operation([["set", KEY, PATH, "<http.body> <http>"]]));
  hear(replica, "theirs", put("theirs", "http"));
  assert.equal(textOf(replica), "<http_2.body> <http_2>");
  hear(replica, sent?.tag ?? "", put("mine", "http_2"));
  assert.equal(textOf(replica), "<http_2.body> <http_2>");
  assert.equal(replica.message(() => "u")?.operations.length, 2);
});

test("it follows again where the second name is taken too, and an undo takes all of it back", () => {
  const replica = opened("");
  replica.edit(operation([put("mine", "http")]));
  replica.edit(operation([["set", KEY, PATH, "<http.body>"]]));
  replica.message(() => "t");
  hear(replica, "1", put("theirs", "http"));
  hear(replica, "2", put("more", "http_2"));
  assert.equal(textOf(replica), "<http_3.body>");
  assert.ok(replica.undo());
  assert.deepEqual([textOf(replica), replica.notices], ["", []]);
});

test("what was written after the name had changed means the other block, as does what others wrote", () => {
  const replica = opened("");
  replica.edit(operation([put("mine", "http")]));
  hear(replica, "1", put("theirs", "http"));
  replica.edit(operation([["set", KEY, PATH, "<http.body>"]]));
  hear(replica, "2", put("more", "other"));
  assert.equal(textOf(replica), "<http.body>");
  const other = opened("<http.x> ");
  other.edit(operation([put("mine", "http")]));
  other.edit(operation([["set", KEY, ["enabled"], false]]));
  hear(other, "1", put("theirs", "http"));
  assert.equal(textOf(other), "<http.x> ");
});

test("after a tab was closed, what it had written follows, whether it waited, was in flight, or was committed meanwhile", () => {
  for (const [asked, committed] of [[0, 0], [1, 0], [2, 0], [1, 1], [2, 2]] as const) {
    const replica = opened("");
    const operations = [operation([put("mine", "http")]), operation([["set", KEY, PATH, "<http.body>"]])];
    for (const one of operations) replica.edit(one);
    const sent = asked > 0 ? replica.message(() => "t", asked) : null;
    const before = replica.called();
    const log = new Replica("log", new Entities([[KEY, block("a", "")]]));
    const items: LogEntry[] = [itemOf(1, "theirs", put("theirs", "http"))];
    if (sent !== null && committed > 0) items.push(itemOf(2, sent.tag, put("mine", "http_2"), ...(committed > 1 ? [["set", KEY, PATH, "<http.body>"] as const] : [])));
    for (const item of items) log.hear(item);
    const again = new Replica("me", new Entities());
    [again.n, again.sent, again.unsent] = [replica.n, replica.sent, replica.unsent];
    again.stacks.undos = replica.stacks.undos;
    again.resume(log.confirmed, items, before);
    assert.equal(textOf(again), "<http_2.body>", `${asked} in flight, ${committed} committed`);
  }
});

test("a reference written offline follows the name that its block gets after the tab was closed", async () => {
  const shared = new SharedDraft(new Dice(1));
  const browser = new Browser(shared.clock);
  const [ann, bo] = [await shared.seat("ann", browser), await shared.seat("bo")];
  const http = (key: string): Operation => operation([["put", key, block("http", "")]]);
  ann.isCut = true;
  ann.session.edit(http("block/mine"));
  ann.session.edit(operation([["splice", "block/b", PATH, 0, 0, "<http.body> "]]), { typed: true });
  await shared.clock.pass(100);
  ann.die();
  bo.session.edit(http("block/theirs"));
  await shared.clock.pass(1_000);
  const again = await shared.seat("ann", browser, ann.machine.remembered());
  await shared.clock.pass(2_000);
  assert.equal(at(again.view.get("block/mine"), ["id"]), "http_2");
  assert.equal(at(again.view.get("block/b"), PATH), "<http_2.body> score <order.id>");
  for (const desk of [again, bo]) assert.equal(stateOf(desk.view), stateOf(shared.log.state()));
});
