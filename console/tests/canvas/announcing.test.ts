/** What others change is announced: in words, with names, and seldom. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Announcer } from "../../src/canvas/announcing.ts";
import type { Effect } from "../../src/editing/log/effects.ts";
import { apply } from "../../src/editing/fold.ts";
import { Entities, type State } from "../../src/editing/state.ts";
import { object } from "../../src/editing/values/values.ts";

const block = (id: string): ReturnType<typeof object> => object([["id", id], ["type", "http"], ["parent", null], ["order", "V"]]);

class Heard {
  readonly texts: string[] = [];
  now = 0;
  readonly state: Entities;
  readonly announcer: Announcer;

  constructor(...names: string[]) {
    this.state = new Entities([["doc", object([["id", "w"]])], ...names.map((name): [string, ReturnType<typeof object>] => [`block/${name}`, block(name)])]);
    this.announcer = new Announcer((): State => this.state, (text) => this.texts.push(text), () => this.now);
  }

  item(by: string, ...effects: Effect[]): void {
    this.announcer.heard(by, effects);
    apply(this.state, effects);
  }

}

test("a change is said at once, and those of the next five seconds together after them", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const heard = new Heard("score", "pay");
  const pass = (ms: number): void => {
    heard.now += ms;
    context.mock.timers.tick(ms);
  };
  heard.item("key 1 Bo", ["set", "block/score", ["with", "url"], "u"]);
  pass(0);
  assert.deepEqual(heard.texts, ["Bo changed score."]);
  heard.item("key 1 Bo", ["put", "block/wait", block("wait")], ["set", "block/wait", ["enabled"], false]);
  heard.item("key 1 Bo", ["del", "block/pay"]);
  heard.item("key 2 Cy", ["set", "doc", ["name"], "N"], ["put", "note/n", object([["x", 0], ["y", 0]])]);
  pass(4_999);
  assert.equal(heard.texts.length, 1);
  pass(1);
  assert.deepEqual(heard.texts.slice(1), ["Bo added wait; removed pay. Cy added a note; changed the settings of the workflow."]);
});

test("what is only moved is silent, and of many names the first are said", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const heard = new Heard("a", "b", "c", "d", "e");
  heard.item("key 1 Bo", ["put", "place/a", object([["x", 1], ["y", 2]])], ["splice", "text", ["yaml"], 0, 0, "# a"]);
  context.mock.timers.tick(10_000);
  assert.deepEqual(heard.texts, []);
  heard.item("key 1 Bo", ["put", "edge/e", object([["source", "a"], ["target", "b"]])]);
  context.mock.timers.tick(0);
  assert.deepEqual(heard.texts.splice(0), ["Bo changed a."]);
  heard.now = 5_000;
  heard.item("key 1 Bo", ...["a", "b", "c", "d", "e"].map((name): Effect => ["set", `block/${name}`, ["enabled"], false]));
  context.mock.timers.tick(0);
  assert.deepEqual(heard.texts, ["Bo changed a, b, c and 2 more."]);
});
