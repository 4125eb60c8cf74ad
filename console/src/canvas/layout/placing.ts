/**
 * Where every block is now: by its place, else by the last layout, else next to what it is connected to until the layout has come.
 * Frames grow with what is dropped in them at once. What has not moved is the same object as before.
 */
import { gather } from "../../editing/values/gathering.ts";
import { outermost, type Block, type Graph } from "../model/graph.ts";
import { entryOf, FRAME_HEAD, FRAME_HEIGHT, FRAME_PAD, heightOf, portsOf, WIDTH } from "../model/sizes.ts";
import { extent, type Box, type Graph as Asked, type Layout, type Sizes } from "./layout.ts";

export const SIZES: Sizes = { head: FRAME_HEAD, pad: FRAME_PAD, emptyWidth: WIDTH + 2 * FRAME_PAD, emptyHeight: FRAME_HEIGHT };

/** `x`, `y` are from the corner of the frame around it; `left`, `top` from that of the canvas. */
export interface Spot {
  readonly x: number;
  readonly y: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Bounds {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Placed {
  readonly spots: ReadonlyMap<string, Spot>;
  readonly bounds: Bounds;
}

export const UNPLACED: Placed = { spots: new Map(), bounds: { x: 0, y: 0, width: 0, height: 0 } };

/** What the worker is asked: only what the layout depends on. */
export function asked(graph: Graph): Asked {
  const nodes = [...graph.children.values()].flat().map((tail) => {
    const block = graph.blocks.get(tail);
    const container = block?.container ?? false;
    return {
      id: tail, parent: block?.parent ?? null, container, width: WIDTH,
      height: block === undefined ? 0 : container ? FRAME_HEIGHT : heightOf(block), entry: block === undefined ? 0 : entryOf(block), place: graph.places.get(tail) ?? null,
    };
  });
  const ports = new Map([...graph.blocks].map(([tail, block]) => [tail, new Map(portsOf(block).map(({ exit, y }) => [exit, y]))]));
  const edges = [...graph.wires.values()].map(({ tail, source, target, handle }) => {
    const block = graph.blocks.get(source);
    return { id: tail, source, target, leaves: ports.get(source)?.get(handle) ?? (block === undefined ? 0 : entryOf(block)) };
  });
  return { nodes, edges, sizes: SIZES };
}

/** Whether two questions have the same answer. */
export function sameQuestion(left: Asked, right: Asked): boolean {
  return left.nodes.length === right.nodes.length && left.edges.length === right.edges.length
    && left.nodes.every((one, index) => {
      const other = right.nodes[index];
      return other !== undefined && one.id === other.id && one.parent === other.parent && one.height === other.height && one.container === other.container
        && one.place?.[0] === other.place?.[0] && one.place?.[1] === other.place?.[1];
    })
    && left.edges.every((one, index) => {
      const other = right.edges[index];
      return other !== undefined && one.id === other.id && one.source === other.source && one.target === other.target && one.leaves === other.leaves;
    });
}

export function placed(graph: Graph, layout: Layout | null, former: Placed): Placed {
  const boxes = new Map<string, Box>();
  const near = new Neighbours(graph, layout, boxes);
  const size = (parent: string | null): void => {
    for (const tail of graph.children.get(parent) ?? []) {
      const block = graph.blocks.get(tail);
      if (block === undefined) continue;
      if (block.container) size(tail);
      const box = boxOf(block, graph, layout, boxes, near);
      boxes.set(tail, box);
      near.stands(parent, box);
    }
  };
  size(null);
  const spots = new Map<string, Spot>();
  let moved = 0;
  const put = (parent: string | null, left: number, top: number): void => {
    for (const tail of graph.children.get(parent) ?? []) {
      const [x, y, width, height] = boxes.get(tail) ?? [0, 0, 0, 0];
      const held = former.spots.get(tail);
      const spot = { x, y, left: left + x, top: top + y, width, height };
      const stays = held !== undefined && same(held, spot);
      moved += Number(!stays);
      spots.set(tail, stays ? held : spot);
      if (graph.children.has(tail)) put(tail, spot.left, spot.top);
    }
  };
  put(null, 0, 0);
  if (moved === 0 && spots.size === former.spots.size) return former;
  return { spots, bounds: boundsOf((graph.children.get(null) ?? []).flatMap((tail) => spots.get(tail) ?? [])) };
}

function boxOf(block: Block, graph: Graph, layout: Layout | null, boxes: ReadonlyMap<string, Box>, near: Neighbours): Box {
  const { tail, parent } = block;
  const made = layout?.boxes.get(tail);
  const place = graph.places.get(tail);
  const [width, height] = block.container
    ? extent((graph.children.get(tail) ?? []).map((id) => ({ id })), boxes, SIZES) : [WIDTH, heightOf(block)];
  const [x, y]: readonly [number, number, ...unknown[]] = place ?? made ?? near.beside(block);
  return parent === null ? [x, y, width, height] : [Math.max(x, FRAME_PAD), Math.max(y, FRAME_HEAD), width, height];
}

/** Where a block stands that the layout does not know yet. All of them together cost one walk over the edges. */
class Neighbours {
  private sources: Map<string, string[]> | null = null;
  private readonly lowest = new Map<string | null, number>();

  constructor(private readonly graph: Graph, private readonly layout: Layout | null, private readonly boxes: ReadonlyMap<string, Box>) {}

  /** A block of this body has its box by now. */
  stands(parent: string | null, box: Box): void {
    this.lowest.set(parent, Math.max(this.lowest.get(parent) ?? 0, box[1] + box[3] + 20));
  }

  /** Right of what it follows, else below everything. */
  beside({ tail, parent }: Block): readonly [number, number] {
    this.sources ??= sourcesIn(this.graph);
    for (const one of this.sources.get(tail) ?? []) {
      const source = this.boxes.get(one) ?? this.layout?.boxes.get(one);
      if (source !== undefined) return [source[0] + source[2] + 72, source[1]];
    }
    return parent === null ? [0, this.lowest.get(null) ?? 0] : [FRAME_PAD, Math.max(FRAME_HEAD, this.lowest.get(parent) ?? 0)];
  }
}

function sourcesIn(graph: Graph): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { source, target } of graph.wires.values()) {
    gather(found, target, source);
  }
  return found;
}

export function boundsOf(spots: readonly Spot[]): Bounds {
  if (spots.length === 0) return UNPLACED.bounds;
  let [x, y, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const spot of spots) {
    x = Math.min(x, spot.left);
    y = Math.min(y, spot.top);
    right = Math.max(right, spot.left + spot.width);
    bottom = Math.max(bottom, spot.top + spot.height);
  }
  return { x, y, width: right - x, height: bottom - y };
}

/** The innermost container under a point, but for those given and what is inside them. */
export function frameAt(graph: Graph, spots: ReadonlyMap<string, Spot>, x: number, y: number, moving: readonly string[]): string | null {
  const out = new Set(outermost(graph, moving));
  const inside = (parent: string | null): string | null => {
    for (const tail of graph.children.get(parent) ?? []) {
      const spot = spots.get(tail);
      if (spot === undefined || out.has(tail) || !(graph.blocks.get(tail)?.container ?? false)) continue;
      if (x < spot.left || x > spot.left + spot.width || y < spot.top || y > spot.top + spot.height) continue;
      return inside(tail) ?? tail;
    }
    return null;
  };
  return inside(null);
}

/** The way of an edge from its source's port: the bends, and where its target's port is, while both ends are where the layout put them. */
export interface Way {
  readonly bends: readonly number[];
  readonly across: number;
  readonly down: number;
}

export function wayOf(graph: Graph, layout: Layout, wire: { readonly tail: string; readonly source: string; readonly target: string; readonly handle: string }): Way | null {
  const bends = layout.bends.get(wire.tail);
  const [source, target] = [layout.boxes.get(wire.source), layout.boxes.get(wire.target)];
  const [from, to] = [graph.blocks.get(wire.source), graph.blocks.get(wire.target)];
  if (bends === undefined || source === undefined || target === undefined || from === undefined || to === undefined) return null;
  if (graph.places.has(wire.source) || graph.places.has(wire.target)) return null;
  const port = portsOf(from).find((one) => one.exit === wire.handle)?.y ?? entryOf(from);
  return {
    bends: bends.map((length, place) => length - (place % 2 === 0 ? source[2] : port)),
    across: target[0] - source[0] - source[2], down: target[1] + entryOf(to) - source[1] - port,
  };
}

function same(left: Spot, right: Spot): boolean {
  return left.x === right.x && left.y === right.y && left.left === right.left && left.top === right.top
    && left.width === right.width && left.height === right.height;
}
