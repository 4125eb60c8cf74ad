/** Duplicates blocks, next to the originals. */
import type { Entity, Write } from "../../editing/log/effects.ts";
import { operation } from "../../editing/log/operations.ts";
import { spread } from "../../editing/values/orders.ts";
import type { State } from "../../editing/state.ts";
import { outermost, type Graph } from "../model/graph.ts";
import type { Fresh } from "../model/keys.ts";
import { lastOrder, placeOf } from "./places.ts";
import type { Pasted } from "./pasting.ts";

const NUDGE = 32; // px to the right and below

/** The blocks with all that is in them and the edges between them. The rules give each a free name, which references within follow. */
export function duplicate(
  state: State, graph: Graph, tails: Iterable<string>, spots: ReadonlyMap<string, { readonly x: number; readonly y: number }>, fresh: Fresh,
): Pasted | null {
  const top = outermost(graph, tails);
  const all = top.flatMap((tail) => withinOf(graph, tail));
  const named = new Map(all.map((tail) => [tail, fresh()]));
  const orders = new Map(spread(top.length).map((order, place) => [top[place] ?? "", order]));
  const writes: Write[] = [];
  for (const [tail, made] of named) {
    const block = state.get(`block/${tail}`);
    if (block === undefined) continue;
    const order = orders.get(tail);
    const parent = graph.blocks.get(tail)?.parent ?? null;
    const fields = order === undefined
      ? { parent: named.get(parent ?? "") ?? null } : { order: `${lastOrder(state, parent)}${order}` };
    writes.push(["put", `block/${made}`, changed(block, fields)]);
    const subflow = state.get(`subflow/${tail}`);
    if (subflow !== undefined) writes.push(["put", `subflow/${made}`, subflow]);
    const place = placeFor(state, tail, order === undefined ? undefined : spots.get(tail));
    if (place !== undefined) writes.push(["put", `place/${made}`, place]);
  }
  writes.push(...edgesAmong(state, graph, named, fresh));
  return writes.length === 0 ? null : { operation: operation(writes), tails: top.map((tail) => named.get(tail) ?? "") };
}

/** The edges between two blocks that are duplicated. */
function edgesAmong(state: State, graph: Graph, named: ReadonlyMap<string, string>, fresh: Fresh): Write[] {
  return [...graph.wires.values()].flatMap((wire): Write[] => {
    const [source, target, edge] = [named.get(wire.source), named.get(wire.target), state.get(`edge/${wire.tail}`)];
    return source === undefined || target === undefined || edge === undefined ? [] : [["put", `edge/${fresh()}`, changed(edge, { source, target })]];
  });
}

/** The block and all that is in it, each container before its contents. */
export function withinOf(graph: Graph, tail: string): string[] {
  return [tail, ...(graph.children.get(tail) ?? []).flatMap((child) => withinOf(graph, child))];
}

function placeFor(state: State, tail: string, spot: { readonly x: number; readonly y: number } | undefined): Entity | undefined {
  return spot === undefined ? state.get(`place/${tail}`) : placeOf(spot.x + NUDGE, spot.y + NUDGE);
}

function changed(entity: Entity, fields: Readonly<Record<string, string | null>>): Entity {
  return new Map([...entity, ...Object.entries(fields)]);
}
