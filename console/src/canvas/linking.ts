/** The address of a node: its name, after those of the containers around it. It holds in every epoch of the draft, unlike a key. */
import { around, type Graph } from "./model/graph.ts";

const BETWEEN = "."; // no name has one

/** Null for a block that is not there. */
export function nameInAddress(graph: Graph, tail: string): string | null {
  const block = graph.blocks.get(tail);
  if (block === undefined) return null;
  return [...around(graph, tail).map((above) => graph.blocks.get(above)?.id ?? "").reverse(), block.id].join(BETWEEN);
}

/** The block that an address names; null where there is none. */
export function blockInAddress(graph: Graph, name: string): string | null {
  let found: string | null = null;
  for (const id of name.split(BETWEEN)) {
    const next: string | undefined = (graph.children.get(found) ?? []).find((tail) => graph.blocks.get(tail)?.id === id);
    if (next === undefined) return null;
    found = next;
  }
  return found;
}

/** The query of an address with this node; without one for null. What else it has stays. */
export function queryWithNode(query: string, name: string | null): string {
  const next = new URLSearchParams(query);
  if (name === null) next.delete("node");
  else next.set("node", name);
  const made = next.toString();
  return made === "" ? "" : `?${made}`;
}
