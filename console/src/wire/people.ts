/** The others in a draft: who they are, where their cursors are, what they have selected and what they drag. */
import { isList, isObject, textAt, type Json, type JsonObject } from "../editing/values.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export type Drag = readonly (readonly [tail: string, x: number, y: number])[];

/** `colour` is 0 to 7. `cursor` is in the coordinates of the canvas, `selection` are tails of blocks. */
export interface Person {
  readonly client: string;
  readonly name: string;
  readonly colour: number;
  readonly cursor: Point | null;
  readonly selection: readonly string[];
  readonly field: string | null;
  readonly drag: Drag;
}

/** What this person does; what is left out has not changed. */
export interface Presence {
  readonly cursor?: Point | null;
  readonly selection?: readonly string[];
  readonly field?: string | null;
  readonly drag?: Drag;
}

const COLOURS = 8;

export class People {
  list: readonly Person[] = [];
  private readonly listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): readonly Person[] => this.list;

  /** Takes a message of the room; false where it is about something else. `own` is the client of this tab. */
  hear(message: JsonObject, own: string): boolean {
    switch (message.get("type")) {
      case "welcome": {
        const people = message.get("people");
        this.set((isList(people) ? people : []).filter(isObject).filter((one) => textAt(one, "client") !== own).map((one) => person(one)));
        return false;
      }
      case "who":
        this.came(message, own);
        return true;
      case "at":
        this.moved(message, own);
        return true;
      default:
        return false;
    }
  }

  clear(): void {
    if (this.list.length > 0) this.set([]);
  }

  private came(message: JsonObject, own: string): void {
    const [joined, left] = [message.get("joined"), message.get("left")];
    const gone = isObject(left) ? textAt(left, "client") : left;
    let next = this.list.filter((one) => one.client !== gone);
    if (isObject(joined) && textAt(joined, "client") !== own) {
      next = [...next.filter((one) => one.client !== textAt(joined, "client")), person(joined)];
    }
    this.set(next);
  }

  private moved(message: JsonObject, own: string): void {
    const client = textAt(message, "client");
    if (client === own || client === "") return;
    const held = this.list.find((one) => one.client === client);
    const made = person(message, held);
    this.set(held === undefined ? [...this.list, made] : this.list.map((one) => (one === held ? made : one)));
  }

  private set(list: readonly Person[]): void {
    this.list = list;
    for (const listener of this.listeners) listener();
  }
}

/** What a message does not say is as before. */
function person(message: JsonObject, held?: Person): Person {
  const client = textAt(message, "client");
  const former = held ?? { client, name: "someone", colour: colourOf(client), cursor: null, selection: [], field: null, drag: [] };
  const said = <T>(name: string, read: (value: Json | undefined) => T, otherwise: T): T => (message.has(name) ? read(message.get(name)) : otherwise);
  return {
    ...former,
    name: textAt(message, "name") || textAt(message, "by") || former.name,
    cursor: said("cursor", point, former.cursor),
    selection: said("selection", texts, former.selection),
    field: said("field", (value) => (typeof value === "string" ? value : null), former.field),
    drag: said("drag", drags, former.drag),
  };
}

/** The same for everybody who sees this client. */
export function colourOf(client: string): number {
  let mixed = 7;
  for (const letter of client) mixed = (mixed * 31 + (letter.codePointAt(0) ?? 0)) % 65_521;
  return mixed % COLOURS;
}

function point(value: Json | undefined): Point | null {
  if (isList(value) && typeof value[0] === "number" && typeof value[1] === "number") return { x: value[0], y: value[1] };
  return null;
}

function texts(value: Json | undefined): string[] {
  return isList(value) ? value.filter((one) => typeof one === "string") : [];
}

function drags(value: Json | undefined): Drag {
  return (isList(value) ? value : []).flatMap((one): Drag => {
    if (!isList(one)) return [];
    const [tail, x, y] = one;
    return typeof tail === "string" && typeof x === "number" && typeof y === "number" ? [[tail, x, y]] : [];
  });
}
