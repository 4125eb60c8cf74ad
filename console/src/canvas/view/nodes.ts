/** The graph as React Flow takes it. What has not changed is the same object as before: only what changed is drawn again. */
import { Position } from "@xyflow/react";
import { gather } from "../../editing/values/gathering.ts";
import type { Finding } from "../../wire/draft/open_draft.ts";
import type { Person } from "../../wire/draft/people.ts";
import type { Look } from "../desk.ts";
import { wayOf, type Spot } from "../layout/placing.ts";
import { worstOf } from "../model/findings.ts";
import { ERROR, SOURCE, type Block, type Graph, type Wire } from "../model/graph.ts";
import { entryOf, portsOf } from "../model/sizes.ts";
import { lies, nearby, type Area, type Near } from "./area.ts";
import type { BlockNode } from "./block.tsx";
import type { WireEdge } from "./wire.tsx";

export type Drags = ReadonlyMap<string, { readonly x: number; readonly y: number }>;

const NOBODY: readonly Person[] = [];
const NO_TAILS: readonly string[] = [];
const NO_NODES: BlockNode[] = [];
const NO_EDGES: WireEdge[] = [];

export class Nodes {
  private former = new Map<string, { readonly node: BlockNode; readonly from: readonly unknown[]; readonly block: Block }>();
  private nodes: BlockNode[] = [];
  private wires: WireEdge[] = [];
  private formerWires = new Map<string, { readonly edge: WireEdge; readonly from: readonly unknown[] }>();
  private lying: { readonly from: readonly unknown[]; readonly near: Near } | null = null;
  private failing: { readonly wires: Graph["wires"]; readonly tails: ReadonlySet<string> } | null = null;

  /** The blocks in an area, a container before what is in it. `drags` are blocks that follow the pointer; `held` are drawn wherever they stand. */
  of(look: Look, drags: Drags, people: readonly Person[], area: Area | null, held: readonly string[] = []): BlockNode[] {
    if (area === null) return NO_NODES;
    const chosen = selections(people);
    const failing = this.failingIn(look.graph);
    const next = new Map<string, { node: BlockNode; from: readonly unknown[]; block: Block }>();
    const made: BlockNode[] = [];
    for (const [tail, drawn] of this.near(look, area, elsewhere(look, area, held)).blocks) {
      const block = look.graph.blocks.get(tail);
      const spot = look.placed.spots.get(tail);
      if (block === undefined || spot === undefined) continue;
      const from = [spot, look.selected.has(tail), look.findings.get(tail), drags.get(tail), chosen.get(tail), failing.has(tail), drawn, isEmpty(look.graph, block)] as const;
      const former = this.former.get(tail);
      const one = former !== undefined && drawnAlike(former.block, block) && same(former.from, from) ? former : { node: nodeOf(block, ...from), from, block };
      next.set(tail, one);
      made.push(one.node);
    }
    this.former = next;
    this.nodes = same(this.nodes, made) && this.nodes.length === made.length ? this.nodes : made; // for the same list React Flow does nothing
    return this.nodes;
  }

  /** The edges in an area. */
  edges(look: Look, area: Area | null): WireEdge[] {
    if (area === null) return NO_EDGES;
    const next = new Map<string, { edge: WireEdge; from: readonly unknown[] }>();
    const made: WireEdge[] = [];
    for (const wire of this.near(look, area, NO_TAILS).wires) {
      const moved = look.graph.places.has(wire.source) || look.graph.places.has(wire.target);
      const from = [wire, look.layout, look.edges.has(wire.tail), moved] as const;
      const former = this.formerWires.get(wire.tail);
      const one = former !== undefined && same(former.from, from) ? former : { edge: edgeOf(look.graph, look, wire), from };
      next.set(wire.tail, one);
      made.push(one.edge);
    }
    this.formerWires = next;
    this.wires = same(this.wires, made) && this.wires.length === made.length ? this.wires : made;
    return this.wires;
  }

  /** What lies in the area: of the same look, and when only parameters changed, what it was before. */
  private near(look: Look, area: Area, also: readonly string[]): Near {
    if (also.length > 0) return nearby(look, area, also);
    const from = [look.graph.children, look.graph.wires, look.placed, look.selected, look.edges, area];
    if (this.lying === null || !same(this.lying.from, from)) this.lying = { from, near: nearby(look, area) };
    return this.lying.near;
  }

  private failingIn(graph: Graph): ReadonlySet<string> {
    if (this.failing?.wires !== graph.wires) {
      const tails = new Set<string>();
      for (const wire of graph.wires.values()) if (wire.handle === ERROR) tails.add(wire.source);
      this.failing = { wires: graph.wires, tails };
    }
    return this.failing.tails;
  }
}

/** Of those that have to be drawn, the ones that do not stand in the area. */
function elsewhere(look: Look, area: Area, held: readonly string[]): readonly string[] {
  if (held.length === 0) return held;
  return held.filter((tail) => {
    const spot = look.placed.spots.get(tail);
    return spot !== undefined && !lies(spot, area);
  });
}

function isEmpty(graph: Graph, block: Block): boolean {
  return block.container && (graph.children.get(block.tail) ?? []).length === 0;
}

const NO_FINDINGS: readonly Finding[] = [];

function nodeOf(
  block: Block, spot: Spot, selected: boolean, findings: readonly Finding[] | undefined, drag: { readonly x: number; readonly y: number } | undefined,
  people: readonly Person[] | undefined, failing: boolean, drawn: boolean, empty: boolean,
): BlockNode {
  const severity = worstOf(findings);
  const entry = { type: "target" as const, position: Position.Left, x: 0, y: entryOf(block), width: 1, height: 1 };
  return {
    id: block.tail, type: block.container ? "frame" : "block", position: drag ?? { x: spot.x, y: spot.y }, width: spot.width, height: spot.height, selected,
    data: { block, findings: findings ?? NO_FINDINGS, severity, people: people ?? NOBODY, failing, empty },
    handles: [entry, ...portsOf(block).map(({ exit, y }) => ({ type: "source" as const, id: exit, position: Position.Right, x: spot.width, y, width: 1, height: 1 }))],
    ...(block.parent === null ? {} : { parentId: block.parent }), ...(drawn ? {} : { hidden: true }),
  };
}

const ABOVE = 5; // the blocks and their ports: the ends of an edge that is selected can be taken

function edgeOf(graph: Graph, look: Look, wire: Wire): WireEdge {
  const way = look.layout === null ? null : wayOf(graph, look.layout, wire);
  const inner = (graph.blocks.get(wire.source)?.parent ?? null) !== null;
  return {
    id: wire.tail, type: "wire", source: wire.source, target: wire.target, sourceHandle: wire.handle, selected: look.edges.has(wire.tail),
    data: { way, label: wire.param, handle: wire.handle }, zIndex: look.edges.has(wire.tail) ? ABOVE : inner ? 1 : 0,
    ariaLabel: `${graph.blocks.get(wire.source)?.id ?? ""}${wire.handle === SOURCE ? "" : `.${wire.handle}`} to ${graph.blocks.get(wire.target)?.id ?? ""}`,
  };
}

/** By block: the others who have it selected. */
function selections(people: readonly Person[]): ReadonlyMap<string, readonly Person[]> {
  const found = new Map<string, Person[]>();
  for (const person of people) {
    for (const tail of person.selection) {
      gather(found, tail, person);
    }
  }
  return found;
}

/** Whether two states of a block look the same: what is in its parameters is not seen on it. */
function drawnAlike(left: Block, right: Block): boolean {
  const drawn = ({ id, type, parent, container, entry, enabled, exits }: Block): readonly unknown[] => [id, type, parent, container, entry, enabled, exits.length, ...exits];
  return left === right || same(drawn(left), drawn(right));
}

/** Lists of people are made anew at each message: they are the same if those in them are. */
function same(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.every((one, place) => {
    const other = right[place];
    if (Array.isArray(one) && Array.isArray(other) && one !== other) return one.length === other.length && one.every((item, index) => item === other[index]);
    return one === other;
  });
}
