import assert from "node:assert/strict";
import { test } from "node:test";
import { readJson } from "../../src/editing/values/json.ts";
import { isObject, type JsonObject } from "../../src/editing/values/values.ts";
import { completing } from "../../src/inspector/expressions/completing.ts";
import { PAUSE_MS, Previewing } from "../../src/inspector/expressions/previewing.ts";
import type { Scope } from "../../src/inspector/expressions/scope.ts";
import { isFormula, tokens } from "../../src/inspector/expressions/tokens.ts";

function shape(schema: object): JsonObject {
  const read = readJson(JSON.stringify(schema));
  assert.ok(isObject(read));
  return read;
}

const TEXT = { type: "string", examples: ["a-1"] };
const SCOPE: Scope = {
  roots: [
    { name: "score", what: "node", detail: "http", certain: true, shape: shape({ type: "object", properties: { risk: { type: "number", examples: [0.7] }, lines: { type: "array", items: { type: "object", properties: { sku: TEXT } } }, "odd key": TEXT } }) },
    { name: "aside", what: "node", detail: "transform", certain: false, shape: null },
    { name: "run", what: "run", detail: "this run", certain: true, shape: shape({ type: "object", properties: { id: TEXT } }) },
  ],
  env: ["RISK_TOKEN"],
  functions: [{ name: "len", calls: ["len(x)"], about: "how many" }, { name: "now", calls: ["now()"], about: "" }],
};

/** What is offered at the bar in a text: `from`, and the labels. */
function offered(marked: string, isExpression = false, asked = false): readonly [string, readonly string[]] | null {
  const at = marked.indexOf("|");
  const source = marked.replace("|", "");
  const found = completing(source, at, SCOPE, isExpression, asked);
  return found === null ? null : [source.slice(found.from, found.to), found.options.map(({ label }) => label)];
}

/** The text after the first offer is taken, with the caret as a bar. */
function taken(marked: string, isExpression = false): string {
  const source = marked.replace("|", "");
  const found = completing(source, marked.indexOf("|"), SCOPE, isExpression, true);
  const [option] = found?.options ?? [];
  assert.ok(found !== null && option !== undefined);
  const caret = found.from + option.insert.length - option.back;
  const text = source.slice(0, found.from) + option.insert + source.slice(found.to);
  return `${text.slice(0, caret)}|${text.slice(caret)}`;
}

test("names of the scope are offered after `<`, those that begin as it was typed first", () => {
  assert.deepEqual(offered("a <|"), ["", ["score", "aside", "run"]]);
  assert.deepEqual(offered("a <s|"), ["s", ["score", "aside"]]);
  assert.deepEqual(offered("<zzz|"), null);
  assert.equal(offered("a |"), null);
  assert.deepEqual(offered("a |", false, true), ["", ["score", "aside", "run"]]);
  assert.equal(taken("a <sc|"), "a <score|>");
  assert.equal(taken("a <sc|>"), "a <score|>");
  assert.equal(taken("<sc|or.risk>"), "<score|.risk>");
});

test("inside of a value its parts are offered, as the last run or a contract has them", () => {
  assert.deepEqual(offered("<score.|>"), ["", ["risk", "lines"]], "a name with a space is no step of a reference");
  assert.deepEqual(offered("<score.ri|"), ["ri", ["risk"]]);
  assert.deepEqual(offered("<score.lines[|"), ["[", ["[0]", "[-1]"]]);
  assert.deepEqual(offered("<score.lines[0].|"), ["", ["sku"]]);
  assert.deepEqual(offered("<aside.|"), null);
  assert.equal(taken("<score.l|"), "<score.lines|>");
  assert.equal(taken("<score.lines[|>"), "<score.lines[0]|>");
});

test("secrets are offered after `${`, functions only where an expression is written", () => {
  assert.equal(taken("Bearer ${R|"), "Bearer ${RISK_TOKEN}|");
  assert.deepEqual(offered("le|"), null);
  assert.deepEqual(offered("{{ le|"), ["le", ["len"]]);
  assert.deepEqual(offered("{{ 1 }} le|"), null);
  assert.deepEqual(offered("le|", true), ["le", ["len"]]);
  assert.deepEqual(offered("'le|", true), null);
  assert.equal(taken("1 + le|", true), "1 + len(|)");
  assert.equal(taken("now|", true), "now()|");
});

test("tokens are drawn while half of an expression is typed", () => {
  const drawn = (source: string, isExpression = false): string[] => tokens(source, isExpression).map(({ from, to, mark }) => `${mark}:${source.slice(from, to)}`);
  assert.deepEqual(drawn("Pay <order.total!> or and 3"), ["reference:<order.total!>"]);
  assert.deepEqual(drawn("x {{ len(<a[0].b>) if true else 'no' }} and"), ["brace:{{", "call:len", "reference:<a[0].b>", "word:if", "word:true", "word:else", "text:'no'", "brace:}}"]);
  assert.deepEqual(drawn("<a.b> > 1.5e3 and ${KEY} in \"x", true), ["reference:<a.b>", "number:1.5e3", "word:and", "secret:${KEY}", "word:in", "text:\"x"]);
  assert.deepEqual(drawn("a < b, <div class>"), []);
  assert.equal(tokens("<".repeat(50_000), false).length, 0);
  assert.deepEqual([isFormula("{{ a", 4, false), isFormula("{{ a }} b", 9, false), isFormula("{{ 'a", 5, false), isFormula("{{ 'a' b", 8, false)], [true, false, false, true]);
});

// -- the value beside it ---------------------------------------------------------------------------------------------------------

/** A clock and a server that the test moves by hand. */
class Bench {
  readonly shown: (string | null)[] = [];
  readonly asked: { question: string; signal: AbortSignal; answer: (text: string) => void; fail: () => void }[] = [];
  private timers: { at: number; run: () => void }[] = [];
  private now = 0;
  readonly previewing = new Previewing<string, string>({
    ask: (question, signal) => new Promise((answer, fail) => { this.asked.push({ question, signal, answer, fail: () => { fail(new Error("aborted")); } }); }),
    later: (ms, run) => {
      const timer = { at: this.now + ms, run };
      this.timers.push(timer);
      return () => { this.timers = this.timers.filter((one) => one !== timer); };
    },
    show: (answer) => { this.shown.push(answer); },
  });

  async pass(ms: number): Promise<void> {
    this.now += ms;
    const due = this.timers.filter(({ at }) => at <= this.now);
    this.timers = this.timers.filter(({ at }) => at > this.now);
    for (const { run } of due) run();
    await settled();
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
}

test("a value is asked for after a pause, once for what was typed last", async () => {
  const bench = new Bench();
  for (const text of ["a", "ab", "abc"]) {
    bench.previewing.ask(text);
    await bench.pass(PAUSE_MS - 1);
  }
  assert.equal(bench.asked.length, 0);
  await bench.pass(1);
  assert.deepEqual(bench.asked.map(({ question }) => question), ["abc"]);
  bench.asked[0]?.answer("1");
  await settled();
  assert.deepEqual(bench.shown, ["1"]);
});

test("one question is in flight at most; its answer is not shown when another was asked", async () => {
  const bench = new Bench();
  bench.previewing.ask("a");
  await bench.pass(PAUSE_MS);
  bench.previewing.ask("ab");
  assert.equal(bench.asked[0]?.signal.aborted, true);
  await bench.pass(PAUSE_MS);
  assert.equal(bench.asked.length, 1, "the first one has not ended");
  bench.asked[0].answer("late");
  await settled();
  assert.deepEqual(bench.asked.map(({ question }) => question), ["a", "ab"]);
  bench.asked[1]?.answer("2");
  await settled();
  assert.deepEqual(bench.shown, ["2"]);
});

test("a failure shows nothing, and nothing is shown or asked any more once it is closed", async () => {
  const bench = new Bench();
  bench.previewing.ask("a");
  await bench.pass(PAUSE_MS);
  bench.asked[0]?.fail();
  await settled();
  assert.deepEqual(bench.shown, [null]);
  bench.previewing.ask(null);
  await bench.pass(PAUSE_MS);
  assert.deepEqual([bench.shown, bench.asked.length], [[null, null], 1]);
  bench.previewing.ask("b");
  bench.previewing.close();
  await bench.pass(PAUSE_MS);
  assert.equal(bench.asked.length, 1);
});
