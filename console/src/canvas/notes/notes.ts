/** The notes of a draft: texts on the canvas, next to the blocks. They are kept with the places, and are no part of the document. */
import type { Entity, Write } from "../../editing/log/effects.ts";
import { operation, type Operation } from "../../editing/log/operations.ts";
import { NOTES, type State } from "../../editing/state.ts";
import { isObject, object, textAt, type Json } from "../../editing/values/values.ts";
import { middle } from "../../editing/values/differences.ts";
import type { Bounds } from "../layout/placing.ts";
import type { Fresh } from "../model/keys.ts";

/** Of the canvas, in its pixels. The text may have several lines. */
export interface Note extends Bounds {
  readonly tail: string;
  readonly text: string;
  readonly colour: Colour;
  readonly entity: Entity;
}

export type Notes = ReadonlyMap<string, Note>;

export const COLOURS = ["yellow", "green", "blue", "pink", "gray"] as const;
export type Colour = (typeof COLOURS)[number];

export const MAX_NOTE_CHARACTERS = 10_000;
export const NOTE_WIDTH = 220;
export const NOTE_HEIGHT = 120;
export const LEAST_WIDTH = 120;
export const LEAST_HEIGHT = 60;
const NUDGE = 32; // px to the right and below, of a duplicate
const PREFIX = "note/";

/** The notes of a view, in the order of reading. What has not changed is the same object as before, the map too. */
export function notesOf(state: State, former: Notes): Notes {
  const found: Note[] = [];
  for (const key of state.found(NOTES)) {
    const entity = state.get(key);
    if (entity === undefined) continue;
    const tail = key.slice(PREFIX.length);
    const before = former.get(tail);
    found.push(before?.entity === entity ? before : noteOf(tail, entity));
  }
  const same = found.length === former.size && found.every((note) => former.get(note.tail) === note);
  if (same) return former;
  found.sort((left, right) => left.y - right.y || left.x - right.x || (left.tail < right.tail ? -1 : 1));
  return new Map(found.map((note) => [note.tail, note]));
}

function noteOf(tail: string, entity: Entity): Note {
  const colour = textAt(entity, "colour");
  return {
    tail, entity, text: textAt(entity, "text"), colour: isColour(colour) ? colour : "yellow", x: number(entity.get("x"), 0), y: number(entity.get("y"), 0),
    width: Math.max(LEAST_WIDTH, number(entity.get("w"), NOTE_WIDTH)), height: Math.max(LEAST_HEIGHT, number(entity.get("h"), NOTE_HEIGHT)),
  };
}

export function isColour(word: string): word is Colour {
  return (COLOURS as readonly string[]).includes(word);
}

function number(value: Json | undefined, otherwise: number): number {
  const read = typeof value === "number" ? value : isObject(value) ? Number(value.get("#")) : NaN;
  return Number.isFinite(read) ? read : otherwise;
}

/** What names a note where only one line is shown. */
export function titleOf(note: Note): string {
  return note.text.trim().split("\n")[0]?.trim() || "Empty note";
}

/** A rectangle around both; one without a size is left out. */
export function around(bounds: Bounds, notes: Iterable<Note>): Bounds {
  let made = bounds;
  for (const note of notes) {
    if (made.width === 0 && made.height === 0) made = note;
    const [x, y] = [Math.min(made.x, note.x), Math.min(made.y, note.y)];
    made = { x, y, width: Math.max(made.x + made.width, note.x + note.width) - x, height: Math.max(made.y + made.height, note.y + note.height) - y };
  }
  return { x: made.x, y: made.y, width: made.width, height: made.height };
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const SPACE = 12; // px between a note and what it is next to
const TRIES = 200;

/** The place for a new note that is nearest to a corner, above or below, and covers none of the boxes; the corner itself if all is full. */
export function freeCorner(x: number, y: number, boxes: Iterable<Box>): readonly [x: number, y: number] {
  const all = [...boxes].filter(({ left, width }) => left < x + NOTE_WIDTH + SPACE && left + width > x - SPACE);
  const isFree = (top: number): boolean => !all.some((box) => box.top < top + NOTE_HEIGHT + SPACE && box.top + box.height > top - SPACE);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const top = y + (tries % 2 === 0 ? -1 : 1) * Math.ceil(tries / 2) * 20;
    if (isFree(top)) return [x, top];
  }
  return [x, y];
}

// -- operations ------------------------------------------------------------------------------------------------------------

/** A note with its corner at a place. */
export function addNote(x: number, y: number, fresh: Fresh): { readonly operation: Operation; readonly tail: string } {
  const tail = fresh();
  const note = object([["x", Math.round(x)], ["y", Math.round(y)], ["w", NOTE_WIDTH], ["h", NOTE_HEIGHT], ["text", ""], ["colour", "yellow"]]);
  return { operation: operation([["put", PREFIX + tail, note]]), tail };
}

type Change = Partial<Record<"x" | "y" | "w" | "h", number>> & { readonly colour?: Colour };

/** The writes that move a note, give it another size or colour; none for what it has already. */
export function noteWrites(notes: Notes, tail: string, change: Change): Write[] {
  const held = notes.get(tail)?.entity;
  if (held === undefined) return [];
  return Object.entries(change).flatMap(([field, value]): Write[] => {
    const wanted = typeof value === "number" ? Math.round(value) : value;
    return held.get(field) === wanted ? [] : [["set", PREFIX + tail, [field], wanted]];
  });
}

export function changeNote(notes: Notes, tail: string, change: Change): Operation | null {
  return done(noteWrites(notes, tail, change));
}

/** The text of a note is this now: a splice of what differs, so that two who type keep what both typed. */
export function typeNote(state: State, tail: string, text: string): Operation | null {
  const held = state.get(PREFIX + tail);
  if (held === undefined) return null;
  const before = held.get("text");
  if (before === text) return null;
  if (typeof before !== "string") return operation([["set", PREFIX + tail, ["text"], text]]);
  return operation([["splice", PREFIX + tail, ["text"], ...middle(before, text)]]);
}

export function deletions(notes: Notes, tails: Iterable<string>): Write[] {
  return [...tails].filter((tail) => notes.has(tail)).map((tail) => ["del", PREFIX + tail]);
}

/** Duplicates notes, next to the originals. */
export function duplicates(notes: Notes, tails: Iterable<string>, fresh: Fresh): { readonly writes: Write[]; readonly tails: readonly string[] } {
  const writes: Write[] = [];
  const made: string[] = [];
  for (const tail of tails) {
    const note = notes.get(tail);
    if (note === undefined) continue;
    const next = fresh();
    made.push(next);
    writes.push(["put", PREFIX + next, new Map<string, Json>([...note.entity, ["x", note.x + NUDGE], ["y", note.y + NUDGE]])]);
  }
  return { writes, tails: made };
}

function done(writes: Write[]): Operation | null {
  return writes.length === 0 ? null : operation(writes);
}
