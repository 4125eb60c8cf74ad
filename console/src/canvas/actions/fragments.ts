/** Blocks as a fragment of a document: what a copy puts on the clipboard. */
import type { State } from "../../editing/state.ts";
import { EMPTY, textAt } from "../../editing/values/values.ts";
import { decoded, type Value } from "../../editing/values/encoding.ts";
import { outermost, SOURCE, type Graph } from "../model/graph.ts";

const OWN: ReadonlySet<string> = new Set(["id", "parent", "order", "after", "rest", "type"]);

/** What an entry of `after` says otherwise, or not at all. */
const OF_AN_EDGE: ReadonlySet<string> = new Set(["source", "target", "handle", "order", "home", "form", "rest"]);

type Fields = Map<string, Value>;

/** `{nodes}` of these blocks, with the edges between them. */
export function fragment(state: State, graph: Graph, tails: Iterable<string>): ReadonlyMap<string, Value> {
  return body(state, graph, outermost(graph, tails));
}

function body(state: State, graph: Graph, tails: readonly string[]): Fields {
  const inside = new Set(tails);
  const rank = new Map([...graph.blocks.keys()].map((tail, place) => [tail, place]));
  const ordered = [...tails].sort((left, right) => order(graph, left, right) || (rank.get(left) ?? 0) - (rank.get(right) ?? 0));
  return new Map([["nodes", new Map(ordered.map((tail) => [graph.blocks.get(tail)?.id ?? tail, node(state, graph, tail, inside)]))]]);
}

function order(graph: Graph, left: string, right: string): number {
  const [one, other] = [graph.blocks.get(left)?.order ?? "", graph.blocks.get(right)?.order ?? ""];
  return one < other ? -1 : one > other ? 1 : 0;
}

function node(state: State, graph: Graph, tail: string, inside: ReadonlySet<string>): Fields {
  const block = state.get(`block/${tail}`) ?? EMPTY;
  const made: Fields = new Map([["type", textAt(block, "type")]]);
  const entries = [...graph.wires.values()].filter((wire) => wire.target === tail && inside.has(wire.source)).map((wire): Value => {
    const from = graph.blocks.get(wire.source)?.id ?? "";
    const text = wire.handle === SOURCE ? from : `${from}.${wire.handle}`;
    const more = [...(state.get(`edge/${wire.tail}`) ?? EMPTY)].filter(([field]) => !OF_AN_EDGE.has(field)).map(([field, value]): [string, Value] => [field, decoded(value)]);
    return more.length === 0 ? text : new Map<string, Value>([["from", text], ...more]);
  });
  if (entries.length > 0) made.set("after", entries.length === 1 ? (entries[0] ?? null) : entries);
  for (const [field, value] of block) if (!OWN.has(field)) made.set(field, decoded(value));
  const subflow = state.get(`subflow/${tail}`);
  if (subflow !== undefined) {
    const given: Fields = new Map();
    for (const [field, value] of subflow) if (field !== "body" && field !== "rest") given.set(field, decoded(value));
    made.set("with", given.set("body", body(state, graph, graph.children.get(tail) ?? [])));
  }
  return made;
}
