import assert from "node:assert/strict";
import { test } from "node:test";
import { add, between, connect, fitsBetween, insert, nameFault, reconnect, targets } from "../../src/canvas/actions/adding.ts";
import { align, distribute } from "../../src/canvas/actions/aligning.ts";
import { changeKind, leaveBy, move, remove, rename, reparent, tidy, toggle } from "../../src/canvas/actions/changing.ts";
import { duplicate } from "../../src/canvas/actions/duplicating.ts";
import { fragment } from "../../src/canvas/actions/fragments.ts";
import { paste, settings } from "../../src/canvas/actions/pasting.ts";
import { graphOf, type Graph } from "../../src/canvas/model/graph.ts";
import type { Operation } from "../../src/editing/log/operations.ts";
import { faults } from "../../src/editing/rules/invariants.ts";
import { snapshot } from "../../src/editing/state.ts";
import { object } from "../../src/editing/values/values.ts";
import { print, read } from "../../src/source/yaml.ts";
import type { Spot } from "../../src/canvas/layout/placing.ts";
import { Alone, block, counted, edge, KINDS, USUAL } from "./drafts.ts";

/** The writes as they go, each as its word and key. */
const words = (operation: Operation | null): string[] => (operation?.writes ?? []).map((write) => `${write[0]} ${write[1]}`);
const graphIn = (draft: Alone): Graph => graphOf(draft.replica.view, KINDS);

/** Does it, checks that the state is whole, and that one undo brings everything back. */
function done(draft: Alone, operation: Operation | null): void {
  assert.ok(operation !== null);
  const before = snapshot(draft.replica.view);
  assert.equal(draft.edit(operation), true);
  assert.deepEqual(faults(draft.replica.view), []);
  const after = snapshot(draft.replica.view);
  assert.equal(draft.undo(), true);
  assert.deepEqual(snapshot(draft.replica.view), before);
  assert.equal(draft.redo(), true);
  assert.deepEqual(snapshot(draft.replica.view), after);
}

test("adding puts a block under a free name, at its place, with the edge that leads to it", () => {
  const draft = new Alone();
  const made = add(draft.replica.view, { kind: { name: "b", container: false }, parent: null, after: ["c", "approved"], place: [8.4, 4] }, counted());
  assert.deepEqual(words(made.operation), ["put block/k1", "put place/k1", "put edge/k2"]);
  done(draft, made.operation);
  assert.equal(draft.replica.view.get("block/k1")?.get("id"), "b_2");
  assert.deepEqual([...(draft.replica.view.get("place/k1") ?? [])], [["x", 8], ["y", 4]]);
  assert.deepEqual([...(draft.replica.view.get("edge/k2") ?? [])].slice(0, 3), [["source", "c"], ["handle", "approved"], ["target", "k1"]]);
});

test("a container comes with its subflow, and a block goes inside", () => {
  const draft = new Alone([]);
  const outer = add(draft.replica.view, { kind: { name: "loop", container: true }, parent: null }, counted());
  assert.deepEqual(words(outer.operation), ["put block/k1", "put subflow/k1"]);
  done(draft, outer.operation);
  const inner = add(draft.replica.view, { kind: { name: "http", container: false }, parent: "k1" }, () => "in");
  done(draft, inner.operation);
  assert.deepEqual(graphIn(draft).children.get("k1"), ["in"]);
});

test("a kind that is dropped on an edge goes between its ends", () => {
  const draft = new Alone();
  const made = insert(draft.replica.view, "bl", { kind: { name: "http", container: false }, parent: null }, counted());
  done(draft, made.operation);
  const wires = [...graphIn(draft).wires.values()].map(({ source, handle, target }) => `${source}.${handle} ${target}`);
  assert.ok(wires.includes("b.error k1") && wires.includes("k1.source l"));
  assert.ok(!wires.includes("b.error l"));
});

test("connecting puts one edge; the same again is dropped; across bodies there is none to offer", () => {
  const draft = new Alone();
  const made = connect(draft.replica.view, "a", "source", "c", counted());
  assert.deepEqual(words(made), ["put edge/k1"]);
  done(draft, made);
  assert.equal(draft.edit(connect(draft.replica.view, "a", "source", "c", () => "again")), false);
  assert.equal(draft.edit(connect(draft.replica.view, "a", "source", "x", () => "across")), false);
  assert.deepEqual(targets(draft.replica.view, "x"), ["y"]);
});

test("moving an end of an edge is one gesture of a deletion and an addition", () => {
  const draft = new Alone();
  const made = reconnect(draft.replica.view, "ab", "a", "source", "c", counted());
  assert.deepEqual(words(made), ["del edge/ab", "put edge/k1"]);
  done(draft, made);
  assert.equal(reconnect(draft.replica.view, "bc", "b", "source", "c", counted()), null);
});

test("an edge is copied with its condition, its param and all that it says", () => {
  const draft = new Alone([...USUAL, edge("ac", "a", "c", { param: "left", condition: "{{ <a.n> > 1 }}", merge: object([["rule", "first"]]) })]);
  const text = print(fragment(draft.replica.view, graphIn(draft), ["a", "b", "c"]));
  assert.match(text, /param: left\n\s+condition: "?{{ <a.n> > 1 }}"?\n\s+merge:\n\s+rule: first/);
  const made = paste(draft.replica.view, KINDS, read(text), null, counted());
  done(draft, made?.operation ?? null);
  const copy = [...graphIn(draft).wires.values()].find((wire) => wire.param === "left" && wire.tail !== "ac");
  const entity = draft.replica.view.get(`edge/${copy?.tail ?? ""}`);
  assert.deepEqual([entity?.get("condition"), entity?.get("merge")], ["{{ <a.n> > 1 }}", object([["rule", "first"]])]);
});

test("a whole document that is pasted into an empty draft brings its settings, but for those that are there, and its id", () => {
  const draft = new Alone([]);
  draft.edit({ writes: [["set", "doc", ["name"], "Mine"]], guards: [], derived: [] });
  const writes = settings(draft.replica.view, read("id: other\nname: Theirs\nenv: [KEY]\non_failure: halt\nnodes: {}\nedges: []"), counted());
  assert.deepEqual(writes.map((write) => (write[0] === "set" ? write[2] : [])), [["env"], ["on_failure"]]);
  done(draft, { writes, guards: [], derived: [] });
  assert.deepEqual(settings(draft.replica.view, read("a text"), counted()), []);
});

test("a block that nothing is tied to goes between the ends of an edge, in the edge's body and by its first exit", () => {
  const draft = new Alone([...USUAL, block("n", "approval"), block("e", "end")]);
  const graph = graphIn(draft);
  assert.deepEqual([fitsBetween(graph, "ab", "n"), fitsBetween(graph, "ab", "c"), fitsBetween(graph, "ab", "a"), fitsBetween(graph, "none", "n")], [true, false, false, false]);
  done(draft, between(draft.replica.view, graph, "xy", "n", [20, 60], counted()));
  const [after, wires] = [graphIn(draft), [...graphIn(draft).wires.values()].map(({ source, handle, target }) => `${source}.${handle} ${target}`)];
  assert.equal(after.blocks.get("n")?.parent, "l");
  assert.ok(wires.includes("x.source n") && wires.includes("n.approved y") && !wires.includes("x.source y"));
});

test("a kind without an exit is added next to the edge, and takes nothing from it", () => {
  const draft = new Alone();
  done(draft, insert(draft.replica.view, "ab", { kind: { name: "end", container: false, exits: [] }, parent: null }, counted()).operation);
  assert.ok(graphIn(draft).wires.has("ab"));
});

test("blocks are put in a line by their sides, and at even distances, in and out of frames", () => {
  const draft = new Alone();
  const graph = graphIn(draft);
  const spot = (left: number, top: number, width: number, inside = 0): Spot => ({ x: left - inside, y: top, left, top, width, height: 56 });
  const spots = new Map([["a", spot(0, 0, 188)], ["b", spot(300, 40, 188)], ["c", spot(800, 12, 200)], ["l", spot(500, 80, 100)], ["x", spot(520, 90, 60, 500)]]);
  const moves = (made: Operation | null): string[] => (made?.writes ?? []).map((write) => `${write[1]} ${write[0] === "put" ? JSON.stringify([...write[2].values()]) : ""}`);
  assert.deepEqual(moves(align(draft.replica.view, graph, spots, ["a", "b", "c"], "top")), ["place/a [0,0]", "place/b [300,0]", "place/c [800,0]"]);
  assert.deepEqual(moves(align(draft.replica.view, graph, spots, ["a", "c"], "right")), ["place/a [812,0]", "place/c [800,12]"]);
  assert.deepEqual(moves(align(draft.replica.view, graph, spots, ["b", "x"], "left")), ["place/b [300,40]", "place/x [-200,90]"]);
  assert.deepEqual(moves(align(draft.replica.view, graph, spots, ["l", "x", "c"], "centre")), ["place/l [700,80]", "place/c [652,12]"]);
  assert.deepEqual(moves(distribute(draft.replica.view, graph, spots, ["c", "a", "b"], "across")), ["place/a [0,0]", "place/b [400,40]", "place/c [800,12]"]);
  assert.equal(align(draft.replica.view, graph, spots, ["a"], "left"), null);
  assert.equal(distribute(draft.replica.view, graph, spots, ["a", "b"], "down"), null);
});

test("deleting writes the outermost blocks alone: what hangs on them follows", () => {
  const draft = new Alone();
  const made = remove(graphIn(draft), ["l", "x", "b"], ["xy", "ab"]);
  assert.deepEqual(words(made), ["del block/l", "del block/b", "del edge/xy"]);
  const gone = remove(graphIn(draft), ["l", "x", "b"], []);
  done(draft, gone);
  assert.deepEqual([...graphIn(draft).blocks.keys()].sort(), ["a", "c"]);
  assert.equal(graphIn(draft).wires.size, 0);
  assert.equal(remove(graphIn(draft), [], []), null);
});

test("a drop writes places and nothing else: put at first, then set where an axis changed", () => {
  const draft = new Alone();
  const first = move(draft.replica.view, [["a", 12.2, 40], ["b", 300, 0]]);
  assert.deepEqual(words(first), ["put place/a", "put place/b"]);
  done(draft, first);
  const second = move(draft.replica.view, [["a", 12, 80], ["b", 300, 0]]);
  assert.deepEqual(second?.writes, [["set", "place/a", ["y"], 80]]);
  assert.equal(move(draft.replica.view, [["a", 12, 40]]), null);
  done(draft, tidy(graphIn(draft), ["a", "b", "c"]));
  assert.equal(graphIn(draft).places.size, 0);
});

test("into a container sets parent and order; the edges to what stays go with it, and come back with the undo", () => {
  const draft = new Alone();
  const made = reparent(draft.replica.view, [["b", 20, 60]], "l");
  assert.deepEqual(words(made), ["set block/b", "set block/b", "put place/b"]);
  done(draft, made);
  assert.deepEqual([...graphIn(draft).wires.keys()], ["xy"]);
  assert.equal(graphIn(draft).blocks.get("b")?.parent, "l");
});

test("renaming is one write; the references follow", () => {
  const draft = new Alone();
  const made = rename(draft.replica.view, "a", "start");
  assert.deepEqual(words(made), ["rename block/a"]);
  done(draft, made);
  assert.deepEqual(draft.replica.view.get("block/b")?.get("with"), object([["url", "see <start.body>"]]));
  assert.equal(rename(draft.replica.view, "a", "start"), null);
  assert.match(nameFault(draft.replica.view, null, "a", "b") ?? "", /Another node/);
  assert.match(nameFault(draft.replica.view, null, "a", "1 x") ?? "", /begins with a letter/);
  assert.equal(nameFault(draft.replica.view, "l", null, "b"), null);
});

test("disabling is absolute: all off, or all on again", () => {
  const draft = new Alone();
  done(draft, toggle(draft.replica.view, ["a"]));
  assert.deepEqual(toggle(draft.replica.view, ["a", "b"])?.writes, [["set", "block/a", ["enabled"], false], ["set", "block/b", ["enabled"], false]]);
  done(draft, toggle(draft.replica.view, ["a", "b"]));
  done(draft, toggle(draft.replica.view, ["a", "b"]));
  assert.equal(draft.replica.view.get("block/a")?.has("enabled"), false);
  done(draft, changeKind(draft.replica.view, "b", "code"));
  assert.equal(changeKind(draft.replica.view, "b", "code"), null);
});

test("a disabled block with several exits leaves by its first, until another is chosen", () => {
  const draft = new Alone();
  const off = toggle(draft.replica.view, ["a", "c"], graphIn(draft).blocks);
  assert.deepEqual(off?.writes, [["set", "block/a", ["enabled"], false], ["set", "block/c", ["enabled"], object([["exit", "approved"]])]]);
  done(draft, off);
  assert.equal(graphIn(draft).blocks.get("c")?.enabled, false);
  done(draft, leaveBy("c", "rejected"));
  assert.deepEqual(draft.replica.view.get("block/c")?.get("enabled"), object([["exit", "rejected"]]));
  done(draft, toggle(draft.replica.view, ["a", "c"], graphIn(draft).blocks));
  assert.equal(draft.replica.view.get("block/c")?.has("enabled"), false);
});

test("duplicates have free names, their own references and edges, and what is inside", () => {
  const draft = new Alone();
  const made = duplicate(draft.replica.view, graphIn(draft), ["a", "b", "l", "x"], new Map([["a", { x: 0, y: 0 }]]), counted());
  done(draft, made?.operation ?? null);
  const { blocks, children } = graphIn(draft);
  const [a = "", b = "", l = ""] = made?.tails ?? [];
  assert.deepEqual([blocks.get(a)?.id, blocks.get(b)?.id, blocks.get(l)?.id], ["a_2", "b_2", "l_2"]);
  assert.deepEqual(draft.replica.view.get(`block/${b}`)?.get("with"), object([["url", "see <a_2.body>"]]));
  assert.deepEqual((children.get(l) ?? []).map((tail) => blocks.get(tail)?.id), ["x", "y"]);
  assert.deepEqual([...(draft.replica.view.get(`place/${a}`) ?? [])], [["x", 32], ["y", 32]]);
});

test("what is copied is a fragment that a person could have written, and a paste of it is the same again", () => {
  const draft = new Alone();
  const text = print(fragment(draft.replica.view, graphIn(draft), ["b", "l", "c"]));
  assert.equal(text, `nodes:
  b:
    type: http
    with:
      url: see <a.body>
  c:
    type: approval
    after: b
  l:
    type: loop
    after: b.error
    with:
      times: 3
      body:
        nodes:
          x:
            type: http
          y:
            type: http
            after: x
            with:
              url: <x.body>
`);
  const other = new Alone([]);
  done(other, paste(other.replica.view, KINDS, read(text), null, counted())?.operation ?? null);
  assert.equal(print(fragment(other.replica.view, graphIn(other), graphIn(other).blocks.keys())), text);
  done(draft, paste(draft.replica.view, KINDS, read(text), null, counted())?.operation ?? null);
  assert.deepEqual([...graphIn(draft).blocks.values()].filter((one) => one.parent === null).map((one) => one.id).sort(), ["a", "b", "b_2", "c", "c_2", "l", "l_2"]);
});

test("a paste takes JSON and lists of edges, and nothing without nodes", () => {
  const draft = new Alone([]);
  const text = '{"nodes": {"p": {"type": "http"}, "q": {"type": "http", "after": ["p", "p.error"]}}, "edges": [{"source": "q", "target": "p", "handle": "onError"}]}';
  done(draft, paste(draft.replica.view, KINDS, read(text), null, counted())?.operation ?? null);
  const ids = graphIn(draft).blocks;
  const wires = [...graphIn(draft).wires.values()].map((wire) => `${ids.get(wire.source)?.id ?? ""}.${wire.handle} ${ids.get(wire.target)?.id ?? ""}`);
  assert.deepEqual(wires.sort(), ["p.error q", "p.source q", "q.error p"]);
  assert.equal(paste(draft.replica.view, KINDS, read("a: 1"), null, counted()), null);
});
