/** Questions about blocks in their bodies, which the judging of an operation asks. */
import type { Effect, Entity } from "../log/effects.ts";
import { after } from "../fold.ts";
import { childrenOf, endsAt, namedIn, prefixOf, tailOf, tieOf, type State } from "../state.ts";
import { HANGING, MAX_ID_CHARACTERS, type DropCode } from "../tables.ts";
import { EMPTY, points, slicePoints, textAt, type Json } from "../values/values.ts";
import type { Budget } from "./budget.ts";
import { bodyOf } from "./references.ts";

/** The name that was asked for, or the first of `_2`, `_3` … that no block of the body has. */
export function freeName(state: State, body: Json, asked: string, budget: Budget | null = null, key = ""): string {
  if (state.found(namedIn(body, asked)).length === 0) return asked;
  for (let number = 2; ; number += 1) {
    const end = `_${number}`;
    const name = slicePoints(asked, 0, MAX_ID_CHARACTERS - points(end)) + end;
    if (state.found(namedIn(body, name)).length > 0) continue;
    budget?.tried(number, key);
    return name;
  }
}

/** How many containers are around what is in a body. */
export function depthOf(state: State, body: Json): number {
  let depth = 0;
  for (let around = body; around !== null; around = bodyOf(state, around)) depth += 1;
  return depth;
}

/** How many levels of blocks are below a block. */
export function levelsOf(state: State, key: string, budget: Budget): number {
  let levels = -1;
  for (let row: readonly string[] = [key]; row.length > 0; levels += 1) {
    budget.lookedAt(row.length, row[0] ?? key);
    row = row.flatMap((one) => state.found(childrenOf(tailOf(one))));
  }
  return levels;
}

/** Whether the texts of an entity are in a body or below it. */
export function sees(state: State, reader: string, body: Json): boolean {
  for (let inside = bodyOf(state, tailOf(reader)); inside !== body; inside = bodyOf(state, inside)) {
    if (inside === null) return false;
  }
  return true;
}

/** What goes with an entity, itself last: for each child the same, innermost first. */
export function hanging(state: State, key: string): string[] {
  if (prefixOf(key) !== "block") return [key];
  const found = new Set<string>();
  const opened: (readonly [block: string, entered: boolean])[] = [[key, false]];
  for (let next = opened.pop(); next !== undefined; next = opened.pop()) {
    const [block, entered] = next;
    const tail = tailOf(block);
    if (entered) {
      for (const edge of state.found(endsAt(tail))) found.add(edge);
      for (const one of HANGING) if (state.has(`${one}/${tail}`)) found.add(`${one}/${tail}`);
      found.add(block);
    } else {
      opened.push([block, true]);
      for (const child of state.found(childrenOf(tail)).toReversed()) opened.push([child, false]);
    }
  }
  return [...found];
}

/** Whether an edge that a write changes would carry what another one does. */
export function tiedAlready(state: State, write: Effect, edge: Entity): boolean {
  const made = after(edge, write) ?? EMPTY;
  return tieOf(made) !== tieOf(edge) && state.found(tieOf(made)).length > 0;
}

/** Why an edge cannot stand, and the block that decides; null where both ends are in one body. */
export function untied(state: State, edge: Entity): readonly [code: DropCode, decides: string] | null {
  const ends = [`block/${textAt(edge, "source")}`, `block/${textAt(edge, "target")}`] as const;
  const gone = ends.find((end) => !state.has(end));
  if (gone !== undefined) return ["gone", gone];
  return bodyOf(state, tailOf(ends[0])) === bodyOf(state, tailOf(ends[1])) ? null : ["other_body", ends[1]];
}
