/** The others in a draft: who they are, where their cursors are, what they have selected, what they type in and what they drag. */
import { tailOf } from "../../editing/state.ts";
import { isList, isObject, textAt, type Json, type JsonObject } from "../../editing/values/values.ts";
import { nameOf } from "../names.ts";
import { dragRead, Playback } from "./drags.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * `colour` is 0 to 7. `cursor` is in the coordinates of the canvas, `selection` are tails of blocks, `field` is the key of the entity
 * in whose field they are. `view`: the part of the canvas that they see; null where they have no canvas.
 */
export interface Person {
  readonly client: string;
  readonly name: string;
  readonly colour: number;
  readonly cursor: Point | null;
  readonly selection: readonly string[];
  readonly field: string | null;
  readonly view: View | null;
}

export interface View extends Point {
  readonly width: number;
  readonly height: number;
}

/** What this person does; what is left out has not changed. */
export interface Presence {
  readonly cursor?: Point | null;
  readonly selection?: readonly string[];
  readonly field?: string | null;
  readonly view?: View | null;
}

const COLOURS = 8;

export class People {
  list: readonly Person[] = [];
  readonly drags = new Playback();
  private readonly listeners = new Set<() => void>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): readonly Person[] => this.list;

  /** The blocks that others have open, by tail: the one that they have selected alone, and the one in whose field they are. */
  get open(): ReadonlySet<string> {
    return new Set(this.list.flatMap(({ selection, field }) => [...(selection.length === 1 ? selection : []), ...(field === null ? [] : [tailOf(field)])]));
  }

  /** Takes a message of the session; false where it says something of the draft, too. `own` is the client of this tab. */
  hear(message: JsonObject, own: string): boolean {
    const client = textAt(message, "client");
    switch (message.get("t")) {
      case "welcome": {
        const people = message.get("people");
        const others = (isList(people) ? people : []).filter(isObject).filter((one) => textAt(one, "client") !== own);
        this.drags.clear();
        this.set(others.map((one) => seen(met(one), one.get("at"))));
        return false;
      }
      case "who": {
        this.drags.gone(client);
        const rest = this.list.filter((one) => one.client !== client);
        this.set(message.get("joined") === true && client !== own ? [...rest, met(message)] : rest);
        return !message.has("rates");
      }
      case "at":
        if (client !== own && client !== "") this.moved(client, message);
        return true;
      default:
        return false;
    }
  }

  clear(): void {
    this.drags.clear();
    if (this.list.length > 0) this.set([]);
  }

  private moved(client: string, message: JsonObject): void {
    const at = message.get("at");
    const held = this.list.find((one) => one.client === client);
    const made = seen(held ?? met(message), at);
    this.drags.hear(client, isObject(at) ? dragRead(at.get("drag")) : null, this.now());
    if (held === undefined) this.set([...this.list, made]);
    else this.set(same(held, made) ? this.list : this.list.map((one) => (one === held ? made : one)));
  }

  private set(list: readonly Person[]): void {
    this.list = list;
    for (const listener of this.listeners) listener();
  }
}

function met(one: JsonObject): Person {
  const [client, person] = [textAt(one, "client"), textAt(one, "person")];
  return { client, name: nameOf(person) || "someone", colour: colourOf(person || client), cursor: null, selection: [], field: null, view: null };
}

/** What a person does is said whole: what is left out is over. */
function seen(person: Person, at: Json | undefined): Person {
  if (!isObject(at)) return person;
  const field = at.get("field");
  const selection = texts(at.get("selection"));
  const view = viewRead(at.get("view"));
  return {
    ...person, cursor: point(at.get("cursor")), field: typeof field === "string" ? field : null,
    selection: selection.length === person.selection.length && selection.every((tail, place) => tail === person.selection[place]) ? person.selection : selection,
    view: sameView(view, person.view) ? person.view : view,
  };
}

function same(left: Person, right: Person): boolean {
  return left.selection === right.selection && left.field === right.field && left.cursor?.x === right.cursor?.x && left.cursor?.y === right.cursor?.y && left.view === right.view;
}

function sameView(left: View | null, right: View | null): boolean {
  return left?.x === right?.x && left?.y === right?.y && left?.width === right?.width && left?.height === right?.height;
}

function viewRead(value: Json | undefined): View | null {
  const [x, y, width, height] = isList(value) ? value : [];
  if (typeof x !== "number" || typeof y !== "number" || typeof width !== "number" || typeof height !== "number") return null;
  return width > 0 && height > 0 ? { x, y, width, height } : null;
}

/** The same for everybody who sees this person, in the draft and in its history. */
export function colourOf(person: string): number {
  let mixed = 7;
  for (const letter of person) mixed = (mixed * 31 + (letter.codePointAt(0) ?? 0)) % 65_521;
  return mixed % COLOURS;
}

function point(value: Json | undefined): Point | null {
  if (isList(value) && typeof value[0] === "number" && typeof value[1] === "number") return { x: value[0], y: value[1] };
  return null;
}

function texts(value: Json | undefined): string[] {
  return isList(value) ? value.filter((one) => typeof one === "string") : [];
}
