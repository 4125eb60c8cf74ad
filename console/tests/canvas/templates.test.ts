import assert from "node:assert/strict";
import { test } from "node:test";
import { add } from "../../src/canvas/actions/adding.ts";
import { removeMessage, renameMessage, messageNames, nameFault } from "../../src/inspector/forms/declared.ts";
import { operation } from "../../src/editing/log/operations.ts";
import { at, object, type Json } from "../../src/editing/values/values.ts";
import { Alone, block, counted, USUAL } from "./drafts.ts";

const asked = (name: string) => ({ kind: { name, container: false }, parent: null });
const held = (draft: Alone, key: string, ...path: string[]): Json | undefined => at(draft.replica.view.get(key), path);
const declares = (draft: Alone, ...names: string[]): boolean => draft.edit(operation([["set", "doc", ["messages"], object(names.map((name) => [name, object([])]))]]));

test("a node that receives waits for the first message, which is declared where there is none", () => {
  const [bare, declared] = [new Alone(), new Alone()];
  assert.equal(bare.edit(add(bare.replica.view, asked("receive"), counted()).operation), true);
  assert.deepEqual([held(bare, "block/k1", "with", "message"), messageNames(bare.replica.view)], ["update", ["update"]]);
  assert.equal(bare.undo(), true);
  assert.deepEqual([bare.replica.view.has("block/k1"), messageNames(bare.replica.view)], [false, []], "one undo takes back both");
  declares(declared, "payment", "gone");
  assert.equal(declared.edit(add(declared.replica.view, asked("receive"), counted()).operation), true);
  assert.deepEqual([held(declared, "block/k1", "with", "message"), messageNames(declared.replica.view)], ["payment", ["payment", "gone"]]);
});

test("a node that sends names this workflow, a key and a message", () => {
  const draft = new Alone();
  draft.edit(add(draft.replica.view, asked("send"), counted()).operation);
  assert.deepEqual(["workflow", "key", "message"].map((name) => held(draft, "block/k1", "with", name)), ["w", "<run.id>", "update"]);
});

test("a node begins with parameters that hold, and with a name that references do not reserve", () => {
  const begun = (kind: string): readonly [id: Json | undefined, given: Json | undefined] => {
    const draft = new Alone();
    assert.equal(draft.edit(add(draft.replica.view, asked(kind), counted()).operation), true);
    return [held(draft, "block/k1", "id"), held(draft, "block/k1", "with")];
  };
  assert.deepEqual(begun("loop"), ["each", object([["items", "[1, 2, 3]"]])]);
  assert.deepEqual(begun("parallel")[0], "all");
  assert.deepEqual(begun("workflow"), ["child", undefined]);
  assert.deepEqual(begun("webhook"), ["webhook", object([["path", "/w"]])]);
  assert.deepEqual(begun("approval"), ["approval", object([["message", "Approve this request?"]])]);
  assert.deepEqual(begun("function"), ["function", undefined], "which one only the author knows");
});

test("another name of a message is that in the nodes that wait for it, and where it cancels", () => {
  const draft = new Alone([...USUAL, block("r", "receive", { with: object([["message", "pay"]]) }), block("s", "http", { with: object([["message", "pay"]]) })]);
  declares(draft, "pay", "gone");
  draft.edit(operation([["set", "doc", ["cancel_on"], object([["[]", object([["V", object([["order", "V"], ["is", "pay"]])]])]])]]));
  const renamed = renameMessage(draft.replica.view, "pay", "payment", counted());
  assert.ok(renamed !== null);
  assert.equal(draft.edit(renamed), true);
  assert.deepEqual(messageNames(draft.replica.view), ["payment", "gone"]);
  assert.deepEqual([held(draft, "block/r", "with", "message"), held(draft, "block/s", "with", "message")], ["payment", "pay"]);
  assert.ok(JSON.stringify([...draft.replica.view.get("doc")?.keys() ?? []]).includes("cancel_on"));
  assert.equal(renameMessage(draft.replica.view, "nobody", "x", counted()), null);
  assert.equal(draft.edit(removeMessage(draft.replica.view, "payment", counted())), true);
  assert.deepEqual([messageNames(draft.replica.view), held(draft, "doc", "cancel_on")], [["gone"], undefined]);
  assert.equal(held(draft, "block/r", "with", "message"), "payment", "its node stays, and is told of it");
});

test("a message has a name like that of a node", () => {
  assert.equal(nameFault("payment", ["gone"]), null);
  for (const name of ["", "2", "a b", "gone", "x".repeat(65)]) assert.notEqual(nameFault(name, ["gone"]), null, name);
});
