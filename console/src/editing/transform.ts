/**
 * Transforms two concurrent lists of writes, each so that it means the same after the other (operational transformation).
 *
 * Texts stand in the order of the original places where they were typed; at one place the text that is committed first stands first.
 * What both remove is removed once, and what either types is never removed. Of other pairs the one that is committed later stands;
 * only splices of one text need to meet in both orders. Writes of different entities do not concern each other.
 */
import { pathOf, type SpliceEffect, type Write } from "./log/effects.ts";
import { gather } from "./values/gathering.ts";
import { DROPPED } from "./tables.ts";
import { overlaps, points, samePath, startsWith } from "./values/values.ts";

/** `mine` after `theirs`, one list for each of mine (empty: dropped), and `theirs` after `mine`. `first`: mine is committed first. */
export interface Transformed {
  mine: Write[][];
  theirs: Write[];
}

export function transform(mine: readonly Write[], theirs: readonly Write[], first = false): [Write[], Write[]] {
  const transformed = transformEach(mine, theirs, first);
  return [transformed.mine.flat(), transformed.theirs];
}

export function transformEach(mine: readonly Write[], theirs: readonly Write[], first = false): Transformed {
  const made = mine.map((write): Write[] => [write]);
  const others = theirs.map((write): Write[] => [write]);
  const places = new Map<string, number[]>();
  theirs.forEach((write, index) => {
    gather(places, write[1], index);
  });
  mine.forEach((write, index) => {
    let moving: Write[] = [write];
    for (const place of places.get(write[1]) ?? []) {
      const met = crossLists(moving, others[place] ?? [], first);
      moving = met[0];
      others[place] = met[1];
    }
    made[index] = moving;
  });
  return { mine: made, theirs: others.flat() };
}

function crossLists(mine: Write[], theirs: Write[], first: boolean): [Write[], Write[]] {
  const [one, ...more] = mine;
  const [other, ...others] = theirs;
  if (one === undefined || other === undefined) return [mine, theirs];
  if (more.length === 0 && others.length === 0) return pair(one, other, first);
  if (more.length > 0) {
    const [head, rest] = crossLists([one], theirs, first);
    const [tail, last] = crossLists(more, rest, first);
    return [[...head, ...tail], last];
  }
  const [moved, head] = crossLists(mine, [other], first);
  const [last, tail] = crossLists(moved, others, first);
  return [last, [...head, ...tail]];
}

function pair(mine: Write, theirs: Write, first: boolean): [Write[], Write[]] {
  if (mine[0] === "splice" && theirs[0] === "splice" && samePath(mine[2], theirs[2])) {
    return [moved(mine, theirs, first), moved(theirs, mine, !first)];
  }
  const [early, late] = first ? [mine, theirs] : [theirs, mine];
  const dropped = loser(early, late);
  return [dropped === mine ? [] : [mine], dropped === theirs ? [] : [theirs]];
}

/** Which of two writes of one entity has no effect next to the other. */
function loser(early: Write, late: Write): Write | null {
  const [path, other] = [pathOf(early), pathOf(late)];
  switch (DROPPED[early[0]]?.[late[0]]) {
    case "first":
      return overlaps(path, other) ? early : null;
    case "second":
      return overlaps(path, other) ? late : null;
    case "replaced":
      return startsWith(path, other) ? early : null;
    case undefined:
      return null;
  }
}

/** `mine` as splices that mean the same after `theirs`. */
function moved(mine: SpliceEffect, theirs: SpliceEffect, first: boolean): Write[] {
  const [, key, path, start, removed, text] = mine;
  const [, , , place, gone, typed] = theirs;
  const end = start + removed;
  const right = Math.max(start, place + gone);
  const rest = Math.max(0, end - right); // what is left to remove behind theirs
  const behind = right - gone + points(typed); // where that begins now
  if (start > place || (start === place && !first)) return [["splice", key, path, behind, rest, text]];
  const left = Math.max(0, Math.min(end, place) - start);
  const before: Write = ["splice", key, path, start, left, text];
  return rest === 0 ? [before] : [before, ["splice", key, path, behind - left + points(text), rest, ""]];
}
