/**
 * Validates one operation, write by write, on a layer over the state, and collects its effects.
 *
 * Edges are validated when the operation ends: until then an operation may tie blocks that it moves only later.
 */
import type { Effect, Entity, PutEffect, SetEffect, SpliceEffect, UnsetEffect, Write } from "../log/effects.ts";
import { after } from "../fold.ts";
import { spread } from "../values/orders.ts";
import { childrenOf, endsAt, Layer, mentions, namedIn, prefixOf, tailOf, tieOf, type State } from "../state.ts";
import { HANGING, MAX_DRAFT_BLOCKS, MAX_DRAFT_DEPTH, MAX_ORDER_CHARACTERS, REPLACED, type DropCode } from "../tables.ts";
import { at, byText, EMPTY, points, same, slicePoints, textAt, withKey, type Json } from "../values/values.ts";
import type { Budget } from "./budget.ts";
import { depthOf, freeName, hanging, levelsOf, sees, tiedAlready, untied } from "./bodies.ts";
import { bodyOf, readers, renaming, rewritten } from "./references.ts";
import { pinFault } from "./pins.ts";
import { Refused } from "./refused.ts";
import { fits } from "./shapes.ts";

/** Writes that do nothing, by their places in the operation. */
export interface Drop {
  readonly code: DropCode;
  readonly key: string;
  readonly places: Set<number>;
}

/** `effects` and `layer` are what the operation does; `withdrawn` are edges that were put and taken back. */
export class Trial {
  readonly layer: Layer;
  effects: Effect[] = [];
  readonly withdrawn: Write[] = [];
  private readonly drops = new Map<string, Drop>();
  private notForeseen: Write[] = [];
  private readonly edges = new Map<string, number>(); // those put, with their place in the operation
  private readonly added: string[] = [];
  private readonly moved: string[] = [];
  private readonly called = new Map<string, string>(); // blocks that could not keep the name that the operation gave them, with it
  private readonly renamed = new Map<string, { former: string; meant: Set<string> }>();

  constructor(state: State, private readonly budget: Budget) {
    this.layer = new Layer(state);
  }

  get dropped(): Iterable<Drop> {
    return this.drops.values();
  }

  drop(place: number, code: DropCode, key: string): void {
    const name = `${code} ${key}`;
    const held = this.drops.get(name);
    if (held === undefined) this.drops.set(name, { code, key, places: new Set([place]) });
    else held.places.add(place);
  }

  /** The splices, since the last call, that the client did not ask for. */
  unforeseen(): Write[] {
    return this.notForeseen.splice(0);
  }

  /** Does a write or drops it; whether it was done. `cause` is the write that it was derived from. Throws `Refused`. */
  validate(place: number, write: Write, cause: Write | null): boolean {
    if (!fits(write)) throw new Refused("not_allowed", write[1]);
    if (cause !== null) return this.derived(write, cause);
    if (write[0] === "put") return this.put(place, write);
    if (!this.layer.has(write[1])) {
      this.drop(place, "gone", write[1]);
      return false;
    }
    if (write[0] === "rename") return this.rename(write[1], write[2], write[3] ?? false);
    if (write[0] === "del") return this.remove(write[1]);
    if (write[0] === "set" && prefixOf(write[1]) === "block" && write[2].length === 1) {
      const field = write[2][0];
      if (field === "id" || field === "parent" || field === "order") return this.setField(place, write, field);
    }
    return this.change(place, write);
  }

  /** Validates what only the whole operation decides. */
  finish(): void {
    this.followNames();
    this.untie();
    for (const key of new Set(this.effects.map(([, one]) => one))) {
      const code = prefixOf(key) === "pin" && this.layer.has(key) ? pinFault(this.layer, key) : null;
      if (code !== null) throw new Refused(code, key);
    }
  }

  // -- additions -------------------------------------------------------------------------------------------------------

  private put(place: number, write: PutEffect): boolean {
    const [, key, entity] = write;
    const prefix = prefixOf(key);
    const held = this.layer.get(key);
    if (held !== undefined && same(held, entity)) return true;
    if (held !== undefined && !REPLACED.includes(prefix)) {
      this.drop(place, "already_there", key);
      return false;
    }
    if (HANGING.includes(prefix) && !this.layer.has(`block/${tailOf(key)}`)) {
      this.drop(place, "gone", `block/${tailOf(key)}`);
      return false;
    }
    if (prefix === "block") return this.putBlock(place, write);
    if (prefix === "edge") {
      const stands = this.layer.found(tieOf(entity))[0]; // not this one: it is not there
      if (stands !== undefined) {
        this.drop(place, "already_there", stands);
        return false;
      }
      this.edges.set(key, place);
    }
    this.take(write);
    this.added.push(key);
    return true;
  }

  private putBlock(place: number, [, key, entity]: PutEffect): boolean {
    const parent = entity.get("parent") ?? null;
    if (typeof parent === "string" && !this.layer.has(`block/${parent}`)) {
      this.drop(place, "gone", `block/${parent}`);
      return false;
    }
    if (this.layer.blocks >= MAX_DRAFT_BLOCKS) throw new Refused("too_many_blocks", key);
    if (depthOf(this.layer, parent) > MAX_DRAFT_DEPTH) throw new Refused("too_deep", key);
    const asked = textAt(entity, "id");
    const free = freeName(this.layer, parent, asked, this.budget, key);
    if (free !== asked) this.called.set(key, asked);
    this.take(["put", key, withKey(entity, "id", free, null)]);
    this.added.push(key);
    return true;
  }

  /** References among what the operation added mean the block that it added, under the name that this got. */
  private followNames(): void {
    const added = new Set(this.added);
    for (const [key, asked] of this.called) {
      const block = this.layer.get(key);
      if (block === undefined) continue;
      const parent = block.get("parent") ?? null;
      const among = this.layer.found(mentions(asked)).filter((one) => added.has(one) && sees(this.layer, one, parent));
      this.takeUnforeseen(rewritten(this.layer, among, asked, textAt(block, "id")));
    }
  }

  // -- removals --------------------------------------------------------------------------------------------------------

  private remove(key: string): boolean {
    if (prefixOf(key) === "subflow" && this.layer.found(childrenOf(tailOf(key))).length > 0) throw new Refused("not_allowed", key);
    for (const gone of hanging(this.layer, key)) this.take(["del", gone]);
    return true;
  }

  /** Edges hold only between two blocks of one body. */
  private untie(): void {
    for (const [key, place] of this.edges) {
      const edge = this.layer.get(key);
      const why = edge === undefined ? null : untied(this.layer, edge);
      if (why === null) continue;
      this.drop(place, ...why);
      this.withdrawn.push(["put", key, EMPTY]);
      this.withdraw(key);
    }
    for (const block of this.moved) {
      for (const key of this.layer.found(endsAt(tailOf(block)))) {
        const edge = this.layer.get(key);
        if (edge !== undefined && untied(this.layer, edge) !== null) this.take(["del", key]);
      }
    }
  }

  /** Takes back an entity that the operation itself added, with whatever it then did to it. */
  private withdraw(key: string): void {
    const last = this.effects.findLastIndex((effect) => effect[0] === "put" && effect[1] === key);
    this.effects = this.effects.filter((effect, place) => effect[1] !== key || place < last);
    this.layer.put(key, undefined);
  }

  // -- changes ---------------------------------------------------------------------------------------------------------

  private rename(key: string, name: string, expanded: boolean): boolean {
    const block = this.layer.get(key) ?? EMPTY;
    const former = block.get("id");
    if (former === name) return true;
    const [taken] = this.layer.found(namedIn(block.get("parent"), name));
    if (taken !== undefined) throw new Refused("name_taken", taken);
    this.renamed.set(key, { former: typeof former === "string" ? former : "", meant: new Set(readers(this.layer, key)) });
    if (expanded) {
      this.take(["set", key, ["id"], name]);
      return true;
    }
    const [setting, ...splices] = renaming(this.layer, key, name);
    if (setting !== undefined) this.take(setting);
    this.takeUnforeseen(splices.filter((effect): effect is SpliceEffect => effect[0] === "splice"));
    return true;
  }

  /**
   * A write that the client derived. Deletions are derived anew, and a rename sets the id itself; a reference is rewritten as far as
   * it still means the block.
   */
  private derived(write: Write, cause: Write): boolean {
    if (write[0] !== "splice" || cause[0] !== "rename") return write[0] !== "splice";
    const renamed = this.renamed.get(cause[1]);
    const text = at(this.layer.get(write[1]), write[2]);
    if (renamed === undefined || renamed.former === "" || !renamed.meant.has(write[1])) return false;
    if (write[5] !== cause[2] || typeof text !== "string") return false;
    const [start, end] = [write[3], write[3] + write[4]];
    const stands = slicePoints(text, start, end) === renamed.former && slicePoints(text, 0, start).endsWith("<")
      && [".", ">", "[", "!>"].some((next) => slicePoints(text, end, end + next.length) === next);
    if (stands) this.take(write);
    return stands;
  }

  private setField(place: number, write: SetEffect, field: "id" | "parent" | "order"): boolean {
    const [, key, , value] = write;
    const block = this.layer.get(key) ?? EMPTY;
    if (same(block.get(field), value)) return true;
    if (field === "parent") return this.move(place, write, block);
    const text = typeof value === "string" ? value : ""; // its shape was validated
    if (field === "id") return this.rename(key, text, true);
    this.take(write);
    if (text.length > MAX_ORDER_CHARACTERS) this.reorder(block.get("parent"));
    return true;
  }

  private move(place: number, write: SetEffect, block: Entity): boolean {
    const [, key, , into] = write;
    if (typeof into === "string" && !this.layer.has(`block/${into}`)) {
      this.drop(place, "gone", `block/${into}`);
      return false;
    }
    for (let above = into; typeof above === "string"; above = bodyOf(this.layer, above)) {
      if (above === tailOf(key)) throw new Refused("parent_cycle", key);
    }
    if (into !== null && depthOf(this.layer, into) + levelsOf(this.layer, key, this.budget) > MAX_DRAFT_DEPTH) throw new Refused("too_deep", key);
    const name = textAt(block, "id");
    const free = freeName(this.layer, into, name, this.budget, key);
    if (free !== name) this.take(["set", key, ["id"], free]);
    this.take(write);
    this.moved.push(key);
    return true;
  }

  /** Gives the blocks of a body short orders, in the order that they have. */
  private reorder(body: Json | undefined): void {
    const order = (key: string): string => textAt(this.layer.get(key) ?? EMPTY, "order");
    const blocks = [...this.layer.found(childrenOf(body))].sort((left, right) => byText(order(left), order(right)) || byText(left, right));
    const orders = spread(blocks.length);
    for (const [place, key] of blocks.entries()) this.take(["set", key, ["order"], orders[place] ?? ""]);
  }

  private change(place: number, asked: SetEffect | UnsetEffect | SpliceEffect): boolean {
    const [word, key, path] = asked;
    const entity = this.layer.get(key) ?? EMPTY;
    let write = asked;
    if (write[0] === "splice") {
      const text = at(entity, path);
      if (typeof text !== "string") {
        this.drop(place, "superseded", key);
        return false;
      }
      const start = Math.min(write[3], points(text));
      const removed = Math.min(write[4], points(text) - start);
      write = ["splice", key, path, start, removed, write[5]];
      if (slicePoints(text, start, start + removed) === write[5]) return true;
    }
    if (word === "set") {
      if (!same(at(after(entity, asked), path), asked[3])) { // a step of its path is no object any more
        this.drop(place, "superseded", key);
        return false;
      }
      if (prefixOf(key) === "edge" && tiedAlready(this.layer, asked, entity)) {
        this.drop(place, "already_there", key);
        return false;
      }
    }
    if (!same(after(entity, write), entity)) this.take(write);
    return true;
  }

  private take(effect: Effect): void {
    const held = this.layer.get(effect[1]);
    this.budget.took(effect, held);
    this.effects.push(effect);
    this.layer.put(effect[1], after(held, effect));
  }

  private takeUnforeseen(splices: readonly SpliceEffect[]): void {
    for (const splice of splices) {
      this.take(splice);
      this.notForeseen.push(splice);
    }
  }
}
