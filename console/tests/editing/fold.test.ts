import assert from "node:assert/strict";
import { test } from "node:test";

import type { Effect, Entity } from "../../src/editing/log/effects.ts";
import { apply, fold } from "../../src/editing/fold.ts";
import { readJson, writeJson } from "../../src/editing/values/json.ts";
import { childrenOf, Entities, endsAt, namedIn, tieOf, type State } from "../../src/editing/state.ts";
import { EMPTY, isObject } from "../../src/editing/values/values.ts";
import { Dice } from "../dice.ts";

const entity = (text: string): Entity => {
  const read = readJson(text);
  assert.ok(isObject(read));
  return read;
};

const CASES: [name: string, effect: Effect, after: string | null][] = [
  ["a value is replaced in its place", ["set", "doc", ["b"], 9], '{"a":"wörld😀!","b":9,"c":{"1":true}}'],
  ["a new key stands last", ["set", "doc", ["d"], null], '{"a":"wörld😀!","b":2,"c":{"1":true},"d":null}'],
  ["a new key stands before the one named", ["set", "doc", ["d"], 1, "b"], '{"a":"wörld😀!","d":1,"b":2,"c":{"1":true}}'],
  ["before a key that is gone it stands last", ["set", "doc", ["d"], 1, "x"], '{"a":"wörld😀!","b":2,"c":{"1":true},"d":1}'],
  ["objects are made on the way", ["set", "doc", ["c", "x", "y"], 1], '{"a":"wörld😀!","b":2,"c":{"1":true,"x":{"y":1}}}'],
  ["what is made on the way takes the place", ["set", "doc", ["x", "y"], 1, "b"], '{"a":"wörld😀!","x":{"y":1},"b":2,"c":{"1":true}}'],
  ["no step goes through what is no object", ["set", "doc", ["b", "x"], 1], null],
  ["a path without steps is nothing", ["set", "doc", [], entity("{}")], null],
  ["keys of JavaScript are keys", ["set", "doc", ["__proto__", "constructor"], 1], '{"a":"wörld😀!","b":2,"c":{"1":true},"__proto__":{"constructor":1}}'],
  ["a key is taken out", ["unset", "doc", ["c", "1"]], '{"a":"wörld😀!","b":2,"c":{}}'],
  ["what is not there is not taken out", ["unset", "doc", ["c", "2", "3"]], null],
  ["offsets count code points", ["splice", "doc", ["a"], 5, 2, "?"], '{"a":"wörld?","b":2,"c":{"1":true}}'],
  ["an offset behind the end is the end", ["splice", "doc", ["a"], 99, 2, "?"], '{"a":"wörld😀!?","b":2,"c":{"1":true}}'],
  ["only a text is spliced", ["splice", "doc", ["b"], 0, 0, "x"], null],
  ["a whole entity is put", ["put", "doc", entity('{"z":1}')], '{"z":1}'],
  ["an entity that is not there is not changed", ["set", "block/x", ["id"], "a"], null],
];

for (const [name, effect, after] of CASES) {
  test(name, () => {
    const start = '{"a":"wörld😀!","b":2,"c":{"1":true}}';
    const state = new Entities([["doc", entity(start)]]);
    const seen = fold(state, [effect]);
    assert.equal(writeJson(state.get("doc") ?? null), start);
    apply(state, [effect]);
    for (const one of [state, seen]) {
      assert.equal(writeJson(one.get("doc") ?? null), after ?? start);
      assert.equal(one.has("block/x"), false);
    }
  });
}

/** What the indexes must say, from the entities alone. */
function sought(state: State, label: string): string[] {
  const found: string[] = [];
  for (const key of state.keys()) {
    const one = state.get(key) ?? EMPTY;
    const held = key.startsWith("block/")
      ? [childrenOf(one.get("parent")), namedIn(one.get("parent"), one.get("id"))]
      : [endsAt(one.get("source")), endsAt(one.get("target")), tieOf(one)];
    if (held.includes(label)) found.push(key);
  }
  return found.sort();
}

test("indexes of a draft and of layers over it are those of its entities", () => {
  const dice = new Dice(1);
  for (let round = 0; round < 40; round += 1) {
    const names = ["a", "b", "c", null];
    const random = (): Effect => {
      const key = `${dice.one(["block", "edge"])}/${dice.below(5)}`;
      if (dice.below(4) === 0) return ["del", key];
      if (dice.below(3) === 0) return ["set", key, [dice.one(["id", "parent", "source", "target"])], dice.one(names)];
      const fields = key.startsWith("block") ? ["id", "parent"] : ["source", "target", "param"];
      return ["put", key, new Map(fields.map((field) => [field, dice.one(names)]))];
    };
    const draft = new Entities();
    apply(draft, Array.from({ length: 10 }, random));
    const layers = [fold(draft, Array.from({ length: 6 }, random))];
    const top = fold(layers[0] ?? draft, Array.from({ length: 6 }, random));
    for (const state of [draft, ...layers, top]) {
      for (const name of names) {
        for (const label of [childrenOf(name), endsAt(name), ...names.map((id) => namedIn(name, id))]) {
          assert.deepEqual(state.found(label), sought(state, label));
        }
      }
      for (const key of state.keys()) {
        const label = tieOf(state.get(key) ?? EMPTY);
        assert.deepEqual(state.found(label), sought(state, label));
      }
    }
  }
});
