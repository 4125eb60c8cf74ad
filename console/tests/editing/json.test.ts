import assert from "node:assert/strict";
import { test } from "node:test";

import { MAX_DEPTH, readJson, writeJson } from "../../src/editing/values/json.ts";
import { at, isObject, same, type Json } from "../../src/editing/values/values.ts";

const KEPT = [
  '{"b":1,"2":2,"1":3,"__proto__":{"constructor":null},"":[]}',
  '[true,false,null,"",-1.5,1e-7,1e+21,9007199254740991]',
  JSON.stringify('"\\\u0000\u2028\ud83d\ude00 \\" '),
  '{"text":"ends with a backslash\\\\","next":"\\"quoted\\""}',
];

for (const text of KEPT) test(`is written as it was read: ${text}`, () => { assert.equal(writeJson(readJson(text)), text); });

test("numbers that a double does not give back keep their digits", () => {
  const digits = ["1.0", "-0", "1e5", "12345678901234567890", "0.10", "1E400"];
  assert.equal(writeJson(readJson(`[${digits.join(", ")}]`)), `[${digits.map((one) => `{"#":"${one}"}`).join(",")}]`);
});

const REFUSED = [
  "", "{", '{"a":1,}', "[1,]", "01", "+1", "nul", "1 2", "'a'", '{"a":1,"a":2}', '"\n"', '"\\x"', '"\\ud800"', '{"\\udc00":1}', '"open', '"\\"',
  "[".repeat(MAX_DEPTH + 2) + "]".repeat(MAX_DEPTH + 2),
];

for (const text of REFUSED) test(`is refused: ${text.slice(0, 20)}`, () => { assert.throws(() => readJson(text), SyntaxError); });

test("a long text is read in one piece", () => {
  const long = "x\"\\".repeat(500_000);
  assert.equal(readJson(JSON.stringify(long)), long);
});

test("a key that an object of JavaScript inherits is not there", () => {
  const read = readJson('{"a":{"b":1}}');
  for (const key of ["__proto__", "constructor", "toString", "length"]) assert.equal(at(read, ["a", key]), undefined);
});

test("values are the same only with their keys in the same order", () => {
  const one = (text: string): Json => readJson(text);
  assert.ok(same(one('{"a":[1,{"b":null}]}'), one('{"a":[1,{"b":null}]}')));
  for (const [left, right] of [['{"a":1,"b":2}', '{"b":2,"a":1}'], ["[1]", "[1,2]"], ["{}", "[]"], ["0", "false"], ['{"a":null}', "{}"]]) {
    assert.ok(!same(one(left ?? ""), one(right ?? "")));
  }
  assert.ok(isObject(one("{}")) && !isObject(one("[]")));
});

test("a long text is read as a short one is", () => {
  const long = `"${"x".repeat(20_000)}"`;
  for (const text of ['{"b":1,"2":2,"1":3}', '{"__proto__":{"a":1}}', "[1.0,-0,1e400,12345678901234567890]", '"\\ud83d\\ude00"', "[ 1 , 2 ]", '{"a":{"1":null}}']) {
    const alone = readJson(text);
    const inside = readJson(`[${long},${text}]`);
    assert.equal(writeJson(inside), `[${long},${writeJson(alone)}]`);
  }
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  for (const text of ['{"a":1,"a":2}', '"\\ud83d"', "{", deep]) assert.throws(() => readJson(`[${long},${text}]`), SyntaxError);
});
