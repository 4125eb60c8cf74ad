/**
 * Applies effects to a draft, in log order. It never refuses: an effect that finds nothing to work on
 * (no entity, a step of the path that is no object, a splice where no text is) changes nothing.
 */
import type { Effect, Entity } from "./log/effects.ts";
import { Layer, type State, type Writable } from "./state.ts";
import { at, isObject, spliced, withLeaf, without, type Json } from "./values/values.ts";

/** The entity after the effect; undefined where there is none then. */
export function after(entity: Entity | undefined, effect: Effect): Entity | undefined {
  switch (effect[0]) {
    case "put":
      return effect[2];
    case "del":
      return undefined;
    default:
      return entity === undefined ? undefined : (changed(entity, effect) ?? entity);
  }
}

function changed(entity: Entity, effect: Exclude<Effect, readonly ["put" | "del", ...unknown[]]>): Entity | undefined {
  let made: Json | undefined;
  if (effect[2].length === 0) return undefined;
  switch (effect[0]) {
    case "set":
      made = withLeaf(entity, effect[2], effect[3], effect[4] ?? null);
      break;
    case "unset":
      made = without(entity, effect[2]);
      break;
    case "splice": {
      const text = at(entity, effect[2]);
      made = typeof text === "string" ? withLeaf(entity, effect[2], spliced(text, effect[3], effect[4], effect[5]), null) : undefined;
    }
  }
  return isObject(made) ? made : undefined;
}

/** Applies effects to a state in place. */
export function apply(state: Writable, effects: Iterable<Effect>): void {
  for (const effect of effects) {
    const before = state.get(effect[1]);
    const made = after(before, effect);
    if (made !== before) state.put(effect[1], made);
  }
}

/** A state over the given one in which the effects have happened. */
export function fold(state: State, effects: Iterable<Effect>): Layer {
  const layer = new Layer(state);
  apply(layer, effects);
  return layer;
}
