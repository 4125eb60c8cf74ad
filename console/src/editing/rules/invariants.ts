/** Checks what must hold of every state of a draft, committed or shown: the check that tests and the simulation make. */
import { namedIn, prefixOf, tailOf, type State } from "../state.ts";
import { HANGING } from "../tables.ts";
import { EMPTY, textAt } from "../values/values.ts";
import { untied } from "./bodies.ts";
import { bodyOf } from "./references.ts";

/** A sentence for each entity that is not whole. Costs the whole state. */
export function faults(state: State): string[] {
  const found: string[] = [];
  for (const key of state.keys()) {
    const entity = state.get(key) ?? EMPTY;
    const prefix = prefixOf(key);
    if (prefix === "edge") {
      const why = untied(state, entity)?.[0];
      if (why === "gone") found.push(`${key} has an end without a block`);
      else if (why !== undefined) found.push(`${key} joins two bodies`);
    } else if (HANGING.includes(prefix) && !state.has(`block/${tailOf(key)}`)) {
      found.push(`${key} has no block`);
    } else if (prefix === "block") {
      const parent = entity.get("parent") ?? null;
      if (parent !== null && !state.has(`block/${textAt(entity, "parent")}`)) found.push(`${key} is inside a block that does not exist`);
      if (state.found(namedIn(parent, entity.get("id"))).length > 1) found.push(`${key} has the name of another block in its body`);
      if (insideItself(state, key)) found.push(`${key} is inside itself`);
    }
  }
  return found;
}

function insideItself(state: State, key: string): boolean {
  const seen = new Set([key]);
  for (let above = bodyOf(state, tailOf(key)); typeof above === "string"; above = bodyOf(state, above)) {
    if (seen.has(`block/${above}`)) return true;
    seen.add(`block/${above}`);
  }
  return false;
}
