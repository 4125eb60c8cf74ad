/** Notes in a fragment: what a copy puts on the clipboard with the nodes, and what a paste makes of it. */
import type { Write } from "../../editing/log/effects.ts";
import { operation } from "../../editing/log/operations.ts";
import type { Json } from "../../editing/values/values.ts";
import { Digits, isMapping, isSequence, type Value } from "../../editing/values/encoding.ts";
import type { Pasted } from "../actions/pasting.ts";
import type { Fresh } from "../model/keys.ts";
import { isColour, LEAST_HEIGHT, LEAST_WIDTH, MAX_NOTE_CHARACTERS, NOTE_HEIGHT, NOTE_WIDTH, type Notes } from "./notes.ts";

const NUDGE = 32; // px to the right and below of where it was copied, so often that it covers none exactly
const MAX_PASTED = 500;
const FARTHEST = 1_000_000; // px from the origin

/** The notes as values, in the order of reading. */
export function carried(notes: Notes, chosen: ReadonlySet<string>): Value[] {
  return [...notes.values()].filter((note) => chosen.has(note.tail)).map(({ text, colour, x, y, width, height }): Value => new Map<string, Value>([["text", text], ["colour", colour], ["x", x], ["y", y], ["w", width], ["h", height]]));
}

/** The notes of a fragment, over those that are there. What is no note is left out. */
export function pasteNotes(value: Value, notes: Notes, fresh: Fresh): Pasted {
  const listed = isMapping(value) ? value.get("notes") : undefined;
  const given = (isSequence(listed) ? listed : []).filter(isMapping).slice(0, MAX_PASTED);
  const corners = new Set([...notes.values()].map(({ x, y }) => `${x} ${y}`));
  let away = 0;
  while (given.some((one) => corners.has(`${number(one.get("x"), 0) + away} ${number(one.get("y"), 0) + away}`))) away += NUDGE;
  const writes: Write[] = [];
  const tails = given.flatMap((one) => {
    const [text, colour] = [one.get("text"), one.get("colour")];
    if (typeof text !== "string") return [];
    const tail = fresh();
    const made = new Map<string, Json>([
      ["x", number(one.get("x"), 0) + away], ["y", number(one.get("y"), 0) + away], ["w", Math.max(LEAST_WIDTH, number(one.get("w"), NOTE_WIDTH))],
      ["h", Math.max(LEAST_HEIGHT, number(one.get("h"), NOTE_HEIGHT))], ["text", text.slice(0, MAX_NOTE_CHARACTERS)], ["colour", typeof colour === "string" && isColour(colour) ? colour : "yellow"],
    ]);
    writes.push(["put", `note/${tail}`, made]);
    return [tail];
  });
  return { operation: operation(writes), tails };
}

function number(value: Value | undefined, otherwise: number): number {
  const read = value instanceof Digits ? Number(value.text) : value;
  return typeof read === "number" && Math.abs(read) <= FARTHEST ? Math.round(read) : otherwise;
}
