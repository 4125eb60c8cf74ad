import assert from "node:assert/strict";
import { test } from "node:test";
import { answerOf, faultsOf, fieldsOf, verbOf } from "../../src/ui/forms/answer_fields.ts";
import { jsonOf, writtenOf } from "../../src/wire/exact.ts";
import { plainOf } from "../../src/wire/plain.ts";

const SCHEMAS = {
  note: { type: "string", title: "Note" }, story: { type: "string", maxLength: 5_000 }, amount: { type: "integer", default: 3 },
  share: { type: "number" }, sure: { type: "boolean" }, size: { enum: ["s", 2, null] }, rest: { type: "object" }, any: true,
};

test("each schema has its control", () => {
  assert.deepEqual(fieldsOf(SCHEMAS).map(({ control }) => control), ["text", "lines", "whole", "number", "check", "choice", "json", "json"]);
  assert.deepEqual(fieldsOf(SCHEMAS).map(({ label }) => label)[0], "Note");
});

test("what is typed becomes a value of the field's type, and an empty field is left out", () => {
  const typed = new Map([["note", "12"], ["share", "1.5"], ["sure", "true"], ["size", "2"], ["rest", "{\"a\": [1]}"], ["any", ""]]);
  assert.equal(jsonOf(answerOf(fieldsOf(SCHEMAS), typed)), '{"note":"12","amount":3,"share":1.5,"sure":true,"size":2,"rest":{"a":[1]}}');
});

test("what is not of the field's type stays text", () => {
  const said = (schema: Record<string, unknown>, given: string): string => jsonOf(answerOf(fieldsOf({ it: schema }), new Map([["it", given]])));
  for (const given of ["1.5", "x", "true", "1e400"]) assert.equal(said({ type: "integer" }, given), `{"it":"${given}"}`);
  assert.equal(said({ type: "number" }, "[1]"), '{"it":"[1]"}');
  assert.equal(said({}, "{"), '{"it":"{"}');
});

test("a number keeps the digits that were typed", () => {
  const answer = answerOf(fieldsOf({ id: { type: "integer" }, share: { type: "number" }, rest: {} }), new Map([["id", "12345678901234567890"], ["share", "1.0"], ["rest", '{"a": 0.10}']]));
  assert.equal(jsonOf(answer), '{"id":12345678901234567890,"share":1.0,"rest":{"a":0.10}}');
});

test("a default and a choice keep the digits that the author wrote", () => {
  const schemas = plainOf('{"id": {"type": "integer", "default": 12345678901234567890}, "one": {"enum": [9007199254740993, 1.0]}}') as Record<string, unknown>;
  const fields = fieldsOf(schemas);
  assert.equal(jsonOf(answerOf(fields, new Map([["one", writtenOf(fields[1]?.choices[0])]]))), '{"id":12345678901234567890,"one":9007199254740993}');
});

test("a field of any name is a field of the answer's own", () => {
  const answer = answerOf(fieldsOf(JSON.parse("{\"__proto__\": {\"type\": \"string\"}, \"constructor\": {\"type\": \"string\"}}") as Record<string, unknown>), new Map([["__proto__", "a"], ["constructor", "b"]]));
  assert.equal(jsonOf(answer), "{\"__proto__\":\"a\",\"constructor\":\"b\"}");
});

test("violations stand at their field", () => {
  const { whole, byField } = faultsOf(["amount: 0 is too small", "amounts[1]: no", "one field is missing"], fieldsOf({ amount: {}, amounts: {} }));
  assert.deepEqual([...byField], [["amount", "0 is too small"], ["amounts", "[1]: no"]]);
  assert.deepEqual(whole, ["one field is missing"]);
});

test("an exit is a verb where there is one", () => {
  assert.deepEqual(["approved", "rejected", "ask_again", "constructor"].map(verbOf), ["Approve", "Reject", "Ask again", "Constructor"]);
});
