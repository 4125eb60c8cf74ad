import assert from "node:assert/strict";
import { test } from "node:test";
import { ChangeSet, Text } from "@codemirror/state";
import { indentAfter } from "../../src/source/text/newline.ts";
import { changesBetween } from "../../src/source/text/lines.ts";
import { Dice } from "../dice.ts";

const LINES = ["id: refund\n", "nodes:\n", "  a: 1\n", "  # 😀 a comment\n", "\n", "  b: {x: 1}\n", "  a: 2\n", "  # 😁 a comment\n"];

function applied(before: string, after: string): string {
  const doc = Text.of(before.split("\n"));
  return ChangeSet.of(changesBetween(before, after), before.length).apply(doc).toString();
}

test("the changes lead from one text to the other, for 3,000 pairs", () => {
  for (let seed = 0; seed < 3_000; seed += 1) {
    const dice = new Dice(seed);
    const text = (): string => Array.from({ length: dice.below(12) }, () => dice.one(LINES)).join("") + dice.one(["", "end"]);
    const [before, after] = [text(), text()];
    assert.equal(applied(before, after), after, `seed ${seed}`);
  }
});

test("lines that stay are not touched: two edits far from each other are two changes", () => {
  const lines = Array.from({ length: 1_000 }, (_, place) => `line ${place}\n`);
  const after = lines.with(10, "line ten\n").toSpliced(900, 0, "new\n");
  const made = changesBetween(lines.join(""), after.join(""));
  assert.deepEqual(made.map((one) => one.insert), ["ten", "new\n"]);
});

test("no change begins or ends inside of a character", () => {
  assert.deepEqual(changesBetween("a 😀\n", "a 😁\n"), [{ from: 2, to: 4, insert: "😁" }]);
});

test("texts that have little in common are replaced in one piece, and soon", () => {
  const before = Array.from({ length: 5_000 }, (_, place) => `a ${place}\n`).join("");
  const after = Array.from({ length: 5_000 }, (_, place) => `b ${place}\n`).join("");
  assert.equal(changesBetween(before, after).length, 1);
  assert.equal(applied(before, after), after);
});

test("a new line is indented as the one before, and deeper after a key without a value", () => {
  const cases: [string, number][] = [
    ["", 0], ["a: 1", 0], ["  a: 1 # b:", 2], ["  a:", 4], ["  a: # why", 4], ["  a: |", 4], ["    # a note:", 4], ["  - a: 1", 4], ["  - a:", 6], ["  - - x", 6], ["  url: http://x", 2],
  ];
  for (const [line, spaces] of cases) assert.equal(indentAfter(line), " ".repeat(spaces), line);
});
