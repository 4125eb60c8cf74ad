import assert from "node:assert/strict";
import { test } from "node:test";
import { faultsOf, formOf, typedOf, valueOf } from "../../src/ui/schema_fields.ts";

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
  assert.deepEqual(valueOf(FIELDS, typed), { amount: 7, note: "12", sure: true, currency: "USD", rest: { b: [1] } });
  assert.deepEqual(valueOf(FIELDS, new Map([["amount", "seven"], ["rest", "{"]])), { amount: "seven", rest: "{" });
  for (const given of ["1.5", "12345678901234567890", "true"]) assert.deepEqual(valueOf(FIELDS, new Map([["amount", given]])), { amount: given });
});

test("a value comes back into the fields, unless they cannot show it", () => {
  const value = { amount: 7, note: "x", sure: false, currency: "USD", rest: { b: 1 } };
  assert.deepEqual(valueOf(FIELDS, typedOf(FIELDS, value) ?? new Map()), value);
  for (const other of [{ more: 1 }, { note: 5 }, { note: "" }, [], null, 3]) assert.equal(typedOf(FIELDS, other), null);
});

test("a refusal stands at its field", () => {
  const faults = faultsOf(["amount: 0 is less than the minimum of 1", "\"currency\" is a required property", "rest.a[0]: no", "Additional properties are not allowed"], FIELDS);
  assert.deepEqual([...faults.byField], [["amount", "0 is less than the minimum of 1"], ["currency", "This is required."], ["rest", ".a[0]: no"]]);
  assert.deepEqual(faults.whole, ["Additional properties are not allowed"]);
});
