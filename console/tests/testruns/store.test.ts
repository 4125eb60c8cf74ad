import assert from "node:assert/strict";
import { test } from "node:test";
import { graphOf } from "../../src/canvas/model/graph.ts";
import { object } from "../../src/editing/values/values.ts";
import type { RunLook, RunStore } from "../../src/runstate/store.ts";
import { TestRuns } from "../../src/testruns/store.ts";
import { Alone, KINDS } from "../canvas/drafts.ts";

/** A run that a test moves on. */
class Run {
  static readonly made: Run[] = [];
  isOpen = false;
  private listener: () => void = () => undefined;
  private look: Partial<RunLook> = { nodes: new Map() };

  constructor(readonly id: string) { Run.made.push(this); }

  readonly snapshot = (): RunLook => this.look as RunLook;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listener = listener;
    return () => { this.listener = () => undefined; };
  };

  open(): void { this.isOpen = true; }
  close(): void { this.isOpen = false; }

  moves(path: string, status: string): void {
    this.look = { nodes: new Map([[path, { path, counts: { [status]: 1 }, exits: {}, conditions: [], attempts: 1, begin_ms: 0, end_ms: 5, work_ms: 5, wait_ms: 0, failed: [], turns: 0, failed_turns: 0 }]]) };
    this.listener();
  }
}

function testRuns(): TestRuns {
  Run.made.length = 0;
  const graph = graphOf(new Alone().replica.view, KINDS);
  return new TestRuns({ draft: "w", graph: () => graph, now: () => 0, load: () => Promise.resolve({ RunStore: Run as unknown as new (id: string) => RunStore }) });
}

const said = (run: string): ReturnType<typeof object> => object([["t", "run"], ["run", run], ["seq", 4], ["by", "bo"], ["at", 0]]);

test("what the room says is shown over the blocks, also inside containers", async () => {
  const tests = testRuns();
  let told = 0;
  tests.subscribe(() => { told += 1; });
  tests.hear(said("run_1"));
  await Promise.resolve();
  const [run] = Run.made;
  assert.ok(run?.isOpen === true);
  run.moves("x@l", "completed");
  assert.deepEqual(tests.of("x")?.counts, { completed: 1 });
  assert.equal(tests.of("a"), undefined);
  assert.ok(told >= 2);
});

test("the last test run takes the place of the one before, which says nothing more", async () => {
  const tests = testRuns();
  tests.hear(said("run_1"));
  await Promise.resolve();
  tests.hear(said("run_2"));
  await Promise.resolve();
  const [first, second] = Run.made;
  assert.deepEqual([first?.isOpen, second?.isOpen, tests.snapshot().tested?.id], [false, true, "run_2"]);
  first?.moves("a", "failed");
  assert.equal(tests.of("a"), undefined);
});

test("a test run that is hidden, or whose draft was left, is not followed", async () => {
  const tests = testRuns();
  tests.hear(said("run_1"));
  tests.hide();
  await Promise.resolve();
  assert.equal(Run.made.length, 0, "it was hidden before its code was there");
  tests.hear(said("run_2"));
  await Promise.resolve();
  tests.close();
  assert.deepEqual([Run.made[0]?.isOpen, tests.snapshot().tested], [false, null]);
  tests.hear(said("run_3"));
  await Promise.resolve();
  assert.equal(Run.made.length, 1);
});
