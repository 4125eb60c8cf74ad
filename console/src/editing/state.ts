/**
 * The entities of a draft by key, with the indexes that its rules ask: blocks by name in their body, children of a container, edges
 * at a block. A change costs what it touches.
 *
 * `Draft` is changed in place by what is committed. `Layer` stands over another state and holds only what differs from it: what a
 * person sees before the server has decided. A layer is worthless once the state below it changes: make it anew.
 */
import type { Entity } from "./effects.ts";
import { byText, type Json } from "./values.ts";

export interface State {
  get(key: string): Entity | undefined;
  has(key: string): boolean;
  /** Keys of the entities that an index holds under a label, in the order of keys. */
  found(label: string): readonly string[];
  keys(): Iterable<string>;
}

export interface Writable extends State {
  put(key: string, entity: Entity | undefined): void;
}

/** What kind of entity a key stands for: `block` of `block/b1`, `doc` of `doc`. */
export function roomOf(key: string): string {
  const slash = key.indexOf("/");
  return slash < 0 ? key : key.slice(0, slash);
}

export function tailOf(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}

const part = (value: Json | undefined): string => (typeof value === "string" ? `'${value}` : "");

export const childrenOf = (parent: Json | undefined): string => `in ${part(parent)}`;
export const namedIn = (parent: Json | undefined, id: Json | undefined): string => `name ${JSON.stringify([part(parent), part(id)])}`;
export const endsAt = (block: Json | undefined): string => `end ${part(block)}`;
export const tieOf = (edge: Entity): string =>
  `tie ${JSON.stringify(["source", "handle", "target", "param", "key"].map((field) => part(edge.get(field))))}`;

/** The labels under which the indexes hold an entity. */
function labels(key: string, entity: Entity): string[] {
  switch (roomOf(key)) {
    case "block":
      return [childrenOf(entity.get("parent")), namedIn(entity.get("parent"), entity.get("id"))];
    case "edge":
      return [...new Set([endsAt(entity.get("source")), endsAt(entity.get("target")), tieOf(entity)])];
    default:
      return [];
  }
}

export class Draft implements Writable {
  private readonly entities = new Map<string, Entity>();
  private readonly index = new Map<string, Set<string>>();

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

  put(key: string, entity: Entity | undefined): void {
    const before = this.entities.get(key);
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

export class Layer implements Writable {
  private readonly changed = new Map<string, Entity | undefined>();
  private readonly index = new Map<string, Map<string, boolean>>();

  constructor(private readonly below: State) {}

  get(key: string): Entity | undefined {
    return this.changed.has(key) ? this.changed.get(key) : this.below.get(key);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** The keys whose entities differ from the state below, or did for a while. */
  touched(): Iterable<string> {
    return this.changed.keys();
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
