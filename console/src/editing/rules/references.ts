/**
 * Renaming: which texts mean a block, and the splices that give them its new name.
 *
 * A name in a text means the nearest block of that name: in the body of the node that the text belongs to, else in the body around
 * it, and so on. A container's own parameters belong to the body in which the container stands.
 */
import type { SetEffect, SpliceEffect } from "../log/effects.ts";
import { MENTION, mentions, namedIn, prefixOf, tailOf, type State } from "../state.ts";
import { points, texts, type Json } from "../values/values.ts";
import { shapeOf } from "./shapes.ts";

/** The container, by its tail, whose body a block is in; null for that of the workflow itself, or where there is no such block. */
export function bodyOf(state: State, tail: Json): Json {
  return typeof tail === "string" ? (state.get(`block/${tail}`)?.get("parent") ?? null) : null;
}

/** The key of the block that a name means in a body. */
export function meant(state: State, body: Json, name: string): string | null {
  const seen = new Set<Json>();
  for (let inside = body; !seen.has(inside); inside = bodyOf(state, inside)) {
    seen.add(inside);
    const found = state.found(namedIn(inside, name))[0];
    if (found !== undefined) return found;
    if (inside === null) return null;
  }
  return null;
}

/** Returns the blocks and subflows that refer to this block by name. */
export function readers(state: State, key: string): string[] {
  const name = state.get(key)?.get("id");
  if (typeof name !== "string") return [];
  return state.found(mentions(name)).filter((other) => meant(state, bodyOf(state, tailOf(other)), name) === key);
}

/** The effects that give a block another name: its id, then each reference. */
export function renaming(state: State, key: string, name: string): (SetEffect | SpliceEffect)[] {
  const former = state.get(key)?.get("id");
  const made: (SetEffect | SpliceEffect)[] = [["set", key, ["id"], name]];
  if (typeof former === "string") made.push(...rewritten(state, readers(state, key), former, name));
  return made;
}

/** A splice for each `<former` in the texts of these entities. */
export function rewritten(state: State, keys: Iterable<string>, former: string, name: string): SpliceEffect[] {
  const made: SpliceEffect[] = [];
  const length = points(former);
  const longer = points(name) - length;
  for (const key of keys) {
    for (const [path, text] of texts(state.get(key))) {
      if ((shapeOf(prefixOf(key), path[0] ?? "") ?? "object") !== "object") continue; // a name, not a text
      let shift = 0;
      for (const found of text.matchAll(MENTION)) {
        if (found[1] !== former) continue;
        made.push(["splice", key, path, points(text.slice(0, found.index + 1)) + shift, length, name]);
        shift += longer;
      }
    }
  }
  return made;
}
