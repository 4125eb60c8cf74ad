/** The orders in which a person walks through a graph: all blocks with the keyboard, and along the edges. */
import { gather } from "../../editing/values/gathering.ts";
import type { Graph } from "./graph.ts";

export interface Row {
  readonly tail: string;
  readonly level: number;
}

/** Every block once: a body in topological order, what is inside a container right after it. Blocks on a cycle come last in their body. */
export function walked(graph: Graph): Row[] {
  const rows: Row[] = [];
  const after = new Map<string, string[]>();
  const before = new Map<string, number>();
  for (const wire of graph.wires.values()) {
    if (graph.blocks.get(wire.source)?.parent !== graph.blocks.get(wire.target)?.parent || wire.source === wire.target) continue;
    gather(after, wire.source, wire.target);
    before.set(wire.target, (before.get(wire.target) ?? 0) + 1);
  }
  const walk = (parent: string | null, level: number): void => {
    for (const tail of sorted(graph.children.get(parent) ?? [], after, before)) {
      rows.push({ tail, level });
      walk(tail, level + 1);
    }
  };
  walk(null, 1);
  return rows;
}

function sorted(body: readonly string[], after: ReadonlyMap<string, readonly string[]>, before: ReadonlyMap<string, number>): string[] {
  const owed = new Map(body.map((tail) => [tail, before.get(tail) ?? 0]));
  const made: string[] = [];
  const seen = new Set<string>();
  for (const first of body) {
    const ready = owed.get(first) === 0 ? [first] : [];
    for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      made.push(next);
      for (const target of [...(after.get(next) ?? [])].reverse()) {
        const left = (owed.get(target) ?? 0) - 1;
        owed.set(target, left);
        if (left === 0) ready.push(target);
      }
    }
  }
  return [...made, ...body.filter((tail) => !seen.has(tail))];
}

export type Direction = "forward" | "back" | "up" | "down";

/** The block that an arrow key leads to: along an edge, or to a neighbour with the same source or target; null where there is none. */
export function neighbour(graph: Graph, tail: string, direction: Direction): string | null {
  if (direction === "forward") return ends(graph, tail, "source", "target")[0] ?? null;
  if (direction === "back") return ends(graph, tail, "target", "source")[0] ?? null;
  const siblings = beside(graph, tail);
  const place = siblings.indexOf(tail);
  return siblings[place + (direction === "down" ? 1 : -1)] ?? null;
}

function ends(graph: Graph, tail: string, here: "source" | "target", there: "source" | "target"): string[] {
  return [...graph.wires.values()].filter((wire) => wire[here] === tail).map((wire) => wire[there]);
}

/** Those that share a source with it, else a target, else its body. */
function beside(graph: Graph, tail: string): readonly string[] {
  const [source] = ends(graph, tail, "target", "source");
  const after = source === undefined ? [] : [...new Set(ends(graph, source, "source", "target"))];
  if (after.length > 1) return after;
  const [target] = ends(graph, tail, "source", "target");
  const before = target === undefined ? [] : [...new Set(ends(graph, target, "target", "source"))];
  return before.length > 1 ? before : (graph.children.get(graph.blocks.get(tail)?.parent ?? null) ?? []);
}
