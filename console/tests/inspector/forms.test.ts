import assert from "node:assert/strict";
import { test } from "node:test";
import { kindsRead, workflowRead, type Kind } from "../../src/canvas/model/kinds.ts";
import type { Graph } from "../../src/canvas/model/graph.ts";
import { readJson } from "../../src/editing/values/json.ts";
import { Replica } from "../../src/editing/replica/replica.ts";
import { Entities } from "../../src/editing/state.ts";
import { at, object, type Json } from "../../src/editing/values/values.ts";
import { entering, numberOf, scalarOf, shownScalar } from "../../src/inspector/forms/entering.ts";
import { fieldsOf, fits, isReference, settingsOf, takesReferences, variantOf, type Field } from "../../src/inspector/forms/fields.ts";
import { inside, placedIn, within } from "../../src/inspector/forms/placing.ts";
import { decoded, Digits, type Value } from "../../src/editing/values/encoding.ts";
import type { Finding } from "../../src/wire/draft/open_draft.ts";

const DURATION = { type: "string", examples: ["90s", "15m"], pattern: "^x" };
const SCALAR = { anyOf: [{ type: "string" }, { type: "integer" }, { type: "number" }, { type: "boolean" }] };

/** A kind as `GET /kinds` has it. */
function kind(properties: object, parts: object = {}, more: object = {}): Kind {
  const written = JSON.stringify({ kinds: [{ name: "k", summary: "", exits: [], schema: { type: "object", properties, ...more }, parts }] });
  const made = kindsRead(readJson(written)).get("k");
  assert.ok(made);
  return made;
}

function field(schema: object, part = "template", more: object = {}): Field {
  const [made] = fieldsOf(kind({ x: schema }, { x: part }, more));
  assert.ok(made);
  return made;
}

test("required fields come first, each group in the order of its schema, with its help and its default", () => {
  const fields = fieldsOf(kind({ method: { enum: ["GET", "PUT"], default: "GET", description: "The method." }, url: { type: "string", maxLength: 8000 }, body: {} }, {}, { required: ["url"] }));
  assert.deepEqual(fields.map(({ name, required, control, ghost, about }) => [name, required, control, ghost, about]), [
    ["url", true, "text", "", ""], ["method", false, "choice", "GET", "The method."], ["body", false, "any", "", ""],
  ]);
});

test("each form of a schema has its control", () => {
  const controls: [object, string][] = [
    [{ type: "string", maxLength: 100 }, "text"], [{ type: "string", minLength: 1 }, "text"], [{ type: "string" }, "lines"], [{ type: "string", maxLength: 100_000 }, "lines"],
    [{ anyOf: [DURATION, { type: "null" }] }, "duration"], [{ type: "integer" }, "whole"], [{ anyOf: [{ type: "number" }, { type: "null" }] }, "number"], [{ type: "boolean" }, "check"],
    [{ enum: ["a", "b"] }, "choice"], [{ anyOf: [{ type: "string", enum: ["a"] }, { type: "array", items: { type: "string" } }] }, "choice"],
    [{ type: "array", items: DURATION }, "texts"], [{ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }, { type: "null" }] }, "texts"],
    [{ anyOf: [{ type: "string" }, { type: "integer" }, { type: "null" }] }, "scalar"], [{ type: "object", patternProperties: { "^[a-z]+$": SCALAR } }, "map"],
    [{ type: "object", additionalProperties: true, propertyNames: { minLength: 1 } }, "map"], [{ type: "object", additionalProperties: { anyOf: [{ type: "object" }, { type: "boolean" }] } }, "any"],
    [{ type: "object", additionalProperties: true }, "any"], [{ type: "array", items: { $ref: "#/$defs/Message" } }, "any"], [{}, "any"],
    [{ type: "object", properties: { a: { type: "string" } } }, "object"], [{ anyOf: [{ type: "integer" }, { type: "array", items: { type: "integer" } }] }, "any"],
  ];
  for (const [schema, control] of controls) assert.equal(field(schema).control, control, JSON.stringify(schema));
  assert.equal(field({ anyOf: [{ type: "string" }, { type: "integer" }] }, "expression").control, "expression");
  assert.equal(field({ type: "object", additionalProperties: { type: "string" } }, "cases").control, "cases");
});

test("an object of several forms has a variant for each, which is known by its required fields", () => {
  const auth = field({ anyOf: [{ const: "none", type: "string" }, { $ref: "#/$defs/Hmac" }, { $ref: "#/$defs/Signed" }], default: "none" }, "template", {
    $defs: {
      Hmac: { title: "Hmac", type: "object", properties: { hmac: { type: "string", minLength: 1 } }, required: ["hmac"] },
      Signed: { title: "Signed", type: "object", properties: { scheme: { enum: ["github"] }, secret: { type: "string" } }, required: ["scheme", "secret"] },
    },
  });
  assert.equal(auth.control, "variants");
  assert.deepEqual(auth.variants.map(({ name, fields }) => [name, fields.map((one) => one.name)]), [["none", []], ["hmac", ["hmac"]], ["signed", ["scheme", "secret"]]]);
  for (const [value, name] of [["none", "none"], [object([["hmac", "x"]]), "hmac"], [object([["scheme", "github"], ["secret", "x"]]), "signed"], [object([["bearer", "x"]]), undefined], [3, undefined]] as const) {
    assert.equal(variantOf(auth, value)?.name, name);
  }
});

test("a value that a control cannot show is left to YAML, and one with a reference to an expression", () => {
  const list: Json = object([["[]", object([["a", object([["order", "V"], ["is", "one"]])]])]]);
  for (const [schema, shown, not] of [
    [{ type: "string" }, "x", 3], [{ type: "integer" }, object([["#", "1.0"]]), true], [{ type: "boolean" }, false, "true"], [{ enum: ["a"] }, "b", 3],
    [{ type: "array", items: { type: "string" } }, list, object([])], [{ type: "object", patternProperties: { x: SCALAR } }, object([]), list],
  ] as const) {
    assert.equal(fits(field(schema), shown), true, JSON.stringify(schema));
    assert.equal(fits(field(schema), not), false, JSON.stringify(schema));
    assert.equal(fits(field(schema), undefined), true);
  }
  for (const text of ["<a.b>", "x <a[0].b!> y", "${NAME}", "{{ 1 }}"]) assert.equal(isReference(text), true, text);
  for (const text of ["a < b", "<div", "</a>", "x<y", "$NAME", 3]) assert.equal(isReference(text), false, String(text));
  assert.deepEqual([takesReferences(field({ type: "integer" })), takesReferences(field({ type: "integer" }, "literal"))], [true, false]);
});

// -- what is entered -------------------------------------------------------------------------------------------------------------

const SPOT = { key: "block/b", path: ["with", "url"] };

function replica(given: Json): Replica {
  return new Replica("me", new Entities([["block/b", object([["id", "b"], ["type", "http"], ["parent", null], ["order", "V"], ["with", given]])]]));
}

function enter(one: Replica, base: Json | undefined, wanted: Value | undefined): void {
  const now = at(one.view.get("block/b"), SPOT.path);
  const made = entering(SPOT, base, now, wanted, () => "fresh");
  if (made !== null) assert.equal(one.edit(made), true);
}

test("what two people type into one text at once is all kept", () => {
  const one = replica(object([["url", "http://a/b"]]));
  enter(one, "http://a/b", "http://a/b/mine");
  assert.deepEqual(at(one.view.get("block/b"), SPOT.path), "http://a/b/mine");
  enter(one, "http://a/b", "https://a/b"); // of what the other did, this person has seen nothing yet
  assert.deepEqual(at(one.view.get("block/b"), SPOT.path), "https://a/b/mine");
  assert.deepEqual(entering(SPOT, "ab", "ab", "axb", () => "")?.writes, [["splice", "block/b", ["with", "url"], 1, 0, "x"]]);
});

test("a value is set where there is none, another type replaces it, and it is taken out again", () => {
  const one = replica(object([]));
  enter(one, undefined, "x");
  enter(one, "x", 3);
  assert.deepEqual(at(one.view.get("block/b"), SPOT.path), 3);
  enter(one, 3, undefined);
  assert.equal(at(one.view.get("block/b"), SPOT.path), undefined);
  assert.equal(entering(SPOT, undefined, undefined, undefined, () => ""), null);
  assert.equal(entering(SPOT, "x", "x", "x", () => ""), null);
});

test("numbers keep their digits, and what is none is a text", () => {
  assert.deepEqual([numberOf("3", true), numberOf(" 12 ", true), numberOf("3.5", true), numberOf("x", false), numberOf("0.50", false)], [3, 12, null, null, new Digits("0.50")]);
  assert.deepEqual([scalarOf("true"), scalarOf("1"), scalarOf("1.0"), scalarOf("01"), scalarOf("")], [true, 1, new Digits("1.0"), "01", ""]);
  assert.deepEqual([shownScalar(object([["#", "1.0"]])), shownScalar(false), shownScalar(undefined), shownScalar("x")], ["1.0", "false", "", "x"]);
  assert.deepEqual(decoded(object([["#", "1.0"]])), new Digits("1.0"));
});

test("the settings of a node are fields of their own, as its kind offers them", () => {
  const retry = { type: "object", properties: { attempts: { type: "integer", default: 1 }, retry_on: { type: "array", items: { enum: ["timeout", "http_error"] }, default: ["timeout"] } } };
  const vars = { default: "merge-all", oneOf: [{ enum: ["merge-all", "last-write"], type: "string" }, { $ref: "#/$defs/CustomMerge" }] };
  const node = {
    type: "object", $defs: { Retry: retry, CustomMerge: { type: "object", title: "CustomMerge", properties: { custom: { type: "string", maxLength: 9 } }, required: ["custom"] } },
    properties: { label: { type: "string", maxLength: 10_000 }, retry: { $ref: "#/$defs/Retry" }, inputs: { type: "object" }, vars },
  };
  const written = JSON.stringify({ node, kinds: [{ name: "k", settings: ["retry", "label", "vars"] }, { name: "old" }] });
  const kinds = kindsRead(readJson(written));
  const [offered, none] = [kinds.get("k"), kinds.get("old")];
  assert.ok(offered && none);
  const fields = settingsOf(offered.settings);
  assert.deepEqual(fields.map(({ name, control }) => [name, control]), [["label", "text"], ["retry", "object"], ["vars", "variants"]]);
  assert.deepEqual(fields[1]?.fields.map(({ name, control, ghost, choices }) => [name, control, ghost, choices]), [["attempts", "whole", "1", []], ["retry_on", "set", "timeout", ["timeout", "http_error"]]]);
  assert.deepEqual(fields[2]?.variants.map(({ name, word }) => [name, word]), [["merge-all", "merge-all"], ["last-write", "last-write"], ["custom", null]]);
  assert.deepEqual(settingsOf(none.settings), []);
});

test("a finding is at the field that its path leads to, inside of containers too", () => {
  const block = (id: string, parent: string | null): [string, Graph["blocks"] extends ReadonlyMap<string, infer B> ? B : never] => [id, {
    tail: id, id: id.toUpperCase(), type: "http", parent, order: "V", container: false, entry: false, enabled: true, exits: [],
  }];
  const graph: Graph = { blocks: new Map([block("l", null), block("x", "l")]), wires: new Map(), children: new Map(), places: new Map() };
  const start = "nodes.L.with.body.nodes.X";
  assert.deepEqual([within(graph, "x", `${start}.with.url`), within(graph, "x", start), within(graph, "l", "nodes.LL.with"), within(graph, "l", "nodes.L.with.items")], ["with.url", "", "", "with.items"]);
  const finding = (path: string): Finding => ({ code: "c", message: "", mend: "", severity: "error", key: "block/x", path, fix: null });
  const placed = placedIn(graph, "x", [finding(`${start}.with.headers.A`), finding(`${start}.with.head`)]);
  assert.deepEqual(inside(placed, "with.headers").map(({ place }) => place), ["with.headers.A"]);
});

test("the settings of a workflow are fields too; a limit is a number or an object, which mean different things", () => {
  const limit = { type: "object", title: "ConcurrencyDocument", properties: { max: { type: "integer", minimum: 1 }, by: { type: "string", maxLength: 9 } }, required: ["max"] };
  const concurrency = { default: null, anyOf: [{ oneOf: [{ type: "integer", minimum: 1 }, { $ref: "#/$defs/Concurrency" }] }, { type: "null" }] };
  const retention = { anyOf: [{ type: "string", examples: ["30d", "90d"], pattern: "^x" }, { type: "null" }] };
  const workflow = { type: "object", $defs: { Concurrency: limit }, properties: { description: { type: "string", maxLength: 10_000 }, name: { type: "string", maxLength: 10_000 }, concurrency, retention } };
  const fields = settingsOf(workflowRead(readJson(JSON.stringify({ kinds: [], workflow }))));
  assert.deepEqual(fields.map(({ name, control, ghost }) => [name, control, ghost]), [
    ["description", "lines", ""], ["name", "text", ""], ["concurrency", "variants", ""], ["retention", "duration", "such as 30d, 90d"],
  ]);
  const [, , many] = fields;
  assert.ok(many);
  assert.deepEqual([variantOf(many, 3)?.name, variantOf(many, object([["max", 3]]))?.name, variantOf(many, undefined), variantOf(many, "3")], ["a number", "concurrency", null, null]);
  assert.deepEqual([fits(many, 3), fits(many, object([["max", 3]])), fits(many, "3")], [true, true, false]);
  assert.deepEqual(settingsOf(workflowRead(readJson('{"kinds": []}'))), []);
});

test("a kind of a plug-in has the controls that its types give, and YAML where a form would take wrong values", () => {
  const who = { title: "Who", type: "object", properties: { name: { type: "string", description: "Who it is" }, age: { anyOf: [{ type: "integer" }, { type: "null" }] } }, required: ["name"] };
  const fields = fieldsOf(kind({
    level: { $ref: "#/$defs/Level" }, who: { $ref: "#/$defs/Who" }, whos: { type: "object", additionalProperties: { $ref: "#/$defs/Who" } }, lists: { type: "object", additionalProperties: { type: "array", items: { type: "integer" } } },
    counts: { type: "object", additionalProperties: { type: "integer" } }, people: { type: "array", items: { $ref: "#/$defs/Who" } }, "te-xt": { type: "string", default: "x" },
  }, {}, { $defs: { Who: who, Level: { enum: ["low", "high"], type: "string" } }, required: ["who"] }));
  assert.deepEqual(fields.map(({ name, control, ghost }) => [name, control, ghost]), [
    ["who", "object", ""], ["level", "choice", ""], ["whos", "any", ""], ["lists", "any", ""], ["counts", "map", ""], ["people", "any", ""], ["te-xt", "lines", "x"],
  ]);
  assert.deepEqual(fields[0]?.fields.map(({ name, control, about, required }) => [name, control, about, required]), [["name", "lines", "Who it is", true], ["age", "whole", "", false]]);
});
