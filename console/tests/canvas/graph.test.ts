/** The graph costs what changed: counted, so that it holds on every machine. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Desk } from "../../src/canvas/desk.ts";
import type { Graph as Asked } from "../../src/canvas/layout/layout.ts";
import { graphOf, NOTHING, wiresAt, type Graph } from "../../src/canvas/model/graph.ts";
import { looksAlike } from "../../src/canvas/page/seen.ts";
import { Changes } from "../../src/editing/changes.ts";
import type { Effect, Entity, Write } from "../../src/editing/log/effects.ts";
import { operation, type LogEntry } from "../../src/editing/log/operations.ts";
import { Replica } from "../../src/editing/replica/replica.ts";
import { resolve } from "../../src/editing/rules/resolve.ts";
import { Entities, type State } from "../../src/editing/state.ts";
import { object } from "../../src/editing/values/values.ts";
import { Dice } from "../dice.ts";
import { Editor } from "../editing/edits.ts";
import { Alone, block, counted, edge, KINDS } from "./drafts.ts";

const MANY = 2_000;
const LEAST = 12; // lookups that a change of one entity may need

/** A view that counts what is asked of it. */
class Counted implements State {
  asked = 0;

  constructor(private readonly view: State) {}

  get blocks(): number { return this.view.blocks; }
  get ground(): Entities { return this.view.ground; }
  touched(): Iterable<string> { return this.view.touched(); }
  has(key: string): boolean { return this.get(key) !== undefined; }

  get(key: string): Entity | undefined {
    this.asked += 1;
    return this.view.get(key);
  }

  found(label: string): readonly string[] {
    const found = this.view.found(label);
    this.asked += 1 + found.length;
    return found;
  }

  *keys(): Iterable<string> {
    for (const key of this.view.keys()) {
      this.asked += 1;
      yield key;
    }
  }
}

/** A replica whose state is committed, and the graph of its view. */
class Watched {
  graph: Graph = NOTHING;
  private readonly changes = new Changes();
  readonly replica: Replica;

  constructor(writes: readonly Write[]) {
    this.replica = new Replica("me", new Entities(writes.flatMap((write): [string, Entity][] => (write[0] === "put" ? [[write[1], write[2]]] : []))));
    this.take();
  }

  /** Derives the graph; how much of the view was read for it. */
  take(): number {
    const { view } = this.replica;
    const counting = new Counted(view);
    this.graph = graphOf(counting, KINDS, this.graph, this.changes.until(view));
    return counting.asked;
  }

  /** Another person's writes are committed. */
  hear(writes: readonly Write[]): void {
    const { replica } = this;
    const { effects, outcomes } = resolve(replica.confirmed, [operation(writes)]);
    replica.hear(item(replica.seq + 1, "them", effects, outcomes));
  }

  /** What is in flight, or would be, is committed. */
  commit(): void {
    const { replica } = this;
    const sent = replica.message(() => `tag ${replica.seq}`);
    if (sent === null) return;
    const { effects, outcomes } = resolve(replica.confirmed, sent.operations);
    replica.hear({ ...item(replica.seq + 1, "me", effects, outcomes), n: sent.n, tag: sent.tag });
  }
}

function item(seq: number, client: string, effects: readonly Effect[], outcomes: LogEntry["outcomes"]): LogEntry {
  return { seq, client, n: seq, tag: `of ${client} ${seq}`, by: client, at: seq, effects, outcomes, closes: null };
}

function chain(): Write[] {
  const names = Array.from({ length: MANY }, (_, place) => `n${place}`);
  return [
    ...names.map((name, place) => block(name, place === 0 ? "manual" : "http", { order: `V${String(place).padStart(5, "0")}V`, with: object([["url", ""]]) })),
    ...names.slice(1).map((name, place) => edge(`e${place}`, `n${place}`, name)),
  ];
}

const fresh = (left: ReadonlyMap<string, unknown>, right: ReadonlyMap<string, unknown>): number => [...right].filter(([key, value]) => left.get(key) !== value).length;

test("a letter in a parameter leaves the graph as it is, and reads a few entities of thousands", () => {
  const watched = new Watched(chain());
  const before = watched.graph;
  const places: (() => void)[] = [
    () => { watched.replica.edit(operation([["splice", "block/n1234", ["with", "url"], 0, 0, "x"]])); },
    () => { watched.replica.edit(operation([["splice", "block/n1234", ["with", "url"], 1, 0, "y"]])); },
    () => { watched.commit(); },
    () => { watched.hear([["splice", "block/n1234", ["with", "url"], 0, 0, "z"]]); },
    () => { watched.replica.undo(); },
  ];
  for (const change of places) {
    change();
    const asked = watched.take();
    assert.ok(asked > 0 && asked <= LEAST, `${asked} lookups`);
    assert.equal(watched.graph, before);
  }
});

test("what changed on the canvas is made anew, and nothing beside it", () => {
  const watched = new Watched(chain());
  const cases: readonly (readonly [writes: readonly Write[], blocks: number, wires: number, places: number, bodies: boolean])[] = [
    [[["rename", "block/n7", "seven"]], 1, 0, 0, false],
    [[["set", "block/n7", ["enabled"], false, null]], 1, 0, 0, false],
    [[["put", "place/n9", object([["x", 4], ["y", 8]])]], 0, 0, 1, false],
    [[["set", "place/n9", ["x"], 12, null]], 0, 0, 1, false],
    [[edge("new", "n3", "n900", { handle: "error" })], 0, 1, 0, false],
    [[edge("other", "n3", "n901", { handle: "else" })], 1, 1, 0, false],
    [[block("more", "http", { order: "V00002k" })], 1, 0, 0, true],
    [[["set", "block/n40", ["order"], "V00060k", null]], 1, 0, 0, true],
  ];
  for (const [writes, blocks, wires, places, bodies] of cases) {
    const before = watched.graph;
    watched.hear(writes);
    const asked = watched.take();
    const made = [fresh(before.blocks, watched.graph.blocks), fresh(before.wires, watched.graph.wires), fresh(before.places, watched.graph.places), before.children !== watched.graph.children];
    assert.deepEqual(made, [blocks, wires, places, bodies], JSON.stringify(writes));
    assert.ok(asked <= LEAST, `${asked} lookups for ${JSON.stringify(writes)}`);
    assertWhole(watched);
  }
  watched.hear([["del", "block/n500"]]);
  assert.ok(watched.take() <= 4 * LEAST);
  assert.ok(!watched.graph.blocks.has("n500") && wiresAt(watched.graph, "n500").length === 0);
  assertWhole(watched);
});

test("from change to change the graph is the one that is made of the whole view", () => {
  for (let seed = 0; seed < 60; seed += 1) {
    const dice = new Dice(seed);
    const watched = new Watched([block("a", "http"), block("b", "http"), edge("ab", "a", "b")]);
    const [me, them] = [new Editor(dice, 0x4e00), new Editor(dice, 0x6e00)];
    for (let step = 0; step < 40; step += 1) {
      const draw = dice.below(10);
      if (draw < 5) {
        const asked = me.operation(watched.replica.view);
        if (asked !== null) watched.replica.edit(asked.asked);
      } else if (draw < 7) {
        const asked = them.operation(watched.replica.confirmed);
        if (asked !== null) watched.hear(asked.asked.writes);
      } else if (draw < 8) {
        watched.replica.undo();
      } else if (draw < 9) {
        watched.commit();
      }
      if (dice.below(2) === 0) continue; // several changes before the next frame
      watched.take();
      assertWhole(watched);
    }
  }
});

test("a state that has forgotten what changed, and another draft, are read whole", () => {
  const watched = new Watched(chain());
  for (let count = 0; count < 12_000; count += 1) watched.replica.confirmed.put("block/n5", object([["id", `n${count}`], ["type", "http"], ["parent", null], ["order", "V"]]));
  watched.replica.confirmed.put("block/n6", undefined);
  assert.ok(watched.take() > MANY);
  assert.equal(watched.graph.blocks.get("n5")?.id, "n11999");
  assert.ok(!watched.graph.blocks.has("n6"));
  const changes = new Changes();
  const [one, other] = [new Entities([["doc", object([])]]), new Entities([["doc", object([])]])];
  assert.equal(changes.until(one), null);
  assert.deepEqual(changes.until(one), new Set());
  assert.equal(changes.until(other), null);
});

test("typing at the desk asks for no layout, and the canvas is not drawn for it", () => {
  const asked: Asked[] = [];
  const draft = new Alone(chain());
  const desk = new Desk(draft, KINDS, counted(), (graph) => { asked.push(graph); }, (run) => { run(); });
  const [layouts, before] = [asked.length, desk.snapshot()];
  desk.edit(operation([["splice", "block/n1234", ["with", "url"], 0, 0, "x"]]));
  const after = desk.snapshot();
  assert.ok(after !== before && after.draft !== before.draft);
  assert.equal(asked.length, layouts);
  assert.ok(looksAlike(before, after, []));
  desk.edit(operation([["rename", "block/n1234", "renamed"]]));
  assert.ok(!looksAlike(after, desk.snapshot(), []));
  const renamed = desk.snapshot();
  desk.change({ said: "n1" });
  assert.ok(looksAlike(renamed, desk.snapshot(), ["said"]) && !looksAlike(renamed, desk.snapshot(), ["open"]));
  draft.canEdit = false;
  desk.undo();
  assert.ok(!looksAlike(renamed, desk.snapshot(), ["said", "graph"]));
});

/** The graph is that of the whole view: whichever blocks, edges and places, and their order in each container. */
function assertWhole({ graph, replica }: Watched): void {
  const whole = graphOf(replica.view, KINDS);
  for (const part of ["blocks", "wires", "places", "children"] as const) {
    assert.deepEqual(sorted(graph[part]), sorted(whole[part]));
  }
}

function sorted(map: ReadonlyMap<string | null, unknown>): [string | null, unknown][] {
  return [...map].sort(([left], [right]) => (String(left) < String(right) ? -1 : 1));
}
