/** Operations that put blocks in a line, or at even distances. Places are multiples of the grid. */
import type { Operation } from "../../editing/log/operations.ts";
import type { State } from "../../editing/state.ts";
import type { Spot } from "../layout/placing.ts";
import { outermost, type Graph } from "../model/graph.ts";
import { move, type Move } from "./changing.ts";

export type Side = "left" | "centre" | "right" | "top" | "middle" | "bottom";
export type Axis = "across" | "down";

const GRID = 4; // px

interface Standing {
  readonly tail: string;
  readonly spot: Spot;
}

/** The side of each block where that of all of them is; `centre` and `middle` are halfway between the outermost sides. */
export function align(state: State, graph: Graph, spots: ReadonlyMap<string, Spot>, tails: Iterable<string>, side: Side): Operation | null {
  const all = standing(graph, spots, tails);
  if (all.length < 2) return null;
  const across = side === "left" || side === "centre" || side === "right";
  const [starts, ends] = [all.map(({ spot }) => startOf(spot, across)), all.map(({ spot }) => startOf(spot, across) + lengthOf(spot, across))];
  const [first, last] = [Math.min(...starts), Math.max(...ends)];
  return move(state, all.map(({ tail, spot }): Move => {
    const length = lengthOf(spot, across);
    const share = side === "left" || side === "top" ? 0 : side === "right" || side === "bottom" ? 1 : 0.5;
    return moved(tail, spot, first + (last - first - length) * share, across);
  }));
}

/** The same distance between each and the next; the outermost two stay. */
export function distribute(state: State, graph: Graph, spots: ReadonlyMap<string, Spot>, tails: Iterable<string>, axis: Axis): Operation | null {
  const across = axis === "across";
  const all = standing(graph, spots, tails).sort((left, right) => startOf(left.spot, across) - startOf(right.spot, across));
  const [first, last] = [all[0], all.at(-1)];
  if (first === undefined || last === undefined || all.length < 3) return null;
  const space = startOf(last.spot, across) + lengthOf(last.spot, across) - startOf(first.spot, across);
  const gap = (space - all.reduce((sum, { spot }) => sum + lengthOf(spot, across), 0)) / (all.length - 1);
  let at = startOf(first.spot, across);
  return move(state, all.map(({ tail, spot }): Move => {
    const made = moved(tail, spot, at, across);
    at += lengthOf(spot, across) + gap;
    return made;
  }));
}

/** What is in a container that moves goes with it. */
function standing(graph: Graph, spots: ReadonlyMap<string, Spot>, tails: Iterable<string>): Standing[] {
  return outermost(graph, tails).flatMap((tail) => {
    const spot = spots.get(tail);
    return spot === undefined ? [] : [{ tail, spot }];
  });
}

function startOf(spot: Spot, across: boolean): number {
  return across ? spot.left : spot.top;
}

function lengthOf(spot: Spot, across: boolean): number {
  return across ? spot.width : spot.height;
}

/** A place is from the corner of the frame around it. */
function moved(tail: string, spot: Spot, start: number, across: boolean): Move {
  const by = Math.round((start - startOf(spot, across)) / GRID) * GRID;
  return across ? [tail, spot.x + by, spot.y] : [tail, spot.x, spot.y + by];
}
