import assert from "node:assert/strict";
import { test } from "node:test";
import { graphOf } from "../../src/canvas/model/graph.ts";
import { object } from "../../src/editing/values/values.ts";
import { bodyOf, entriesOf, keepInputs, keptInputs, namesOf, propertiesOf, schemaOf } from "../../src/testruns/asking.ts";
import { pathOf, testedRead } from "../../src/testruns/store.ts";
import { jsonOf, valueOf } from "../../src/wire/exact.ts";
import { Alone, block, KINDS, USUAL } from "../canvas/drafts.ts";

class Kept {
  readonly held = new Map<string, string>();
  getItem(key: string): string | null { return this.held.get(key) ?? null; }
  setItem(key: string, value: string): void { this.held.set(key, value); }
}

test("the request says only what was chosen", () => {
  const whole = { seq: 7, inputs: valueOf('{"n": 1.0, "id": 12345678901234567890}'), stopAfter: "", fromRun: "run_1", from: "", entry: "", withPins: true };
  assert.equal(jsonOf(bodyOf(whole)), '{"seq":7,"inputs":{"n":1.0,"id":12345678901234567890}}');
  assert.equal(jsonOf(bodyOf({ ...whole, inputs: 1, stopAfter: "b", from: "c", entry: "a", withPins: false })), '{"seq":7,"inputs":1,"pins":{},"stop_after":"b","from_run":"run_1","from":"c","entry":"a"}');
});

test("the form of the inputs is that of the first entry that has one", () => {
  const schema = object([["type", "object"], ["properties", object([["order_id", object([["type", "string"]])]])], ["required", object([["[]", object([["k1", object([["order", "V"], ["is", "order_id"]])]])]])]]);
  const { view } = new Alone([block("a", "manual", { inputs: schema }), block("b", "http")]).replica;
  const graph = graphOf(view, KINDS);
  assert.deepEqual(schemaOf(graph, view), { type: "object", properties: { order_id: { type: "string" } }, required: ["order_id"] });
  assert.deepEqual(propertiesOf(schemaOf(graph, view)), { order_id: { type: "string" } });
  assert.equal(propertiesOf({ type: "array" }), null);
  const none = new Alone().replica.view;
  assert.equal(schemaOf(graphOf(none, KINDS), none), null);
});

test("of several entries one is chosen, what is started by hand first; the form is that of the chosen one", () => {
  const schema = (name: string): ReturnType<typeof object> => object([["type", "object"], ["properties", object([[name, object([["type", "string"]])]])]]);
  const { view } = new Alone([block("a", "manual", { inputs: schema("x") })]).replica;
  assert.deepEqual(entriesOf(graphOf(view, KINDS)), []);
  const two = new Alone([block("a", "other", { inputs: schema("x") }), block("b", "manual", { inputs: schema("y") }), block("c", "manual", { enabled: false })]).replica.view;
  const graph = graphOf(two, new Map([...KINDS, ["other", { ...(KINDS.get("manual") ?? assert.fail()), name: "other" }]]));
  assert.deepEqual(entriesOf(graph), ["b", "a"]);
  assert.deepEqual(["a", "b"].map((entry) => Object.keys(propertiesOf(schemaOf(graph, two, entry)) ?? {})), [["x"], ["y"]]);
});

test("nodes at the top level can be stopped at, and a node in a container has a path", () => {
  const graph = graphOf(new Alone(USUAL).replica.view, KINDS);
  assert.deepEqual(namesOf(graph), ["a", "b", "c", "l"]);
  assert.equal(pathOf(graph, "x"), "x@l");
  assert.equal(pathOf(graph, "a"), "a");
});

test("inputs are kept for each draft", () => {
  const storage = new Kept() as unknown as Storage;
  keepInputs("one", '{"n": 1}', storage);
  assert.equal(keptInputs("one", storage), '{"n": 1}');
  assert.equal(keptInputs("other", storage), null);
  assert.equal(keptInputs("one", null), null);
});

test("a test run is read from a route and from the room alike", () => {
  const [route, openDraft] = [
    testedRead(object([["run_id", "run_1"], ["seq", 3], ["by", "ada"], ["at", "2026-11-22T09:30:00.000Z"]])),
    testedRead(object([["t", "run"], ["run", "run_1"], ["seq", 3], ["by", "ada"], ["at", Date.parse("2026-11-22T09:30:00.000Z")]])),
  ];
  assert.deepEqual(route, openDraft);
});
