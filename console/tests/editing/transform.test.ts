import assert from "node:assert/strict";
import { test } from "node:test";

import { transform } from "../../src/editing/transform.ts";
import type { Effect, Write } from "../../src/editing/log/effects.ts";
import { fold } from "../../src/editing/fold.ts";
import { Entities } from "../../src/editing/state.ts";
import { at, points, spliced } from "../../src/editing/values/values.ts";
import { Dice } from "../dice.ts";

const PATH = ["with", "prompt"];

function edits(dice: Dice, base: string, count: number, first: number): [Effect[], string, number] {
  const made: Effect[] = [];
  let text = base;
  let letter = first;
  for (let index = 0; index < count; index += 1) {
    const start = dice.below(points(text) + 1);
    const removed = dice.one([0, 0, dice.below(points(text) - start + 1)]);
    let typed = "";
    for (let one = dice.below(4); one > 0; one -= 1) typed += String.fromCodePoint(letter++);
    made.push(["splice", "block/a", PATH, start, removed, typed]);
    text = spliced(text, start, removed, typed);
  }
  return [made, text, letter];
}

const effects = (writes: Write[]): Effect[] => writes.filter((one) => one[0] !== "rename");

test("two lists of splices meet in both orders and no letter is lost", () => {
  for (let seed = 0; seed < 5_000; seed += 1) {
    const dice = new Dice(seed);
    const base = Array.from({ length: dice.below(10) }, (_, index) => String.fromCodePoint(dice.one([0x1f600, 0x61]) + index)).join("");
    const start = new Entities([["block/a", new Map([["with", new Map([["prompt", base]])]])]]);
    const [mine, mineText] = edits(dice, base, 1 + dice.below(4), 0x1000);
    const [theirs, theirText] = edits(dice, base, 1 + dice.below(4), 0x20000);
    const [moved, others] = transform(mine, theirs);
    const textOf = (...lists: Effect[][]): string => {
      const text = at(fold(start, lists.flat()).get("block/a"), PATH);
      return typeof text === "string" ? text : assert.fail("no text");
    };
    const one = textOf(theirs, effects(moved));
    assert.equal(one, textOf(mine, effects(others)), `seed ${seed}`);
    const typed = Array.from(mineText + theirText).filter((letter) => !base.includes(letter));
    for (const letter of typed) assert.ok(one.includes(letter), `seed ${seed} lost ${letter}`);
  }
});

const K = "block/a";
const CASES: [name: string, mine: Write[], theirs: Write[], mineAfter: Write[]][] = [
  ["what both remove is removed once", [["splice", K, ["t"], 0, 4, ""]], [["splice", K, ["t"], 2, 4, ""]], [["splice", K, ["t"], 0, 2, ""]]],
  ["at one place the committed text stands first", [["splice", K, ["t"], 1, 0, "b"]], [["splice", K, ["t"], 1, 0, "a😀"]], [["splice", K, ["t"], 3, 0, "b"]]],
  ["a removal around what was typed keeps it", [["splice", K, ["t"], 0, 4, ""]], [["splice", K, ["t"], 2, 0, "xy"]], [["splice", K, ["t"], 0, 2, ""], ["splice", K, ["t"], 2, 2, ""]]],
  ["typing into a text that was replaced is dropped", [["splice", K, ["t"], 1, 0, "b"]], [["set", K, ["t"], "new"]], []],
  ["a value over a value stands, being later", [["set", K, ["t"], 1]], [["set", K, ["t"], 2]], [["set", K, ["t"], 1]]],
  ["other fields do not concern each other", [["set", K, ["t"], 1]], [["unset", K, ["u"]]], [["set", K, ["t"], 1]]],
  ["other entities do not concern each other", [["splice", K, ["t"], 1, 0, "b"]], [["del", "block/b"]], [["splice", K, ["t"], 1, 0, "b"]]],
];

for (const [name, mine, theirs, wanted] of CASES) test(name, () => { assert.deepEqual(transform(mine, theirs)[0], wanted); });

test("lists about different entities cross in a time that grows with their length", () => {
  const list = (prefix: string): Write[] => Array.from({ length: 20_000 }, (_, index) => ["set", `${prefix}/${index}`, ["x"], index]);
  const [mine] = transform(list("place"), list("block"));
  assert.equal(mine.length, 20_000);
});
