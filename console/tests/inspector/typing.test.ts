import assert from "node:assert/strict";
import { test } from "node:test";
import { differences, middle } from "../../src/editing/values/differences.ts";
import { begun, renewed, typing, type Place, type Typed } from "../../src/inspector/typing.ts";
import { decoded, Digits, encoded, type Value } from "../../src/editing/values/encoding.ts";
import { print, read, Unreadable } from "../../src/source/yaml.ts";
import { operation } from "../../src/editing/log/operations.ts";
import { readJson } from "../../src/editing/values/json.ts";
import { Entities } from "../../src/editing/state.ts";
import { Replica } from "../../src/editing/replica/replica.ts";
import { at, object, type Json } from "../../src/editing/values/values.ts";
import { Dice } from "../dice.ts";

const PLACE: Place = { key: "block/b", path: ["with"], hidden: new Set() };

function fresh(): () => string {
  let count = 0;
  return () => `i${(count += 1)}`;
}

function replica(given: Json): Replica {
  return new Replica("me", new Entities([["block/b", object([["id", "b"], ["type", "http"], ["parent", null], ["order", "V"], ["with", given]])]]));
}

const held = (one: Replica): Json | undefined => at(one.view.get("block/b"), ["with"]);

/** Types a text as a person would: the value after it. */
function type(one: Replica, typed: Typed, text: string): Typed {
  const made = typing(typed, text, held(one), PLACE, fresh());
  if (made.operation !== null) assert.equal(one.edit(made.operation), true);
  return renewed(made.typed, held(one), PLACE.hidden);
}

const FIXED = `url: https://example.com/<order.id>
"1": first
"0": second
headers:
  X-Key: "yes"
  n: 1.0
  big: 123456789012345678901
  e: 1e+99
empty: {}
none: null
"on": true
messages:
  - role: user
    content: |
      two
      lines
  - text
numbers: [1, 2.5, -3]
`;

test("text and value are the same, there and back, with keys in their order and digits as they were", () => {
  const value = encoded(read(FIXED), fresh());
  assert.equal(print(decoded(value)), FIXED);
  assert.deepEqual([...(value as ReadonlyMap<string, Json>).keys()].slice(0, 3), ["url", "1", "0"]);
  assert.deepEqual(at(value, ["headers", "n"]), object([["#", "1.0"]]));
  assert.deepEqual(readJson('{"a": 1.0}'), object([["a", object([["#", "1.0"]])]]));
});

test("what is printed is read as the same, whatever a text looks like", () => {
  const texts = ["", " a", "a ", "1", "-0", "1e+21", "true", "null", "~", "yes", "on", "2026-01-01", "1:30", "0x1f", "- a", "a: b", "a #b", "#x", "&a", "*b", "!t", "%x", "@x", "{a", "[a",
    "a\nb", "a\n", "\n", " lead\nx", "tab\tx", "it's", "\u0000", "\u2028", "a".repeat(300), "word ".repeat(60), "? x", "---", "=", "<<", ".inf", "1_000", "x\r\ny", "<a.b> and ${X}"];
  const numbers = [0, -5, 1.5, 1e21, 1e-7, ...["1.0", "12345678901234567890", "1e99", "1E5", "2.50"].map((digits) => new Digits(digits))];
  for (const text of texts) {
    for (const value of [text, [text], new Map([[text, text]]), new Map([["k", new Map([[text, [text, text]]])]])]) assert.deepEqual(read(print(value)), value);
  }
  for (const number of numbers) assert.deepEqual(read(print(new Map([["k", number]]))), new Map([["k", number]]));
});

test("an anchor is what stood there before; one that is unknown, or holds itself, is said", () => {
  assert.deepEqual(read("a: &x {b: 1}\nc: *x\nd: *x"), new Map(["a", "c", "d"].map((key) => [key, new Map([["b", 1]])])));
  for (const text of ["a: *x", "a: &x [*x]"]) assert.throws(() => read(text), Unreadable);
  assert.throws(() => read(`a: &a [x]\n${Array.from({ length: 9 }, (_, n) => `${"bcdefghij"[n] ?? ""}: &${"bcdefghij"[n] ?? ""} [${"*".concat("abcdefghi"[n] ?? "", ", ").repeat(9)}]`).join("\n")}`), /too many values/);
});

test("a text that is no YAML says where", () => {
  for (const [text, line] of [["a: [1", null], ["a: 1\na: 2", 2], ["a: b: c", 1], ['a: 1\nb: "\\ud800"', 2], ['"\\udc00x": 1', 1]] as const) {
    assert.throws(() => read(text), (error) => error instanceof Unreadable && (line === null || error.line === line));
  }
});

test("a letter that is typed is one splice of its text, at its place", () => {
  const one = replica(object([["url", "http://a"], ["body", object([["x", 1]])]]));
  const made = typing(begun(held(one), PLACE.hidden), "url: http://ab\nbody:\n  x: 1", held(one), PLACE, fresh());
  assert.deepEqual(made.operation?.writes, [["splice", "block/b", ["with", "url"], 8, 0, "b"]]);
  assert.deepEqual(middle("a😀c", "a😀😁c"), [2, 0, "😁"]);
});

test("a key that is added stands where it was typed; one that is removed is unset; another order is written", () => {
  const one = replica(object([["a", 1], ["c", 3]]));
  assert.deepEqual(differences("k", [], held(one), read("a: 1\nb: 2\nc: 3"), fresh()), [["set", "k", ["b"], 2, "c"]]);
  assert.deepEqual(differences("k", [], held(one), read("c: 3"), fresh()), [["unset", "k", ["a"]]]);
  const typed = type(one, begun(held(one), PLACE.hidden), "c: 3\na: 1\nb: {x: [y]}");
  assert.equal(typed.fault, null);
  assert.deepEqual(decoded(held(one) ?? null), read("c: 3\na: 1\nb: {x: [y]}"));
});

test("an item of a list that changes keeps its key, one in the middle goes alone", () => {
  const before = encoded(read("- a\n- b\n- c"), fresh());
  assert.deepEqual(differences("k", ["l"], before, read("- a\n- bb\n- c"), fresh()), [["splice", "k", ["l", "[]", "i2", "is"], 1, 0, "b"]]);
  assert.deepEqual(differences("k", ["l"], before, read("- a\n- c"), fresh()), [["unset", "k", ["l", "[]", "i2"]]]);
  const [write] = differences("k", ["l"], before, read("- a\n- b\n- x\n- c"), () => "new");
  assert.deepEqual(write?.slice(0, 3), ["set", "k", ["l", "[]", "new"]]);
});

test("any value becomes any other one by the writes", () => {
  const dice = new Dice(11);
  const value = (depth: number): Value => {
    const kind = dice.below(depth > 2 ? 4 : 6);
    if (kind === 0) return dice.one(["", "text", "<a.b> 😀", "yes", "1"]);
    if (kind === 1) return dice.one([0, 1, -2.5, null, true, false]);
    if (kind === 2) return Array.from({ length: dice.below(4) }, () => dice.one(["a", "b", "c"]));
    if (kind === 3) return Array.from({ length: dice.below(3) }, () => dice.below(9));
    if (kind === 4) return Array.from({ length: dice.below(4) }, () => new Map([[dice.one(["a", "b"]), value(depth + 1)]]));
    return mapping(depth + 1);
  };
  const mapping = (depth: number): ReadonlyMap<string, Value> =>
    new Map(Array.from({ length: dice.below(5) }, () => [dice.one(["a", "b", "c", "1", "0", "[]", "#", "__proto__"]), value(depth)]));
  for (let round = 0; round < 2_000; round += 1) {
    let keys = 0;
    const word = (): string => `r${round}k${(keys += 1)}`;
    const [from, to] = [mapping(0), mapping(0)];
    const one = replica(encoded(from, word));
    const writes = differences("block/b", ["with"], held(one), to, word);
    if (writes.length > 0) one.edit(operation(writes));
    assert.equal(print(decoded(held(one) ?? null)), print(to), `round ${round}`);
  }
});

test("what others change while a text does not parse is kept when it parses again", () => {
  const one = replica(object([["url", "abc"], ["method", "GET"]]));
  let typed = type(one, begun(held(one), PLACE.hidden), "url: abcd\nmethod: [");
  assert.match(typed.fault ?? "", /Line \d/);
  one.edit(operation([["splice", "block/b", ["with", "url"], 0, 0, "X"]]));
  typed = renewed(typed, held(one), PLACE.hidden);
  assert.equal(typed.text, "url: abcd\nmethod: [");
  typed = type(one, typed, "url: abcd\nmethod: PUT");
  assert.deepEqual(decoded(held(one) ?? null), read("url: Xabcd\nmethod: PUT"));
  assert.equal(typed.text, "url: Xabcd\nmethod: PUT");
});

test("a text stays as it was typed, with its comments, while it means the value", () => {
  const one = replica(object([["a", 1]]));
  const typed = type(one, begun(held(one), PLACE.hidden), "# why\na:   2");
  assert.equal(typed.text, "# why\na:   2");
  assert.equal(at(held(one), ["a"]), 2);
  one.edit(operation([["set", "block/b", ["with", "a"], 3]]));
  assert.equal(renewed(typed, held(one), PLACE.hidden).text, "a: 3");
});

test("parameters of a node that has none are made by the first name, and none by an empty text", () => {
  const one = new Replica("me", new Entities([["block/b", object([["id", "b"], ["type", "http"], ["parent", null], ["order", "V"]])]]));
  assert.equal(typing(begun(undefined, PLACE.hidden), "  ", undefined, PLACE, fresh()).operation, null);
  type(one, begun(undefined, PLACE.hidden), "url: x");
  assert.deepEqual(held(one), object([["url", "x"]]));
});

test("fields that are edited elsewhere are neither shown nor touched", () => {
  const hidden = new Set(["id", "type"]);
  const value = object([["id", "b"], ["type", "http"], ["retry", object([["attempts", 3]])]]);
  assert.equal(begun(value, hidden).text, "retry:\n  attempts: 3");
  const made = typing(begun(value, hidden), "timeout_ms: 5", value, { key: "block/b", path: [], hidden }, fresh());
  assert.deepEqual(made.operation?.writes, [["unset", "block/b", ["retry"]], ["set", "block/b", ["timeout_ms"], 5]]);
});

test("a field that is new in the document stands before its nodes, which the person does not see", () => {
  const hidden = new Set(["id", "nodes"]);
  const doc = object([["id", "refunds"], ["nodes", null]]);
  const one = new Replica("me", new Entities([["doc", doc]]));
  const place: Place = { key: "doc", path: [], hidden };
  let typed = begun(doc, hidden);
  for (const text of ["name: Refunds", "name: Refunds\nvariables:", "name: Refunds\nvariables:\n  status: pending"]) {
    const made = typing(typed, text, one.view.get("doc"), place, fresh());
    if (made.operation !== null) assert.equal(one.edit(made.operation), true);
    typed = renewed(made.typed, one.view.get("doc"), hidden);
  }
  assert.deepEqual([...(one.view.get("doc") ?? new Map<string, Json>()).keys()], ["id", "name", "variables", "nodes"]);
});
