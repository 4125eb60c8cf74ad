/**
 * How much the decision of one operation may take: the same rule as `stepless.drafts.rules.budget`, counted alike. So what the server would
 * not decide is refused before it is shown as done.
 */
import type { Effect, Entity } from "../log/effects.ts";
import { TEXT } from "../state.ts";
import {
  EFFECT_NAMES, MAX_CROSSED_PAIRS, MAX_DECIDED_CHARACTERS, MAX_DECIDED_EFFECTS, MAX_REWRITTEN_PARTS, MENTION_PARTS, PART_CHARACTERS,
  type RefusalCode,
} from "../tables.ts";
import { isObject, points, type Json } from "../values/values.ts";
import { Refused } from "./refused.ts";

export const TOO_LARGE: RefusalCode = "gesture_too_large";

export const BOUNDS = {
  effects: MAX_DECIDED_EFFECTS, characters: MAX_DECIDED_CHARACTERS, pairs: MAX_CROSSED_PAIRS, parts: MAX_REWRITTEN_PARTS,
};

/** What is left to one decision. Each method throws `Refused` beyond it. */
export class Budget {
  private readonly left: typeof BOUNDS;

  constructor(bounds: typeof BOUNDS) {
    this.left = { ...bounds };
  }

  /** Counts an effect on an entity. */
  took(effect: Effect, entity: Entity | undefined): void {
    const [word, key] = effect;
    if (word === "splice") this.left.characters -= points(effect[5]);
    if (word === "set" || word === "unset" || word === "splice") {
      let held: Json | undefined = entity;
      for (const step of effect[2]) {
        if (!isObject(held)) break;
        this.left.parts -= held.size;
        held = held.get(step);
      }
      if (word === "splice" && typeof held === "string") {
        this.left.parts -= Math.floor(points(held) / PART_CHARACTERS) + (key === TEXT ? 0 : (held.split("<").length - 1) * MENTION_PARTS);
      }
    }
    this.lookedAt(this.left.characters < 0 || this.left.parts < 0 ? Infinity : 1, key);
  }

  /** Counts entities that a write concerns without changing them, as effects. */
  lookedAt(count: number, key: string): void {
    this.left.effects -= count;
    if (this.left.effects < 0) throw new Refused(TOO_LARGE, key);
  }

  /** Counts names that were taken, of those that were tried for a block. */
  tried(names: number, key: string): void {
    this.lookedAt(Math.floor(names / EFFECT_NAMES), key);
  }

  /** Counts pairs of writes of one entity before they are transformed. */
  transformed(pairs: number, key: string): void {
    this.left.pairs -= pairs;
    if (this.left.pairs < 0) throw new Refused(TOO_LARGE, key);
  }
}
