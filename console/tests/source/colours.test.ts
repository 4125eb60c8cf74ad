import assert from "node:assert/strict";
import { test } from "node:test";
import { scanned, tokensOf } from "../../src/source/text/colours.ts";

function drawn(line: string): string[] {
  return tokensOf(line).tokens.map(({ from, to, mark }) => `${mark}:${line.slice(from, to)}`);
}

test("keys, values, signs and comments of YAML and JSON are told apart", () => {
  assert.deepEqual(drawn("  url: https://example.com/<order.id>#x  # why"), ["key:url", "sign::", "comment:# why"]);
  assert.deepEqual(drawn("- - role: user"), ["sign:- -", "key:role", "sign::"]);
  assert.deepEqual(drawn("times: 3"), ["key:times", "sign::", "value:3"]);
  assert.deepEqual(drawn("enabled: false # off"), ["key:enabled", "sign::", "value:false", "comment:# off"]);
  assert.deepEqual(drawn("\"a # b\": 'x: 1 # no'"), ["key:\"a # b\"", "sign::"]);
  assert.deepEqual(drawn("with: {halt: true, n: -1.5}"), ["key:with", "sign::", "sign:{", "key:halt", "sign::", "value:true", "sign:,", "key:n", "sign::", "value:-1.5", "sign:}"]);
  assert.deepEqual(drawn("lines: [a-1, 2]"), ["key:lines", "sign::", "sign:[", "sign:,", "value:2", "sign:]"]);
  assert.deepEqual(drawn('    "id": "w", "n": 3'), ["key:\"id\"", "sign::", "sign:,", "key:\"n\"", "sign::", "value:3"]);
  for (const line of ["a text: ", "", "plain words", "2026-01-01"]) assert.ok(drawn(line).every((one) => !one.startsWith("value")), line);
});

test("a text of several lines has no colours, whatever it says, also where its beginning is out of sight", () => {
  const lines = ["nodes:", "  ask:", "    prompt: |", "      key: 3  # no", "", "      - 1", "    after: begin"];
  for (const first of [1, 4, 6]) {
    const seen: number[] = [];
    scanned((number) => lines[number - 1] ?? "", first, lines.length, (number, tokens) => { if (tokens.length > 0) seen.push(number); });
    assert.deepEqual(seen, [1, 2, 3, 7].filter((number) => number >= first));
  }
});
