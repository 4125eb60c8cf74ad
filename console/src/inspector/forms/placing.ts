/** Findings at the fields that they are about: their paths lead through the document. */
import { around, type Graph } from "../../canvas/model/graph.ts";
import type { Finding } from "../../wire/draft/open_draft.ts";

/** The part of a finding's path that is inside its node, such as `with.url`; empty for the node itself. */
export function within(graph: Graph, tail: string, path: string): string {
  const names = [...around(graph, tail)].reverse().concat(tail).map((one) => graph.blocks.get(one)?.id ?? "");
  const start = `nodes.${names.join(".with.body.nodes.")}`;
  return path === start ? "" : path.startsWith(`${start}.`) ? path.slice(start.length + 1) : "";
}

export interface Placed {
  readonly place: string;
  readonly finding: Finding;
}

export function placedIn(graph: Graph, tail: string, findings: readonly Finding[]): Placed[] {
  return findings.map((finding) => ({ place: within(graph, tail, finding.path), finding }));
}

/** Those about the workflow itself, at its fields: they belong to no entity. */
export function placedInWorkflow(findings: ReadonlyMap<string, readonly Finding[]>): Placed[] {
  return (findings.get("") ?? []).filter(({ path }) => path !== "" && !/^(?:nodes|edges)(?:\.|$)/.test(path)).map((finding) => ({ place: finding.path, finding }));
}

/** Those at a place and inside it. */
export function inside(placed: readonly Placed[], place: string): Placed[] {
  return placed.filter((one) => one.place === place || one.place.startsWith(`${place}.`));
}
