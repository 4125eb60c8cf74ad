/** The graph as React Flow takes it. What has not changed is the same object as before: only what changed is drawn again. */
import { Position } from "@xyflow/react";
import type { Finding } from "../../wire/room.ts";
import type { Person } from "../../wire/people.ts";
import type { Look } from "../desk.ts";
import { wayOf, type Spot } from "../layout/placing.ts";
import { ERROR, SOURCE, type Block, type Graph, type Wire } from "../model/graph.ts";
import { entryOf, portsOf } from "../model/sizes.ts";
import type { BlockNode } from "./block.tsx";
import type { WireEdge } from "./wire.tsx";

export type Drags = ReadonlyMap<string, { readonly x: number; readonly y: number }>;

const NOBODY: readonly Person[] = [];

export class Nodes {
  private former = new Map<string, { readonly node: BlockNode; readonly from: readonly unknown[] }>();
  private formerWires = new Map<string, { readonly edge: WireEdge; readonly from: readonly unknown[] }>();

  /** A container stands before what is in it. `drags` are blocks that follow a pointer, of this person or of another. */
  of(look: Look, drags: Drags, people: readonly Person[]): BlockNode[] {
    const chosen = selections(people);
    const failing = new Set<string>();
    for (const wire of look.graph.wires.values()) if (wire.handle === ERROR) failing.add(wire.source);
    const next = new Map<string, { node: BlockNode; from: readonly unknown[] }>();
    const made: BlockNode[] = [];
    const walk = (parent: string | null): void => {
      for (const tail of look.graph.children.get(parent) ?? []) {
        const block = look.graph.blocks.get(tail);
        const spot = look.placed.spots.get(tail);
        if (block === undefined || spot === undefined) continue;
        const from = [block, spot, look.selected.has(tail), look.findings.get(tail), drags.get(tail), chosen.get(tail), failing.has(tail)] as const;
        const held = this.former.get(tail);
        const one = held !== undefined && same(held.from, from) ? held : { node: nodeOf(...from), from };
        next.set(tail, one);
        made.push(one.node);
        if (block.container) walk(tail);
      }
    };
    walk(null);
    this.former = next;
    return made;
  }

  edges(look: Look): WireEdge[] {
    const next = new Map<string, { edge: WireEdge; from: readonly unknown[] }>();
    for (const wire of look.graph.wires.values()) {
      const moved = look.graph.places.has(wire.source) || look.graph.places.has(wire.target);
      const from = [wire, look.layout, look.edges.has(wire.tail), moved] as const;
      const held = this.formerWires.get(wire.tail);
      next.set(wire.tail, held !== undefined && same(held.from, from) ? held : { edge: edgeOf(look.graph, look, wire), from });
    }
    this.formerWires = next;
    return [...next.values()].map((one) => one.edge);
  }
}

function nodeOf(
  block: Block, spot: Spot, selected: boolean, findings: readonly Finding[] | undefined, drag: { readonly x: number; readonly y: number } | undefined,
  people: readonly Person[] | undefined, failing: boolean,
): BlockNode {
  const severity = findings === undefined ? null : findings.some((one) => one.severity === "error") ? "error" : "warning";
  const entry = { type: "target" as const, position: Position.Left, x: 0, y: entryOf(block), width: 1, height: 1 };
  return {
    id: block.tail, type: block.container ? "frame" : "block", position: drag ?? { x: spot.x, y: spot.y }, width: spot.width, height: spot.height, selected,
    data: { block, findings: findings?.length ?? 0, severity, people: people ?? NOBODY, failing },
    handles: [entry, ...portsOf(block).map(({ exit, y }) => ({ type: "source" as const, id: exit, position: Position.Right, x: spot.width, y, width: 1, height: 1 }))],
    ...(block.parent === null ? {} : { parentId: block.parent }),
  };
}

function edgeOf(graph: Graph, look: Look, wire: Wire): WireEdge {
  const way = look.layout === null ? null : wayOf(graph, look.layout, wire);
  const inner = (graph.blocks.get(wire.source)?.parent ?? null) !== null;
  return {
    id: wire.tail, type: "wire", source: wire.source, target: wire.target, sourceHandle: wire.handle, selected: look.edges.has(wire.tail),
    data: { way, label: wire.param, handle: wire.handle }, zIndex: inner ? 1 : 0,
    ariaLabel: `${graph.blocks.get(wire.source)?.id ?? ""}${wire.handle === SOURCE ? "" : `.${wire.handle}`} to ${graph.blocks.get(wire.target)?.id ?? ""}`,
  };
}

/** By block: the others who have it selected. */
function selections(people: readonly Person[]): ReadonlyMap<string, readonly Person[]> {
  const found = new Map<string, Person[]>();
  for (const person of people) {
    for (const tail of person.selection) {
      const held = found.get(tail);
      if (held === undefined) found.set(tail, [person]);
      else held.push(person);
    }
  }
  return found;
}

/** Lists of people are made anew at each message: they are the same if those in them are. */
function same(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.every((one, place) => {
    const other = right[place];
    if (Array.isArray(one) && Array.isArray(other) && one !== other) return one.length === other.length && one.every((item, index) => item === other[index]);
    return one === other;
  });
}
