/** Many instances as one: what is said of a node whose instances have different statuses. */
import type { Wire } from "../canvas/model/graph.ts";
import { byUrgency } from "../wire/statuses.ts";
import { URGENCY } from "../wire/tables/statuses.ts";
import type { NodeSummary } from "./types.ts";

export type Counts = Readonly<Record<string, number>>;

export function total(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** The status of all of them together: one failure does not make 5,000 failures, but it is what is shown first. */
export function loudest(counts: Counts): string {
  return URGENCY.find((status) => (counts[status] ?? 0) > 0) ?? "pending";
}

/** `4,999 completed, 1 failed`: the most first. One instance needs no number. */
export function said(counts: Counts): string {
  const found = Object.entries(counts).filter(([, count]) => count > 0).sort(([left, many], [right, more]) => more - many || byUrgency([left, many], [right, more]));
  const [only] = found;
  if (only === undefined) return "not started";
  if (found.length === 1 && only[1] === 1) return only[0];
  return found.map(([status, count]) => `${count.toLocaleString("en")} ${status}`).join(", ");
}

/** The failures inside a container, by the paths of its nodes: `x@l` is inside `l`. */
export function failedWithin(nodes: Iterable<NodeSummary>, container: string): readonly string[] {
  const found: string[] = [];
  for (const node of nodes) if (node.path.endsWith(`@${container}`)) found.push(...node.failed);
  return found;
}

export function pathOf(instance: string): string {
  return instance.replaceAll(/\[\d+\]/g, "");
}

/** The name of the node itself, without its containers and turns. */
export function nameOf(instance: string): string {
  return instance.split("@", 1)[0] ?? instance;
}

/** Where it stands: `lines, iteration 7 · orders, iteration 2`; empty outside containers. */
export function turnsOf(instance: string): string {
  return turnsIn(instance).map(([container, turn]) => (turn === "" ? container : `${container}, ${turn}`)).join(" · ");
}

/** Each container around it, from the inside, with the turn. */
export function turnsIn(instance: string): readonly (readonly [container: string, turn: string])[] {
  return instance.split("@").slice(1).map((part) => {
    const found = /^(.*)\[(\d+)\]$/.exec(part);
    return found === null ? [part, ""] : [found[1] ?? "", `iteration ${Number(found[2])}`];
  });
}

export interface Joined {
  readonly path: string;
  readonly left: NodeSummary | null;
  readonly right: NodeSummary | null;
  readonly differs: boolean;
}

/** Two runs, node by node, in the order of the first; what differs is said, times apart. */
export function compared(left: ReadonlyMap<string, NodeSummary>, right: ReadonlyMap<string, NodeSummary>): readonly Joined[] {
  const paths = [...left.keys(), ...[...right.keys()].filter((path) => !left.has(path))];
  return paths.map((path) => {
    const [one, other] = [left.get(path) ?? null, right.get(path) ?? null];
    return { path, left: one, right: other, differs: said(one?.counts ?? {}) !== said(other?.counts ?? {}) || one?.attempts !== other?.attempts };
  });
}

/** Whether something went along an edge: it left the source by this exit, a condition on the edge held, and the target was there for it. */
export function isTaken({ source, handle, target }: Pick<Wire, "source" | "handle" | "target">, nodes: ReadonlyMap<string, NodeSummary>): boolean {
  const [from, to] = [nodes.get(source), nodes.get(target)?.counts ?? {}];
  if ((from?.exits[handle] ?? 0) === 0) return false;
  const condition = from?.conditions.find((one) => one.handle === handle && one.target === nameOf(target));
  return (condition === undefined || condition.held > 0) && Object.entries(to).some(([status, count]) => count > 0 && status !== "skipped" && status !== "pending");
}

/** `5,000 iterations: 4,999 completed, 1 failed`. */
export function turnsSaid(summary: NodeSummary): string {
  const whole = `${summary.turns.toLocaleString("en")} ${summary.turns === 1 ? "iteration" : "iterations"}`;
  if ((summary.counts["running"] ?? 0) > 0 || summary.failed_turns > summary.turns) return whole;
  const good = summary.turns - summary.failed_turns;
  return `${whole}: ${said({ completed: good, failed: summary.failed_turns })}`;
}

/** How long the only instance took; null where there are several, of which a span of time says little, and before its end. */
export function spanOf(summary: NodeSummary): number | null {
  return total(summary.counts) > 1 || summary.begin_ms === null || summary.end_ms === null ? null : summary.end_ms - summary.begin_ms;
}
