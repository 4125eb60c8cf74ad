/**
 * The blocks and edges of a view, as the canvas and the outline show them; their parameters are read from the view itself.
 *
 * A graph is made from the one before and the keys of what changed, and costs what it touches. What looks as before is the same object:
 * a block, each of the maps, the whole graph. So a letter typed in a parameter gives the graph that there was.
 */
import type { Entity } from "../../editing/log/effects.ts";
import { gather } from "../../editing/values/gathering.ts";
import { endsAt, prefixOf, tailOf, type State } from "../../editing/state.ts";
import { at, byText, isObject, textAt } from "../../editing/values/values.ts";
import { BRANCHES } from "../../wire/tables/kinds.ts";
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
  /** What its parameters say of it in one line, where they are read with the graph. */
  readonly brief?: string;
}

export interface Wire {
  readonly tail: string;
  readonly source: string;
  readonly target: string;
  readonly handle: string;
  readonly param: string;
}

export interface Graph {
  readonly blocks: ReadonlyMap<string, Block>;
  readonly wires: ReadonlyMap<string, Wire>;
  /** Tails in their order, by container; null is the workflow itself. */
  readonly children: ReadonlyMap<string | null, readonly string[]>;
  readonly places: ReadonlyMap<string, readonly [x: number, y: number]>;
}

export const NOTHING: Graph = { blocks: new Map(), wires: new Map(), children: new Map(), places: new Map() };

/** `changed`: the keys of all entities that may be others than when `former` was made; null: any may. */
export function graphOf(state: State, kinds: Kinds, former: Graph = NOTHING, changed: Iterable<string> | null = null): Graph {
  const [wires, places] = [new Revised(former.wires), new Revised(former.places)];
  const tails = new Set<string>(); // of the blocks to look at
  for (const key of changed ?? keysOf(state, former)) {
    const tail = tailOf(key);
    const entity = state.get(key);
    switch (prefixOf(key)) {
      case "block":
      case "subflow":
        tails.add(tail);
        break;
      case "place":
        places.set(tail, entity === undefined ? undefined : [number(entity, "x"), number(entity, "y")]);
        break;
      case "edge":
        for (const wire of [wires.get(tail), wires.set(tail, entity === undefined ? undefined : wireOf(tail, entity))]) {
          if (wire !== undefined) tails.add(wire.source); // its exits may be others
        }
    }
  }
  const blocks = new Revised(former.blocks);
  const bodies = revise(blocks, tails, state, kinds);
  const children = bodies.size === 0 ? former.children : childrenIn(blocks.map, former.children, bodies, tails);
  const made = { blocks: blocks.map, wires: wires.map, children, places: places.map };
  return alike(former, made) ? former : made;
}

/** Looks at the blocks again. Returns the containers in which one came, went or has another place now. */
function revise(blocks: Revised<Block>, tails: ReadonlySet<string>, state: State, kinds: Kinds): ReadonlySet<string | null> {
  const bodies = new Set<string | null>();
  for (const tail of tails) {
    const before = blocks.get(tail);
    const entity = state.get(`block/${tail}`);
    const after = blocks.set(tail, entity === undefined ? undefined : blockOf(tail, entity, state, kinds));
    if (before?.parent === after?.parent && before?.order === after?.order) continue;
    for (const block of [before, after]) if (block !== undefined) bodies.add(block.parent);
  }
  return bodies;
}

function* keysOf(state: State, former: Graph): Iterable<string> {
  yield* state.keys();
  for (const [prefix, tails] of [["block", former.blocks], ["edge", former.wires], ["place", former.places]] as const) {
    for (const tail of tails.keys()) yield `${prefix}/${tail}`;
  }
}

/** A map that is copied once something in it becomes another value. */
class Revised<T extends object> {
  private copy: Map<string, T> | null = null;

  constructor(private readonly former: ReadonlyMap<string, T>) {}

  get map(): ReadonlyMap<string, T> {
    return this.copy ?? this.former;
  }

  get(key: string): T | undefined {
    return this.map.get(key);
  }

  /** Sets the value, undefined for none. What is there then: the former object, where the new one has the same fields. */
  set(key: string, value: T | undefined): T | undefined {
    const before = this.get(key);
    if (before === value || (before !== undefined && value !== undefined && alike(before, value))) return before;
    this.copy ??= new Map(this.former);
    if (value === undefined) this.copy.delete(key);
    else this.copy.set(key, value);
    return value;
  }
}

/** Whether two values of the same type have the same fields; lists in them are compared item by item. */
function alike(left: object, right: object): boolean {
  const others = Object.values(right) as unknown[];
  return Object.values(left).every((one: unknown, place) => {
    const other = others[place];
    return one === other || (Array.isArray(one) && Array.isArray(other) && one.length === other.length && one.every((part, index) => part === other[index]));
  });
}

function blockOf(tail: string, entity: Entity, state: State, kinds: Kinds): Block {
  const type = textAt(entity, "type");
  const kind = kinds.get(type);
  const parent = entity.get("parent");
  return {
    tail, id: textAt(entity, "id"), type, parent: typeof parent === "string" ? parent : null, order: textAt(entity, "order"),
    container: kind?.container ?? state.has(`subflow/${tail}`), entry: kind?.entry ?? false, enabled: isEnabled(entity),
    exits: exitsOf(type, entity, kinds, handlesAt(state, tail)),
  };
}

/** By which exits edges leave a block. */
function handlesAt(state: State, tail: string): Set<string> {
  const used = new Set<string>();
  for (const key of state.found(endsAt(tail))) {
    const edge = state.get(key);
    if (edge !== undefined && textAt(edge, "source") === tail) used.add(textAt(edge, "handle") || SOURCE);
  }
  return used;
}

/** Whether a node works: a disabled one has false, or the exit by which it leaves. */
export function isEnabled(node: Entity | undefined): boolean {
  const enabled = node?.get("enabled");
  return enabled === undefined || enabled === true;
}

/** The exits by which a disabled block may leave. */
export function exitsToLeaveBy(block: Block | undefined): readonly string[] {
  return (block?.exits ?? []).filter((exit) => exit !== ERROR);
}

function wireOf(tail: string, entity: Entity): Wire {
  return { tail, source: textAt(entity, "source"), target: textAt(entity, "target"), handle: textAt(entity, "handle") || SOURCE, param: textAt(entity, "param") };
}

function exitsOf(type: string, entity: Entity, kinds: Kinds, used: ReadonlySet<string>): string[] {
  const kind = kinds.get(type);
  const branches = Object.hasOwn(BRANCHES, type) ? BRANCHES[type] : undefined;
  const named = branches === undefined ? undefined : at(entity, ["with", branches]);
  const exits = new Set(branches === undefined ? (kind?.exits ?? [SOURCE]) : isObject(named) ? named.keys() : []);
  for (const handle of used) exits.add(handle);
  exits.delete(ERROR);
  const ends = kind !== undefined && kind.exits.length === 0 && branches === undefined;
  return ends && !used.has(ERROR) ? [...exits] : [...exits, ERROR];
}

/** The children of all containers: those of `bodies` anew, where `tails` are all blocks that came, went or stand elsewhere now. */
function childrenIn(
  blocks: ReadonlyMap<string, Block>, former: Graph["children"], bodies: ReadonlySet<string | null>, tails: ReadonlySet<string>,
): Graph["children"] {
  const made = new Map(former);
  const found = new Map([...bodies].map((parent) => [parent, (former.get(parent) ?? []).filter((tail) => !tails.has(tail)).flatMap((tail) => blocks.get(tail) ?? [])]));
  for (const tail of tails) {
    const block = blocks.get(tail);
    if (block !== undefined) found.get(block.parent)?.push(block);
  }
  for (const [parent, body] of found) {
    body.sort((left, right) => byText(left.order, right.order) || byText(left.tail, right.tail));
    if (body.length === 0) made.delete(parent);
    else made.set(parent, body.map((block) => block.tail));
  }
  return made;
}

const ENDS = new WeakMap<Graph["wires"], ReadonlyMap<string, readonly Wire[]>>();

/** The edges that leave a block or lead to it. */
export function wiresAt(graph: Graph, tail: string): readonly Wire[] {
  let ends = ENDS.get(graph.wires);
  if (ends === undefined) {
    const made = new Map<string, Wire[]>();
    for (const wire of graph.wires.values()) {
      for (const end of new Set([wire.source, wire.target])) {
        gather(made, end, wire);
      }
    }
    ENDS.set(graph.wires, ends = made);
  }
  return ends.get(tail) ?? [];
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
  const found = new Set(graph.children.get(tail));
  for (const inner of found) for (const one of graph.children.get(inner) ?? []) if (one !== tail) found.add(one); // a set that grows is walked to its end
  return [...found];
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
