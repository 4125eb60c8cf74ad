import assert from "node:assert/strict";
import { test } from "node:test";
import { tokens } from "../../src/source/python.ts";

function read(text: string): string[] {
  return tokens(text).map(({ from, to, tone }) => `${tone} ${text.slice(from, to)}`);
}

test("what a person sees of a function", () => {
  assert.deepEqual(read('@workflow("refund")\nasync def refund(order: Order):\n    # risk\n    if order.amount >= 0.2 and not None:\n        return f"{order.id} # no"\n'), [
    "decorator @workflow", 'string "refund"', "keyword async", "keyword def", "name refund", "comment # risk", "keyword if", "number 0.2", "keyword and", "keyword not",
    "constant None", "keyword return", 'string f"{order.id} # no"',
  ]);
});

test("texts end where Python's do", () => {
  assert.deepEqual(read("x = 'it\\'s' + \"\"\"a\n'b' # c\"\"\" + rb'\\n' if a@b else 1_000j"), [
    "string 'it\\'s'", "string \"\"\"a\n'b' # c\"\"\"", "string rb'\\n'", "keyword if", "keyword else", "number 1_000j",
  ]);
  assert.deepEqual(read("x = 'open\ny = \"\"\"open\nz"), ["string 'open", "string \"\"\"open\nz"]);
});

test("names are whole: no keyword inside of one, and letters of other languages", () => {
  assert.deepEqual(read("iffy = import_ + größe.is_in\nclass Größe: pass"), ["keyword class", "name Größe", "keyword pass"]);
});

test("every offset is in the text, in order, for a text that ends anywhere", () => {
  const text = "@a.b\ndef f(x): # c\n    return '''t\n''' + \"q\\\" \" * 1.5e-3\n";
  for (let length = 0; length <= text.length; length += 1) {
    let last = 0;
    for (const { from, to } of tokens(text.slice(0, length))) {
      assert.ok(from >= last && to > from && to <= length);
      last = to;
    }
  }
});
