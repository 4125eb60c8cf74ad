import assert from "node:assert/strict";
import { test } from "node:test";
import { foldsTo, tokens } from "../../src/panes/text/yaml.ts";

function read(text: string): string[] {
  return tokens(text).filter(({ tone }) => tone !== "mark").map(({ from, to, tone }) => `${tone} ${text.slice(from, to)}`);
}

test("keys, comments, and values that are no texts", () => {
  const text = "# whole\nid: refund # of the line\nnodes:\n  a b: {x: 1, \"y z\": 'no: 3', w: true}\n  - k: 2.5e3\n  url: https://a.b/#c?x:y\n  n: null\n  t: 12 apples\n";
  assert.deepEqual(read(text), [
    "comment # whole", "key id", "comment # of the line", "key nodes", "key a b", "key x", "number 1", "key \"y z\"", "key w", "number true", "key k", "number 2.5e3",
    "key url", "key n", "number null", "key t",
  ]);
});

test("a block of text, and one in quotes over several lines, have no keys", () => {
  assert.deepEqual(read("code: |\n  a: 1\n\n  # no comment\nb: 2\n"), ["key code", "key b", "number 2"]);
  assert.deepEqual(read("t: \"one\n  b: 1 \\\" x: 2\n  c\"\nd: 3"), ["key t", "key d", "number 3"]);
});

test("JSON is read as well", () => {
  assert.deepEqual(read("{\n  \"a\": [1, false, \"x: y\"],\n  \"b\": {}\n}"), ["key \"a\"", "number 1", "number false", "key \"b\""]);
});

test("every offset is in the text, in order, for half-written texts too", () => {
  const text = "a: [1, {b: 'x\n  y': \"\n- ? : , ]]]\n> |\n&a *b !t {{ <x.y> }}\n";
  for (let length = 0; length <= text.length; length += 1) {
    let last = 0;
    for (const { from, to } of tokens(text.slice(0, length))) {
      assert.ok(from >= last && to > from && to <= length);
      last = to;
    }
  }
});

test("what stands deeper folds, and a list under its key", () => {
  const lines = "a:\n  b: 1\n\n  c:\n  - x\n  - y\nd: 2\n\n".split("\n");
  const folds = (number: number): number => foldsTo(number, lines.length, (one) => lines[one - 1] ?? "");
  assert.deepEqual([1, 2, 4, 7].map(folds), [6, 2, 6, 7]);
});
