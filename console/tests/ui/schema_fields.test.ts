import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf, formOf, shapeOf, textsOf, typedOf, valueOf, wholeOf } from "../../src/ui/forms/schema_fields.ts";
import { jsonOf, valueOf as exactOf } from "../../src/wire/exact.ts";

const SCHEMA = {
  type: "object", required: ["amount", "currency"], properties: {
    note: { type: "string", title: "Note", description: "For the customer" }, story: { type: "string", maxLength: 5_000 }, amount: { type: "integer", minimum: 1 },
    share: { type: "number", default: 0.5 }, sure: { type: "boolean" }, currency: { enum: ["EUR", "USD"], default: "EUR" }, rest: { type: "object", default: { a: 1 } },
  },
};
const FIELDS = formOf(SCHEMA) ?? [];

test("each property has its control, required ones first, and defaults are ghosts", () => {
  assert.deepEqual(FIELDS.map(({ name, control, ghost, required }) => [name, control, ghost, required]), [
    ["amount", "whole", "", true], ["note", "text", "", false], ["story", "lines", "", false], ["share", "number", "0.5", false], ["sure", "choice", "", false],
    ["currency", "choice", "EUR", false], ["rest", "json", "{\"a\":1}", false],
  ]);
  assert.deepEqual(FIELDS[1], { name: "note", label: "Note", hint: "For the customer", control: "text", choices: [], ghost: "", required: false });
});

test("what is not an object by its properties has no form", () => {
  for (const schema of [null, undefined, true, [], {}, { type: "array", properties: {} }, { type: "object" }, { $ref: "#/$defs/x" }]) assert.equal(formOf(schema), null);
  assert.deepEqual(formOf({ properties: {} }), []);
});

test("what is typed is a value of its type, and what is empty is left out", () => {
  const typed = new Map([["amount", "7"], ["note", "12"], ["share", " "], ["sure", "true"], ["currency", "\"USD\""], ["rest", "{\"b\": [1]}"]]);
  assert.equal(jsonOf(valueOf(FIELDS, typed)), '{"amount":7,"note":"12","sure":true,"currency":"USD","rest":{"b":[1]}}');
  assert.equal(jsonOf(valueOf(FIELDS, new Map([["amount", "seven"], ["rest", "{"]]))), '{"amount":"seven","rest":"{"}');
  for (const given of ["1.5", "true"]) assert.equal(jsonOf(valueOf(FIELDS, new Map([["amount", given]]))), `{"amount":"${given}"}`);
});

test("a number is sent with the digits that were typed, and comes back into its field with them", () => {
  const exact = '{"amount":12345678901234567890,"share":1.0,"rest":{"b":[1e99,{"#":"1.0"}]}}';
  const typed = new Map([["amount", "12345678901234567890"], ["share", "1.0"], ["rest", '{"b": [1e99, {"#": "1.0"}]}']]);
  assert.equal(jsonOf(valueOf(FIELDS, typed)), exact);
  assert.equal(jsonOf(valueOf(FIELDS, typedOf(FIELDS, exactOf(exact)) ?? new Map())), exact);
});

test("a value comes back into the fields, unless they cannot show it", () => {
  const value = '{"amount":7,"note":"x","sure":false,"currency":"USD","rest":{"b":1}}';
  assert.equal(jsonOf(valueOf(FIELDS, typedOf(FIELDS, exactOf(value)) ?? new Map())), value);
  for (const other of ['{"more":1}', '{"note":5}', '{"note":""}', '{"currency":1.0}', "[]", "null", "3"]) assert.equal(typedOf(FIELDS, exactOf(other)), null, other);
});

test("a refusal stands at its field", () => {
  const faults = faultsOf(["amount: 0 is less than the minimum of 1", "\"currency\" is a required property", "rest.a[0]: no", "Additional properties are not allowed"], FIELDS);
  assert.deepEqual([...faults.byField], [["amount", "0 is less than the minimum of 1"], ["currency", "This is required."], ["rest", ".a[0]: no"]]);
  assert.deepEqual(faults.whole, ["Additional properties are not allowed"]);
});

test("a plain value has one control, which is the whole", () => {
  const text = shapeOf({ type: "string", maxLength: 2_000 }, "data");
  const number = shapeOf({ type: "number" }, "data");
  assert.ok(text !== null && number !== null);
  assert.deepEqual([text.single, text.fields.map(({ name, control }) => [name, control])], [true, [["data", "lines"]]]);
  assert.equal(wholeOf(text, new Map([["data", "call me"]])), "call me");
  assert.equal(jsonOf(wholeOf(number, new Map([["data", "1.50"]]))), "1.50");
  assert.equal(wholeOf(number, new Map()), null);
  assert.deepEqual([...textsOf(number, exactOf("1.50")) ?? []], [["data", "1.50"]]);
  assert.deepEqual([...textsOf(text, null) ?? ["none"]], []);
  assert.equal(textsOf(text, exactOf("[1]")), null);
  for (const schema of [null, true, {}, { type: "array" }, { type: ["string", "null"] }]) assert.equal(shapeOf(schema, "data"), null);
  assert.equal(shapeOf(SCHEMA, "data")?.single, false);
});
