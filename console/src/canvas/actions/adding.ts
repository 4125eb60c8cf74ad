/** Gestures that add blocks and edges. Each is made from a view, and says what is written; the rules decide what holds. */
import type { Entity, Write } from "../../editing/effects.ts";
import { gesture, type Gesture } from "../../editing/gestures.ts";
import { MAX_ORDER_CHARACTERS } from "../../editing/limits.ts";
import { between, isOrder, spread } from "../../editing/orders.ts";
import { freeName } from "../../editing/rules/bodies.ts";
import { childrenOf, endsAt, namedIn, type State } from "../../editing/state.ts";
import { byText, object, textAt, type Json } from "../../editing/values.ts";
import { SOURCE } from "../model/graph.ts";
import type { Fresh } from "../model/keys.ts";
import type { Kind } from "../model/kinds.ts";

/** `x`, `y`: where a person dropped it; without them it is laid out. `after`: the exit that leads to it. */
export interface Addition {
  readonly kind: Pick<Kind, "name" | "container">;
  readonly parent: string | null;
  readonly name?: string;
  readonly place?: readonly [x: number, y: number];
  readonly after?: readonly [source: string, handle: string];
}

export interface Added {
  readonly gesture: Gesture;
  readonly tail: string;
}

export function add(state: State, asked: Addition, fresh: Fresh): Added {
  const tail = fresh();
  const name = freeName(state, asked.parent, asked.name ?? asked.kind.name);
  const writes: Write[] = [["put", `block/${tail}`, blockNamed(name, asked.kind.name, asked.parent, lastOrder(state, asked.parent))]];
  if (asked.kind.container) writes.push(["put", `subflow/${tail}`, object([["body", object([["nodes", null]])]])]);
  if (asked.place !== undefined) writes.push(["put", `place/${tail}`, placeOf(...asked.place)]);
  if (asked.after !== undefined) writes.push(...edge(state, asked.after[0], asked.after[1], tail, fresh));
  return { gesture: gesture(writes), tail };
}

/** Puts a block into an edge: from the edge's exit to the block, and from the block's own success on to where the edge led. */
export function insert(state: State, wire: string, asked: Addition, fresh: Fresh): Added {
  const held = state.get(`edge/${wire}`);
  const made = add(state, asked, fresh);
  if (held === undefined) return made;
  const writes: Write[] = [
    ...made.gesture.writes, ["del", `edge/${wire}`], ...edge(state, textAt(held, "source"), textAt(held, "handle") || SOURCE, made.tail, fresh),
    ["put", `edge/${fresh()}`, redirected(held, made.tail)],
  ];
  return { ...made, gesture: gesture(writes) };
}

/** An edge from an exit to a block. Where it is there already, the rules drop it. */
export function connect(state: State, source: string, handle: string, target: string, fresh: Fresh): Gesture {
  return gesture(edge(state, source, handle, target, fresh));
}

/** Moves an end of an edge: another source and exit, or another target. */
export function reconnect(state: State, wire: string, source: string, handle: string, target: string, fresh: Fresh): Gesture | null {
  const held = state.get(`edge/${wire}`);
  if (held === undefined) return null;
  if (textAt(held, "source") === source && textAt(held, "target") === target && (textAt(held, "handle") || SOURCE) === handle) return null;
  const moved = new Map(held);
  moved.set("source", source);
  moved.set("target", target);
  if (handle === SOURCE) moved.delete("handle");
  else moved.set("handle", handle);
  return gesture([["del", `edge/${wire}`], ["put", `edge/${fresh()}`, moved]]);
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
  return taken ? `Another node here is named ${name}.` : null;
}

export function placeOf(x: number, y: number): Entity {
  return object([["x", Math.round(x)], ["y", Math.round(y)]]);
}

/** An order behind all blocks of a body. */
export function lastOrder(state: State, parent: Json): string {
  return behind(state.found(childrenOf(parent)).map((key) => state.get(key)));
}

function blockNamed(name: string, type: string, parent: string | null, order: string): Entity {
  return object([["id", name], ["parent", parent], ["order", order], ["type", type], ["after", "one"]]);
}

function edge(state: State, source: string, handle: string, target: string, fresh: Fresh): Write[] {
  const incoming = state.found(endsAt(target)).map((key) => state.get(key)).filter((one) => one !== undefined && textAt(one, "target") === target);
  const fields: [string, Json][] = [["source", source], ["target", target], ["order", behind(incoming)], ["home", "after"], ["form", "text"]];
  if (handle !== SOURCE) fields.splice(1, 0, ["handle", handle]);
  return [["put", `edge/${fresh()}`, object(fields)]];
}

function redirected(held: Entity, source: string): Entity {
  const moved = new Map(held);
  moved.set("source", source);
  moved.delete("handle");
  return moved;
}

function behind(entities: readonly (Entity | undefined)[]): string {
  const orders = entities.map((entity) => entity?.get("order")).filter(isOrder).sort(byText);
  const order = between(orders.at(-1) ?? null, null);
  return order.length <= MAX_ORDER_CHARACTERS ? order : (spread(1)[0] ?? "V");
}
