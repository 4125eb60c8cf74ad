/**
 * The blocks and edges of a view, as the canvas and the outline show them.
 *
 * A graph is made anew from every view, but what has not changed is the same object as before, so that only what changed is drawn.
 */
import type { Entity } from "../../editing/effects.ts";
import { roomOf, type State } from "../../editing/state.ts";
import { at, byText, isObject, textAt } from "../../editing/values.ts";
import type { Kinds } from "./kinds.ts";

export const SOURCE = "source";
export const ERROR = "error";

/** `parent` is the tail of the container around it, null in the workflow itself. `exits` have `error` last, where it is there. */
export interface Block {
  readonly tail: string;
  readonly id: string;
  readonly type: string;
  readonly parent: string | null;
  readonly order: string;
  readonly container: boolean;
  readonly entry: boolean;
  readonly enabled: boolean;
  readonly exits: readonly string[];
  readonly entity: Entity;
}

export interface Wire {
  readonly tail: string;
  readonly source: string;
  readonly target: string;
  readonly handle: string;
  readonly param: string;
  readonly entity: Entity;
}

export interface Graph {
  readonly blocks: ReadonlyMap<string, Block>;
  readonly wires: ReadonlyMap<string, Wire>;
  /** Tails in their order, by container; null is the workflow itself. */
  readonly children: ReadonlyMap<string | null, readonly string[]>;
  readonly places: ReadonlyMap<string, readonly [x: number, y: number]>;
}

export const NOTHING: Graph = { blocks: new Map(), wires: new Map(), children: new Map(), places: new Map() };

export function graphOf(state: State, kinds: Kinds, former: Graph = NOTHING): Graph {
  const found: [string, Entity][] = [];
  const wires = new Map<string, Wire>();
  const places = new Map<string, readonly [number, number]>();
  const used = new Map<string, Set<string>>();
  for (const key of state.keys()) {
    const entity = state.get(key);
    if (entity === undefined) continue;
    const room = roomOf(key);
    const tail = key.slice(room.length + 1);
    if (room === "block") found.push([tail, entity]);
    else if (room === "place") places.set(tail, [number(entity, "x"), number(entity, "y")]);
    else if (room === "edge") {
      const wire = former.wires.get(tail)?.entity === entity ? former.wires.get(tail) : wireOf(tail, entity);
      if (wire === undefined) continue;
      wires.set(tail, wire);
      const handles = used.get(wire.source);
      if (handles === undefined) used.set(wire.source, new Set([wire.handle]));
      else handles.add(wire.handle);
    }
  }
  const blocks = new Map<string, Block>();
  let placedAlike = found.length === former.blocks.size;
  for (const [tail, entity] of found) {
    const before = former.blocks.get(tail);
    const block = blockOf(tail, entity, state, kinds, used.get(tail), before);
    blocks.set(tail, block);
    placedAlike &&= before !== undefined && before.parent === block.parent && before.order === block.order;
  }
  return {
    blocks: alike(former.blocks, blocks), wires: alike(former.wires, wires), children: placedAlike ? former.children : childrenIn(blocks),
    places: alike(former.places, places, (left, right) => left[0] === right[0] && left[1] === right[1]),
  };
}

/** The former map, if the new one has the same under the same keys, in the same order. */
function alike<T>(former: ReadonlyMap<string, T>, made: ReadonlyMap<string, T>, same: (left: T, right: T) => boolean = Object.is): ReadonlyMap<string, T> {
  if (former.size !== made.size) return made;
  const others = former.entries();
  for (const [key, value] of made) {
    const other = others.next();
    if (other.done === true || other.value[0] !== key || !same(other.value[1], value)) return made;
  }
  return former;
}

function blockOf(
  tail: string, entity: Entity, state: State, kinds: Kinds, used: ReadonlySet<string> | undefined, former: Block | undefined,
): Block {
  const type = textAt(entity, "type");
  const exits = exitsOf(type, entity, kinds, used);
  const container = kinds.get(type)?.container ?? state.has(`subflow/${tail}`);
  const entry = kinds.get(type)?.entry ?? false;
  if (former?.entity === entity && former.container === container && sameTexts(former.exits, exits)) return former;
  const parent = entity.get("parent");
  return {
    tail, id: textAt(entity, "id"), type, parent: typeof parent === "string" ? parent : null, order: textAt(entity, "order"),
    container, entry, enabled: entity.get("enabled") !== false, exits, entity,
  };
}

function wireOf(tail: string, entity: Entity): Wire {
  return {
    tail, source: textAt(entity, "source"), target: textAt(entity, "target"), handle: textAt(entity, "handle") || SOURCE,
    param: textAt(entity, "param"), entity,
  };
}

/** Parameters whose keys are exits. */
const BRANCHES: ReadonlyMap<string, string> = new Map([["condition", "cases"], ["router", "routes"]]);

function exitsOf(type: string, entity: Entity, kinds: Kinds, used: ReadonlySet<string> | undefined): string[] {
  const kind = kinds.get(type);
  const branches = BRANCHES.get(type);
  const named = branches === undefined ? undefined : at(entity, ["with", branches]);
  const exits = new Set(branches === undefined ? (kind?.exits ?? [SOURCE]) : isObject(named) ? named.keys() : []);
  for (const handle of used ?? []) exits.add(handle);
  exits.delete(ERROR);
  const ends = kind !== undefined && kind.exits.length === 0 && branches === undefined;
  return ends && !(used?.has(ERROR) ?? false) ? [...exits] : [...exits, ERROR];
}

function childrenIn(blocks: ReadonlyMap<string, Block>): Map<string | null, string[]> {
  const bodies = new Map<string | null, Block[]>();
  for (const block of blocks.values()) {
    const body = bodies.get(block.parent);
    if (body === undefined) bodies.set(block.parent, [block]);
    else body.push(block);
  }
  return new Map([...bodies].map(([parent, body]) => {
    body.sort((left, right) => byText(left.order, right.order) || byText(left.tail, right.tail));
    return [parent, body.map((block) => block.tail)];
  }));
}

/** The containers around a block, innermost first. */
export function around(graph: Graph, tail: string): string[] {
  const found: string[] = [];
  for (let above = graph.blocks.get(tail)?.parent ?? null; above !== null; above = graph.blocks.get(above)?.parent ?? null) {
    if (found.includes(above)) break;
    found.push(above);
  }
  return found;
}

/** All that is inside a container, however deep; nothing of a block that is none. */
export function descendants(graph: Graph, tail: string): string[] {
  const found = [...(graph.children.get(tail) ?? [])];
  for (let place = 0; place < found.length; place += 1) {
    for (const one of graph.children.get(found[place] ?? null) ?? []) if (one !== tail && !found.includes(one)) found.push(one);
  }
  return found;
}

/** The tails without those whose container, or one around it, is among them: what a deletion or a copy takes along anyway. */
export function outermost(graph: Graph, tails: Iterable<string>): string[] {
  const all = new Set(tails);
  return [...all].filter((tail) => graph.blocks.has(tail) && !around(graph, tail).some((above) => all.has(above)));
}

function number(entity: Entity, name: string): number {
  const value = entity.get(name);
  if (typeof value === "number") return value;
  const written = isObject(value) ? Number(value.get("#")) : 0;
  return Number.isFinite(written) ? written : 0;
}

function sameTexts(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, place) => text === right[place]);
}
