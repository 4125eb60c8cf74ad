/** The keys that walk the graph of a run: along the edges, into containers and out of them, and by the time at which nodes began. */
import type { Graph } from "../../../canvas/model/graph.ts";
import { neighbour, walked, type Direction } from "../../../canvas/model/walking.ts";
import type { NodeSummary } from "../../../runstate/types.ts";

const ARROWS: Readonly<Record<string, Direction>> = { ArrowRight: "forward", ArrowLeft: "back", ArrowDown: "down", ArrowUp: "up" };

/**
 * The node that a key leads to, null for another key. Where no edge and no neighbour leads on, the next or former node in topological
 * order follows, so that every node is reached.
 */
export function stepped(graph: Graph, current: string, key: string): string | null {
  const all = walked(graph).map(({ tail }) => tail);
  if (key === "Home" || (key in ARROWS && !graph.blocks.has(current))) return all[0] ?? null;
  if (key === "End") return all.at(-1) ?? null;
  const direction = Object.hasOwn(ARROWS, key) ? ARROWS[key] : undefined;
  if (direction === undefined) return null;
  const by = direction === "forward" || direction === "down" ? 1 : -1;
  return neighbour(graph, current, direction) ?? all[all.indexOf(current) + by] ?? current;
}

/** The node that began after `current`, or before it: `]` and `[`. The first or the last one without a current node; null where there is none. */
export function nextBegun(nodes: Iterable<NodeSummary>, current: string, by: 1 | -1): string | null {
  const begun = [...nodes].filter((node) => node.begin_ms !== null).sort((left, right) => (left.begin_ms ?? 0) - (right.begin_ms ?? 0));
  const place = begun.findIndex(({ path }) => path === current);
  const next = place < 0 ? (by === 1 ? 0 : begun.length - 1) : place + by;
  return begun[next]?.path ?? null;
}
