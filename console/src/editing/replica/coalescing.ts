/**
 * Combines the steps of one action into fewer operations: a value that was set again, and texts that were typed one behind the
 * other. Only steps of one action are joined, since a refusal or an undo takes an operation whole.
 */
import type { SetEffect, SpliceEffect, Write } from "../log/effects.ts";
import { operation, type Operation } from "../log/operations.ts";
import type { Pending } from "./pending.ts";
import { prefixOf } from "../state.ts";
import { points, samePath, slicePoints } from "../values/values.ts";

/** The same operations in their order, neighbours of one action as one where that means the same. */
export function coalesced(parts: readonly Pending[]): Pending[] {
  const made: Pending[] = [];
  for (const part of parts) {
    const last = made.at(-1);
    const one = last === undefined || last.entry !== part.entry || last.entry === null || last.origin !== part.origin
      ? null : together(last.operation, part.operation);
    if (one === null || last === undefined) made.push(part);
    else made[made.length - 1] = { ...last, operation: one };
  }
  return made;
}

function together(former: Operation, later: Operation): Operation | null {
  if (former.guards.length + later.guards.length + former.derived.length + later.derived.length > 0) return null;
  const [one, other] = [former.writes[0], later.writes[0]];
  if (former.writes.length === 1 && later.writes.length === 1 && one?.[0] === "splice" && other?.[0] === "splice") {
    const splice = spliced(one, other);
    return splice === null ? null : operation([splice]);
  }
  const settings = former.writes.map((write, place) => setAgain(write, later.writes[place]));
  return settings.length === later.writes.length && settings.every((write) => write !== null) ? operation(settings) : null;
}

/** One splice for two: the later one lies within what the former typed, or touches it. */
function spliced(former: SpliceEffect, later: SpliceEffect): SpliceEffect | null {
  const [, key, path, start, removed, text] = former;
  const [, other, into, at, gone, typed] = later;
  const within = at - start;
  const length = points(text);
  if (key !== other || !samePath(path, into) || within < 0 || within > length || within + gone > length) {
    // a removal that ends where the former one begins, as of the key Backspace
    const touches = key === other && samePath(path, into) && text === "" && at + gone === start && typed === "";
    return touches ? ["splice", key, path, at, gone + removed, ""] : null;
  }
  return ["splice", key, path, start, removed, slicePoints(text, 0, within) + typed + slicePoints(text, within + gone)];
}

/** Prefixes whose values affect nothing but themselves: a block that moves twice may lose edges in between. */
const VALUES: ReadonlySet<string> = new Set(["place", "note", "doc", "text", "pin"]);

function setAgain(former: Write, later: Write | undefined): SetEffect | null {
  if (former[0] !== "set" || later?.[0] !== "set" || former[1] !== later[1] || !samePath(former[2], later[2])) return null;
  if (!VALUES.has(prefixOf(former[1])) && former[2].length < 2) return null;
  const before = former[4] ?? null;
  return before === null ? ["set", former[1], former[2], later[3]] : ["set", former[1], former[2], later[3], before];
}
