/** Operations that add blocks and edges. Each is made from a view, and says what is written; the rules decide what holds. */
import type { Entity, Write } from "../../editing/log/effects.ts";
import { operation, type Operation } from "../../editing/log/operations.ts";
import { freeName } from "../../editing/rules/bodies.ts";
import { childrenOf, endsAt, namedIn, type State } from "../../editing/state.ts";
import { object, textAt, type Json, type JsonObject } from "../../editing/values/values.ts";
import { around, ERROR, SOURCE, wiresAt, type Graph } from "../model/graph.ts";
import type { Fresh } from "../model/keys.ts";
import type { Kind } from "../model/kinds.ts";
import { move, reparent } from "./changing.ts";
import { behind, lastOrder, placeOf } from "./places.ts";
import { nameOf, templateOf } from "./templates.ts";

/** `x`, `y`: where a person dropped it; without them it is laid out. `after`: the exit that leads to it. */
export interface Addition {
  readonly kind: Pick<Kind, "name" | "container"> & Partial<Pick<Kind, "exits">>;
  readonly parent: string | null;
  readonly name?: string;
  readonly place?: readonly [x: number, y: number];
  readonly after?: readonly [source: string, handle: string];
}

export interface Added {
  readonly operation: Operation;
  readonly tail: string;
}

export function add(state: State, asked: Addition, fresh: Fresh): Added {
  const tail = fresh();
  const name = freeName(state, asked.parent, asked.name ?? nameOf(asked.kind.name));
  const { given, more } = templateOf(state, asked.kind.name);
  const writes: Write[] = [...more, ["put", `block/${tail}`, blockNamed(name, asked.kind.name, asked.parent, lastOrder(state, asked.parent), given)]];
  if (asked.kind.container) writes.push(["put", `subflow/${tail}`, object([["body", object([["nodes", null]])]])]);
  if (asked.place !== undefined) writes.push(["put", `place/${tail}`, placeOf(...asked.place)]);
  if (asked.after !== undefined) writes.push(...edge(state, asked.after[0], asked.after[1], tail, fresh));
  return { operation: operation(writes), tail };
}

/**
 * Puts a new block into an edge: from the edge's exit to the block, and from the block's first exit on to where the edge led. A block
 * without an exit is added next to the edge.
 */
export function insert(state: State, wire: string, asked: Addition, fresh: Fresh): Added {
  const made = add(state, asked, fresh);
  const exit = asked.kind.exits === undefined ? SOURCE : asked.kind.exits[0];
  const writes = exit === undefined ? [] : into(state, wire, made.tail, exit, fresh);
  return { ...made, operation: operation([...made.operation.writes, ...writes]) };
}

/** Whether a block can be put into edges at all: nothing is tied to it yet, it has an exit, and something may lead to it. */
export function isLoose(graph: Graph, tail: string): boolean {
  const block = graph.blocks.get(tail);
  return block !== undefined && !block.entry && block.exits.some((exit) => exit !== ERROR) && wiresAt(graph, tail).length === 0;
}

/** Whether a block can be put into an edge as `between` does: it is loose, and the edge is not inside of it. */
export function fitsBetween(graph: Graph, wire: string, tail: string): boolean {
  const edge = graph.wires.get(wire);
  return edge !== undefined && isLoose(graph, tail) && !around(graph, edge.target).includes(tail);
}

/** Puts a block that is there into an edge, in the body of the edge, at a place of it. */
export function between(state: State, graph: Graph, wire: string, tail: string, place: readonly [x: number, y: number], fresh: Fresh): Operation | null {
  const block = graph.blocks.get(tail);
  const edge = graph.wires.get(wire);
  if (block === undefined || edge === undefined || !fitsBetween(graph, wire, tail)) return null;
  const parent = graph.blocks.get(edge.target)?.parent ?? null;
  const moved = block.parent === parent ? move(state, [[tail, ...place]]) : reparent(state, [[tail, ...place]], parent);
  const exit = block.exits.find((one) => one !== ERROR) ?? SOURCE;
  return operation([...moved?.writes ?? [], ...into(state, wire, tail, exit, fresh)]);
}

function into(state: State, wire: string, tail: string, exit: string, fresh: Fresh): Write[] {
  const held = state.get(`edge/${wire}`);
  if (held === undefined) return [];
  return [
    ["del", `edge/${wire}`], ...edge(state, textAt(held, "source"), textAt(held, "handle") || SOURCE, tail, fresh), ["put", `edge/${fresh()}`, redirected(held, tail, exit)],
  ];
}

/** An edge from an exit to a block. Where it is there already, the rules drop it. */
export function connect(state: State, source: string, handle: string, target: string, fresh: Fresh): Operation {
  return operation(edge(state, source, handle, target, fresh));
}

/** Moves an end of an edge: another source and exit, or another target. */
export function reconnect(state: State, wire: string, source: string, handle: string, target: string, fresh: Fresh): Operation | null {
  const held = state.get(`edge/${wire}`);
  if (held === undefined) return null;
  if (textAt(held, "source") === source && textAt(held, "target") === target && (textAt(held, "handle") || SOURCE) === handle) return null;
  const moved = new Map(held);
  moved.set("source", source);
  moved.set("target", target);
  if (handle === SOURCE) moved.delete("handle");
  else moved.set("handle", handle);
  return operation([["del", `edge/${wire}`], ["put", `edge/${fresh()}`, moved]]);
}

/** The blocks that an edge from this one may lead to: the others of its body. */
export function targets(state: State, source: string): string[] {
  const parent = state.get(`block/${source}`)?.get("parent") ?? null;
  return state.found(childrenOf(parent)).map((key) => key.slice("block/".length)).filter((tail) => tail !== source);
}

/** Whether a name can be given to a block: it is one, and no other block of the body has it. */
export function nameFault(state: State, parent: string | null, tail: string | null, name: string): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name)) return "A name has letters, digits, _ and -, begins with a letter or _, and has at most 64 characters.";
  const taken = state.found(namedIn(parent, name)).some((key) => key !== `block/${tail ?? ""}`);
  return taken ? `Another node in this body is named ${name}.` : null;
}

function blockNamed(name: string, type: string, parent: string | null, order: string, given: JsonObject | null): Entity {
  return object([["id", name], ["parent", parent], ["order", order], ["type", type], ["after", "one"], ...(given === null ? [] : [["with", given] as const])]);
}

function edge(state: State, source: string, handle: string, target: string, fresh: Fresh): Write[] {
  const incoming = state.found(endsAt(target)).map((key) => state.get(key)).filter((one) => one !== undefined && textAt(one, "target") === target);
  const fields: [string, Json][] = [["source", source], ["target", target], ["order", behind(incoming)], ["home", "after"], ["form", "text"]];
  if (handle !== SOURCE) fields.splice(1, 0, ["handle", handle]);
  return [["put", `edge/${fresh()}`, object(fields)]];
}

function redirected(held: Entity, source: string, exit: string): Entity {
  const moved = new Map(held);
  moved.set("source", source);
  if (exit === SOURCE) moved.delete("handle");
  else moved.set("handle", exit);
  return moved;
}
