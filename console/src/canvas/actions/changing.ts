/** Operations that change, move and remove what is there. */
import type { Write } from "../../editing/log/effects.ts";
import { operation, type Operation } from "../../editing/log/operations.ts";
import { freeName } from "../../editing/rules/bodies.ts";
import type { State } from "../../editing/state.ts";
import { textAt } from "../../editing/values/values.ts";
import { exitsToLeaveBy, isEnabled, outermost, type Graph } from "../model/graph.ts";
import { lastOrder, placeOf } from "./places.ts";

/** Blocks with all that hangs on them, and edges alone. The rules take along what would be left without its block. */
export function remove(graph: Graph, blocks: Iterable<string>, wires: Iterable<string> = []): Operation | null {
  const gone = outermost(graph, blocks);
  const writes: Write[] = gone.map((tail) => ["del", `block/${tail}`]);
  const deleted = new Set(gone);
  for (const tail of wires) {
    const wire = graph.wires.get(tail);
    if (wire !== undefined && !deleted.has(wire.source) && !deleted.has(wire.target)) writes.push(["del", `edge/${tail}`]);
  }
  return writes.length === 0 ? null : operation(writes);
}

export type Move = readonly [tail: string, x: number, y: number];

/** Where a drag ended: one operation for all that was dragged. Places are from the corner of the frame around each. */
export function move(state: State, moves: Iterable<Move>): Operation | null {
  const writes: Write[] = [];
  for (const [tail, x, y] of moves) writes.push(...placing(state, tail, x, y));
  return writes.length === 0 ? null : operation(writes);
}

function placing(state: State, tail: string, x: number, y: number): Write[] {
  const key = `place/${tail}`;
  const held = state.get(key);
  const place = placeOf(x, y);
  if (held === undefined) return state.has(`block/${tail}`) ? [["put", key, place]] : [];
  const writes: Write[] = [];
  for (const axis of ["x", "y"]) {
    const value = place.get(axis) ?? 0;
    if (held.get(axis) !== value) writes.push(["set", key, [axis], value]);
  }
  return writes;
}

/** Into a container, or out of one: with the place of each in it. Edges to what stays go with the same operation, by the rules. */
export function reparent(state: State, moves: Iterable<Move>, parent: string | null): Operation | null {
  const writes: Write[] = [];
  for (const [tail, x, y] of moves) {
    const block = state.get(`block/${tail}`);
    if (block === undefined || (block.get("parent") ?? null) === parent) continue;
    writes.push(["set", `block/${tail}`, ["parent"], parent], ["set", `block/${tail}`, ["order"], lastOrder(state, parent)]);
    writes.push(...placing(state, tail, x, y));
  }
  return writes.length === 0 ? null : operation(writes);
}

/** Gives blocks back to the layout. */
export function tidy(graph: Graph, tails: Iterable<string>): Operation | null {
  const writes: Write[] = [...tails].filter((tail) => graph.places.has(tail)).map((tail) => ["del", `place/${tail}`]);
  return writes.length === 0 ? null : operation(writes);
}

export function rename(state: State, tail: string, name: string): Operation | null {
  const held = state.get(`block/${tail}`);
  return held === undefined || textAt(held, "id") === name ? null : operation([["rename", `block/${tail}`, name]]);
}

export function changeKind(state: State, tail: string, kind: string): Operation | null {
  const held = state.get(`block/${tail}`);
  return held === undefined || textAt(held, "type") === kind ? null : operation([["set", `block/${tail}`, ["type"], kind]]);
}

/** All off, or all on again where all are off. What is on has no field: that is how it is written. One with several exits leaves by
 * its first, until another is chosen. */
export function toggle(state: State, tails: Iterable<string>, blocks: Graph["blocks"] = new Map()): Operation | null {
  const held = [...tails].filter((tail) => state.has(`block/${tail}`));
  const anyOn = held.some((tail) => isEnabled(state.get(`block/${tail}`)));
  if (held.length === 0) return null;
  return operation(held.map((tail): Write => {
    const key = `block/${tail}`;
    if (!anyOn) return ["unset", key, ["enabled"]];
    const [exit, another] = exitsToLeaveBy(blocks.get(tail));
    return ["set", key, ["enabled"], exit === undefined || another === undefined ? false : new Map([["exit", exit]])];
  }));
}

/** By which exit a disabled block leaves. */
export function leaveBy(tail: string, exit: string): Operation {
  return operation([["set", `block/${tail}`, ["enabled"], new Map([["exit", exit]])]]);
}

/** A name that is free in a body, for a form that offers one. */
export function nameLike(state: State, parent: string | null, name: string): string {
  return freeName(state, parent, name);
}
