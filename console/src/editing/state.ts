/**
 * The entities of a draft by key, with the indexes that its rules ask: blocks by name in their body, children of a container, edges
 * at a block, entities whose texts mention a name. A change costs what it touches.
 *
 * `Entities` is changed in place by what is committed. `Layer` stands over another state and holds only what differs from it: what a
 * person sees before the server has decided. A layer is worthless once the state below it changes: make it anew.
 */
import type { Entity } from "./log/effects.ts";
import { at, byText, texts, type Json, type Path } from "./values/values.ts";

const MAX_REMEMBERED = 5_000; // changes of a state

export const DOC = "doc";
export const TEXT = "text";

/** `<name` where it can be a reference; the name is the first group. */
export const MENTION = /<([A-Za-z_][A-Za-z0-9_-]{0,63})(?=[.>[]|!>)/g;

export interface State {
  get(key: string): Entity | undefined;
  has(key: string): boolean;
  /** Keys of the entities that an index holds under a label, in the order of keys. */
  found(label: string): readonly string[];
  keys(): Iterable<string>;
  /** How many blocks there are. */
  readonly blocks: number;
  /** What stands below all layers: the state itself, where it is none. */
  readonly ground: Entities;
  /** The keys whose entities differ from the ground, or did for a while. */
  touched(): Iterable<string>;
}

export interface Writable extends State {
  put(key: string, entity: Entity | undefined): void;
}

/** What kind of entity a key stands for: `block` of `block/b1`, `doc` of `doc`. */
export function prefixOf(key: string): string {
  const slash = key.indexOf("/");
  return slash < 0 ? key : key.slice(0, slash);
}

/** The block, edge or note that a key belongs to: `b1` of `place/b1`; an empty text of `doc`. */
export function tailOf(key: string): string {
  const slash = key.indexOf("/");
  return slash < 0 ? "" : key.slice(slash + 1);
}

const part = (value: Json | undefined): string => (typeof value === "string" ? `'${value}` : "");

/** Of the blocks in a body; the body of the workflow itself has the parent null. */
export const childrenOf = (parent: Json | undefined): string => `in ${part(parent)}`;
/** Of the blocks of one name in one body: at most one in a whole state. */
export const namedIn = (parent: Json | undefined, id: Json | undefined): string => `name ${JSON.stringify([part(parent), part(id)])}`;
/** Of the edges that leave a block or lead to it. */
export const endsAt = (block: Json | undefined): string => `end ${part(block)}`;
/** Of all pins. */
export const PINS = "pins";
/** Of the notes. */
export const NOTES = "notes";
/** Of the blocks and subflows whose texts have `<name`. */
export const mentions = (name: string): string => `mentions ${name}`;

const TIE: readonly (readonly [field: string, usual: string | undefined])[] = [
  ["source", undefined], ["handle", "source"], ["target", undefined], ["param", "input"], ["key", ""],
];

/** Of the edges that carry the same part of one exit into one param: the second of two adds nothing. */
export function tieOf(edge: Entity): string {
  return `tie ${JSON.stringify(TIE.map(([field, usual]) => part(edge.has(field) ? edge.get(field) : usual)))}`;
}

/** The labels under which the indexes hold an entity, each once. */
function labels(key: string, entity: Entity): Iterable<string> {
  switch (prefixOf(key)) {
    case "block":
      return [childrenOf(entity.get("parent")), namedIn(entity.get("parent"), entity.get("id")), ...mentioned(entity)];
    case "subflow":
      return mentioned(entity);
    case "edge":
      return new Set([endsAt(entity.get("source")), endsAt(entity.get("target")), tieOf(entity)]);
    case "note":
      return [NOTES];
    case "pin":
      return [PINS];
    default:
      return [];
  }
}

function mentioned(entity: Entity): Set<string> {
  const found = new Set<string>();
  for (const [, text] of texts(entity)) {
    if (!text.includes("<")) continue;
    for (const name of text.matchAll(MENTION)) found.add(mentions(name[1] ?? ""));
  }
  return found;
}

/** The entities by key, sorted by key: a copy that later changes leave as it is. */
export function snapshot(state: State): Map<string, Entity> {
  const made = new Map<string, Entity>();
  for (const key of [...state.keys()].sort(byText)) {
    const entity = state.get(key);
    if (entity !== undefined) made.set(key, entity);
  }
  return made;
}

/** What stands at a path of an entity, null where there is nothing. */
export function valueAt(state: State, key: string, path: Path): Json {
  return at(state.get(key), path) ?? null;
}

/** A state that stands for itself. It remembers which entities were changed last: MAX_REMEMBERED of them at least. */
export class Entities implements Writable {
  readonly ground = this;
  private readonly entities = new Map<string, Entity>();
  private readonly index = new Map<string, Set<string>>();
  private count = 0;
  private changes: string[] = [];
  private forgotten = 0;

  constructor(entities: Iterable<readonly [string, Entity]> = []) {
    for (const [key, entity] of entities) this.put(key, entity);
  }

  get(key: string): Entity | undefined {
    return this.entities.get(key);
  }

  has(key: string): boolean {
    return this.entities.has(key);
  }

  keys(): Iterable<string> {
    return this.entities.keys();
  }

  found(label: string): readonly string[] {
    return [...(this.index.get(label) ?? [])].sort(byText);
  }

  get blocks(): number {
    return this.count;
  }

  touched(): Iterable<string> {
    return [];
  }

  /** How often an entity was changed so far. */
  get age(): number {
    return this.forgotten + this.changes.length;
  }

  /** The keys of what was changed since it had this age, a key once for each change; null where that is forgotten. */
  changedSince(age: number): readonly string[] | null {
    return age < this.forgotten ? null : this.changes.slice(age - this.forgotten);
  }

  put(key: string, entity: Entity | undefined): void {
    this.changes.push(key);
    if (this.changes.length > 2 * MAX_REMEMBERED) {
      this.changes = this.changes.slice(MAX_REMEMBERED);
      this.forgotten += MAX_REMEMBERED;
    }
    const before = this.entities.get(key);
    if (prefixOf(key) === "block") this.count += Number(entity !== undefined) - Number(before !== undefined);
    if (before !== undefined) {
      for (const label of labels(key, before)) {
        const held = this.index.get(label);
        held?.delete(key);
        if (held?.size === 0) this.index.delete(label);
      }
    }
    if (entity === undefined) {
      this.entities.delete(key);
      return;
    }
    this.entities.set(key, entity);
    for (const label of labels(key, entity)) {
      const held = this.index.get(label);
      if (held === undefined) this.index.set(label, new Set([key]));
      else held.add(key);
    }
  }
}

/** What differs from the state below. */
export class Layer implements Writable {
  private readonly changed = new Map<string, Entity | undefined>();
  private readonly index = new Map<string, Map<string, boolean>>();

  private moreBlocks = 0;

  constructor(private readonly below: State) {}

  get blocks(): number {
    return this.below.blocks + this.moreBlocks;
  }

  get(key: string): Entity | undefined {
    return this.changed.has(key) ? this.changed.get(key) : this.below.get(key);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  get ground(): Entities {
    return this.below.ground;
  }

  *touched(): Iterable<string> {
    yield* this.below.touched();
    yield* this.changed.keys();
  }

  *keys(): Iterable<string> {
    for (const key of this.below.keys()) if (this.has(key)) yield key;
    for (const [key, entity] of this.changed) if (entity !== undefined && !this.below.has(key)) yield key;
  }

  found(label: string): readonly string[] {
    const held = this.below.found(label);
    const here = this.index.get(label);
    if (here === undefined) return held;
    const kept = held.filter((key) => here.get(key) ?? true);
    const known = new Set(kept);
    for (const [key, stands] of here) if (stands && !known.has(key)) kept.push(key);
    return kept.sort(byText);
  }

  put(key: string, entity: Entity | undefined): void {
    const before = this.get(key);
    if (prefixOf(key) === "block") this.moreBlocks += Number(entity !== undefined) - Number(before !== undefined);
    if (before !== undefined) for (const label of labels(key, before)) this.note(label, key, false);
    this.changed.set(key, entity);
    if (entity !== undefined) for (const label of labels(key, entity)) this.note(label, key, true);
  }

  private note(label: string, key: string, stands: boolean): void {
    const held = this.index.get(label);
    if (held === undefined) this.index.set(label, new Map([[key, stands]]));
    else held.set(key, stands);
  }
}
