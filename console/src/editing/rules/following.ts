/**
 * References to an added block that gets another name before it is confirmed, because another person's block took the name first.
 *
 * Those in the operation that adds the block follow where it is decided. What was written in other operations meanwhile would mean the
 * other person's block by now, so the client rewrites it.
 */
import type { SpliceEffect, Write } from "../log/effects.ts";
import { MENTION, prefixOf, tailOf, valueAt, type State } from "../state.ts";
import { textAt } from "../values/values.ts";
import { bodyOf, meant, readers, rewritten } from "./references.ts";

/** The name of an added block in a view, and the blocks and subflows whose texts mean it by that name. */
export interface Called {
  readonly key: string;
  readonly name: string;
  readonly readers: readonly string[];
}

/** The blocks that unconfirmed writes add and that texts mean, as a view names them. */
export function called(view: State, writes: Iterable<Write>): Called[] {
  const made: Called[] = [];
  for (const write of writes) {
    const block = write[0] === "put" && prefixOf(write[1]) === "block" ? view.get(write[1]) : undefined;
    if (block === undefined) continue;
    const held = readers(view, write[1]);
    if (held.length > 0) made.push({ key: write[1], name: textAt(block, "id"), readers: held });
  }
  return made;
}

/**
 * The splices over `view` that give such blocks the name that they have there, in texts that `writes` touch: those that are not
 * confirmed, or were not when the names were taken. A text of which the confirmed state has the name already may mean the other block,
 * and stays, unless this client's own writes, `taken` since then, are what it has it from.
 */
export function following(view: State, confirmed: State, before: readonly Called[], writes: Iterable<Write>, taken: readonly Write[] = []): SpliceEffect[] {
  const touched = new Set([...writes, ...taken].map((write) => write[1]));
  const own = new Set(taken.map((write) => write[1]));
  const made: SpliceEffect[] = [];
  for (const { key, name, readers: held } of before) {
    const now = view.get(key);
    const chosen = now === undefined ? name : textAt(now, "id");
    if (chosen === name) continue;
    const keys = held.filter((one) => touched.has(one) && view.has(one) && meant(view, bodyOf(view, tailOf(one)), chosen) === key);
    made.push(...rewritten(view, keys, name, chosen).filter((splice) => own.has(splice[1]) || !mentioned(valueAt(confirmed, splice[1], splice[2]), name)));
  }
  return made;
}

function mentioned(text: unknown, name: string): boolean {
  return typeof text === "string" && [...text.matchAll(MENTION)].some((found) => found[1] === name);
}
