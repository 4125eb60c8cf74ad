/**
 * Where the blocks of a draft are drawn, left to right, where no person has moved them. A container contains the layout of its body,
 * and is as large as that. Pure, and made of plain values: it runs in a worker.
 */
import { gather } from "../../editing/values/gathering.ts";
import { arrange, cell, depths, thin, tie, type Cell } from "./layers.ts";

export interface Sizes {
  readonly head: number; // of a frame: above its body
  readonly pad: number; // next to and below it
  readonly emptyWidth: number;
  readonly emptyHeight: number;
}

/** `place` is where a person put the block, from the corner of the frame around it; `entry` where edges come in, from its top. */
export interface Node {
  readonly id: string;
  readonly parent: string | null;
  readonly container: boolean;
  readonly width: number;
  readonly height: number;
  readonly entry: number;
  readonly place: readonly [x: number, y: number] | null;
}

/** `leaves` is where it leaves its source, from the top of that. */
export interface Edge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly leaves: number;
}

export interface Graph {
  readonly nodes: readonly Node[]; // in their order
  readonly edges: readonly Edge[];
  readonly sizes: Sizes;
}

/** From the corner of the frame around it, or of the canvas. */
export type Box = readonly [x: number, y: number, width: number, height: number];

/** `bends` are the points of an edge in the layers that it crosses, x and y in turn, from the corner of its source's box. */
export interface Layout {
  readonly boxes: ReadonlyMap<string, Box>;
  readonly bends: ReadonlyMap<string, readonly number[]>;
}

const LAYER_GAP = 72;
const GAP = 20;
const GRID = 4;

export function layout(graph: Graph): Layout {
  const bodies = new Map<string | null, Node[]>();
  for (const node of graph.nodes) {
    gather(bodies, node.parent, node);
  }
  const parents = new Map(graph.nodes.map((node) => [node.id, node.parent]));
  const edges = new Map<string | null, Edge[]>();
  for (const edge of graph.edges) {
    const parent = parents.get(edge.source);
    if (parent === undefined || parents.get(edge.target) !== parent) continue;
    gather(edges, parent, edge);
  }
  const boxes = new Map<string, Box>();
  const bends = new Map<string, readonly number[]>();
  const draw = (parent: string | null): readonly [width: number, height: number] => {
    const inner = new Map<string, readonly [number, number]>();
    const body = bodies.get(parent) ?? [];
    for (const node of body) inner.set(node.id, node.container ? draw(node.id) : [node.width, node.height]);
    return drawBody(body, inner, edges.get(parent) ?? [], parent === null ? null : graph.sizes, boxes, bends);
  };
  draw(null);
  return { boxes, bends };
}

/** Lays out one body; the size of the frame around it. */
function drawBody(
  body: readonly Node[], inner: ReadonlyMap<string, readonly [number, number]>, edges: readonly Edge[], frame: Sizes | null,
  boxes: Map<string, Box>, bends: Map<string, readonly number[]>,
): readonly [number, number] {
  if (body.length === 0) return frame === null ? [0, 0] : [frame.emptyWidth, frame.emptyHeight];
  const index = new Map(body.map((node, place) => [node.id, place]));
  const depth = depths(body.length, edges.map((edge) => [index.get(edge.source) ?? 0, index.get(edge.target) ?? 0]));
  const layers: Cell[][] = Array.from({ length: 1 + depth.reduce((most, one) => Math.max(most, one), 0) }, () => []);
  const cells = body.map((node, place) => {
    const made = cell(...(inner.get(node.id) ?? [node.width, node.height]));
    layers[depth[place] ?? 0]?.push(made);
    return made;
  });
  const chains = edges.map((edge) => ({ edge, chain: chained(edge, body, index, depth, cells, layers) }));
  arrange(layers);
  const left = frame?.pad ?? 0;
  const starts = side(layers, left);
  const top = cells.reduce((least, one) => Math.min(least, one.cross - one.height / 2), Infinity) - (frame?.head ?? 0);
  const made = cells.map((one, place): Box => {
    const [start, wide] = starts[depth[place] ?? 0] ?? [0, 0];
    return [snapped(start + (wide - one.width) / 2), snapped(one.cross - one.height / 2 - top), one.width, one.height];
  });
  body.forEach((node, place) => {
    const box = made[place];
    if (box !== undefined) boxes.set(node.id, box);
  });
  for (const { edge, chain } of chains) {
    const [x, y] = boxes.get(edge.source) ?? [0, 0];
    const first = depth[index.get(edge.source) ?? 0] ?? 0;
    const points = chain.flatMap((one, step) => {
      const [start, wide] = starts[first + 1 + step] ?? [0, 0];
      return [start - x, one.cross - top - y, start + wide - x, one.cross - top - y];
    });
    if (points.length > 0) bends.set(edge.id, points);
  }
  place(body, boxes);
  return extent(body, boxes, frame);
}

/** The cells of the layers that an edge crosses, tied to its ends. */
function chained(edge: Edge, body: readonly Node[], index: ReadonlyMap<string, number>, depth: readonly number[], cells: readonly Cell[], layers: Cell[][]): Cell[] {
  const [source, target] = [index.get(edge.source) ?? 0, index.get(edge.target) ?? 0];
  const chain: Cell[] = [];
  let former = cells[source];
  let leaves = former === undefined ? 0 : edge.leaves - former.height / 2;
  for (let layer = (depth[source] ?? 0) + 1; layer < (depth[target] ?? 0); layer += 1) {
    const passing = thin();
    layers[layer]?.push(passing);
    if (former !== undefined) tie(former, passing, leaves, 0);
    chain.push(passing);
    former = passing;
    leaves = 0;
  }
  const last = cells[target];
  if (former !== undefined && last !== undefined && former !== last) tie(former, last, leaves, (body[target]?.entry ?? 0) - last.height / 2);
  return chain;
}

/** Where each layer begins, and how wide it is. */
function side(layers: readonly (readonly Cell[])[], left: number): (readonly [start: number, width: number])[] {
  let start = left;
  return layers.map((layer) => {
    const wide = layer.reduce((most, one) => Math.max(most, one.width), 0);
    const made = [start, wide] as const;
    start += wide + LAYER_GAP;
    return made;
  });
}

/** Puts the blocks that people moved where they put them; blocks that these would cover go below them. */
function place(body: readonly Node[], boxes: Map<string, Box>): void {
  const fixed: Box[] = [];
  for (const node of body) {
    const box = boxes.get(node.id);
    if (node.place === null || box === undefined) continue;
    const moved: Box = [node.place[0], node.place[1], box[2], box[3]];
    boxes.set(node.id, moved);
    fixed.push(moved);
  }
  if (fixed.length === 0) return;
  for (const node of body) {
    let box = boxes.get(node.id);
    if (node.place !== null || box === undefined) continue;
    for (let round = 0; round < fixed.length; round += 1) {
      const held: Box = box;
      const under: Box | undefined = fixed.find((other) => covers(other, held));
      if (under === undefined) break;
      box = [held[0], under[1] + under[3] + GAP, held[2], held[3]];
    }
    boxes.set(node.id, box);
  }
}

function covers([x, y, width, height]: Box, [left, top, wide, high]: Box): boolean {
  return x < left + wide && left < x + width && y < top + high && top < y + height;
}

/** The size of the frame that holds a body. */
export function extent(body: readonly { readonly id: string }[], boxes: ReadonlyMap<string, Box>, frame: Sizes | null): readonly [number, number] {
  let [wide, high] = [0, 0];
  for (const { id } of body) {
    const box = boxes.get(id);
    if (box === undefined) continue;
    wide = Math.max(wide, box[0] + box[2]);
    high = Math.max(high, box[1] + box[3]);
  }
  if (frame === null) return [wide, high];
  return [Math.max(frame.emptyWidth, wide + frame.pad), Math.max(frame.emptyHeight, high + frame.pad)];
}

function snapped(length: number): number {
  return Math.round(length / GRID) * GRID;
}
