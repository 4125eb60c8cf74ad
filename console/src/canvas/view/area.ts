/**
 * The part of the canvas that React Flow is given: what is shown, and a margin around it. What React Flow does at each change and in each
 * frame then depends on the size of the screen, not on that of the draft.
 */
import { useStore, type ReactFlowState } from "@xyflow/react";
import { useRef } from "react";
import type { Look } from "../desk.ts";
import type { Placed, Spot } from "../layout/placing.ts";
import type { Graph, Wire } from "../model/graph.ts";

/** In the coordinates of the canvas. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

const MARGIN = 200; // px of the screen beyond each edge
const WASTE = 2.5; // as many times as wide as what is shown: more is given up

/** The area for a view; the one held so far as long as it covers the view and is not much larger. Null before the size is known. */
export function covering(held: Area | null, [x, y, zoom]: readonly [number, number, number], width: number, height: number): Area | null {
  if (width === 0 || height === 0) return null;
  const [left, top, right, bottom] = [-x / zoom, -y / zoom, (width - x) / zoom, (height - y) / zoom];
  const covers = held !== null && held.left <= left && held.top <= top && held.right >= right && held.bottom >= bottom;
  if (covers && held.right - held.left <= WASTE * (right - left)) return held;
  const margin = MARGIN / zoom;
  return { left: left - margin, top: top - margin, right: right + margin, bottom: bottom + margin };
}

export function useArea(): Area | null {
  const held = useRef<Area | null>(null);
  const select = useRef((state: ReactFlowState): Area | null => {
    held.current = covering(held.current, state.transform, state.width, state.height);
    return held.current;
  });
  return useStore(select.current);
}

/**
 * What lies in an area. `blocks`, in the order of the graph, a frame before what is in it: true for those that are drawn. The others are
 * there because an edge ends at them, or because they are the frame of one that is drawn.
 */
export interface Near {
  readonly blocks: ReadonlyMap<string, boolean>;
  readonly wires: readonly Wire[];
}

/** `also`: blocks that are drawn wherever they are. So is what is selected: React Flow can only take back a selection that it knows. */
export function nearby(look: Pick<Look, "graph" | "placed" | "selected" | "edges">, area: Area, also: Iterable<string> = []): Near {
  const { graph, placed } = look;
  const drawn = new Set<string>();
  for (const tails of [look.selected, also]) for (const tail of tails) if (placed.spots.has(tail)) drawn.add(tail);
  for (const [tail, spot] of placed.spots) if (lies(spot, area)) drawn.add(tail);
  const wires: Wire[] = [];
  const known = new Set(drawn);
  for (const wire of graph.wires.values()) {
    if (!look.edges.has(wire.tail) && !crosses(wire, placed, area)) continue;
    wires.push(wire);
    known.add(wire.source).add(wire.target);
  }
  for (const tail of known) {
    const parent = graph.blocks.get(tail)?.parent ?? null;
    if (parent !== null) known.add(parent); // a set that grows is walked to its end
  }
  const blocks = new Map<string, boolean>();
  walk(graph, null, known, (tail) => { blocks.set(tail, drawn.has(tail)); });
  return { blocks, wires };
}

function walk(graph: Graph, parent: string | null, known: ReadonlySet<string>, take: (tail: string) => void): void {
  for (const tail of graph.children.get(parent) ?? []) {
    if (!known.has(tail)) continue;
    take(tail);
    if (graph.blocks.get(tail)?.container === true) walk(graph, tail, known, take);
  }
}

export function lies({ left, top, width, height }: Pick<Spot, "left" | "top" | "width" | "height">, area: Area): boolean {
  return left <= area.right && top <= area.bottom && left + width >= area.left && top + height >= area.top;
}

/** Whether the box around both ends lies in the area. */
function crosses(wire: Wire, placed: Placed, area: Area): boolean {
  const [from, to] = [placed.spots.get(wire.source), placed.spots.get(wire.target)];
  if (from === undefined || to === undefined) return false;
  const [left, top] = [Math.min(from.left, to.left), Math.min(from.top, to.top)];
  const [right, bottom] = [Math.max(from.left + from.width, to.left + to.width), Math.max(from.top + from.height, to.top + to.height)];
  return left <= area.right && top <= area.bottom && right >= area.left && bottom >= area.top;
}
