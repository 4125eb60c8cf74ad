/**
 * A value of an entity as text that is being typed. What is typed becomes writes against the value that the text stood for; what
 * others changed since is transformed with them. A text that does not parse is kept and says where, and writes nothing.
 */
import { transform } from "../editing/transform.ts";
import { operation, type Operation } from "../editing/log/operations.ts";
import { isObject, type Json, type Path } from "../editing/values/values.ts";
import { differences } from "../editing/values/differences.ts";
import { alike, decoded, isMapping, type Value } from "../editing/values/encoding.ts";
import { print, read, Unreadable } from "../source/yaml.ts";

/** Where the value stands. `hidden` are fields of it that are edited elsewhere. `isAny`: it may be any value, and none where the text is empty. */
export interface Place {
  readonly key: string;
  readonly path: Path;
  readonly hidden: ReadonlySet<string>;
  readonly isAny?: boolean;
}

/** `fault`: why the text is not taken. `base`: the value that the text stands for. */
export interface Typed {
  readonly text: string;
  readonly base: Json | undefined;
  readonly fault: string | null;
}

export function shownOf(value: Json | undefined, hidden: ReadonlySet<string>): Value {
  if (value === undefined) return new Map();
  return decoded(isObject(value) && hidden.size > 0 ? new Map([...value].filter(([name]) => !hidden.has(name))) : value);
}

export function begun(value: Json | undefined, hidden: ReadonlySet<string>): Typed {
  return { text: print(shownOf(value, hidden)).trimEnd(), base: value, fault: null };
}

/** The value has changed, by this person or another: a text that stands for it stays as it was typed. */
export function renewed(typed: Typed, value: Json | undefined, hidden: ReadonlySet<string>): Typed {
  if (typed.base === value || typed.fault !== null) return typed;
  const wanted = parsed(typed.text, true);
  if (!(wanted instanceof Unreadable) && alike(wanted, shownOf(value, hidden))) return { ...typed, base: value };
  return begun(value, hidden);
}

/** The text is this now; `operation` writes what it says, null where it changes nothing. `now` is the value as it stands. */
export function typing(typed: Typed, text: string, now: Json | undefined, place: Place, fresh: () => string): { readonly typed: Typed; readonly operation: Operation | null } {
  const wanted = parsed(text, place.isAny === true);
  if (wanted instanceof Unreadable) {
    const where = wanted.line === null ? "" : `Line ${wanted.line}: `;
    return { typed: { ...typed, text, fault: `${where}${wanted.message}` }, operation: null };
  }
  const { key, path, hidden } = place;
  if (place.isAny === true && text.trim() === "") return { typed: { text, base: now, fault: null }, operation: now === undefined ? null : operation([["unset", key, path]]) };
  const before = typed.base ?? (path.length === 0 ? new Map<string, Json>() : undefined);
  if (before === undefined && isMapping(wanted) && wanted.size === 0) return { typed: { text, base: now, fault: null }, operation: null };
  let writes = differences(key, path, before, wanted, fresh, hidden);
  if (typed.base !== now) writes = transform(writes, differences(key, path, before, shownOf(now, hidden), fresh, hidden))[0];
  return { typed: { text, base: typed.base, fault: null }, operation: writes.length === 0 ? null : operation(writes) };
}

function parsed(text: string, isAny: boolean): Value | Unreadable {
  try {
    const value = read(text);
    if (value === null && (!isAny || text.trim() === "")) return new Map();
    return isAny || isMapping(value) ? value : new Unreadable("expected `name: value` in each line", 1);
  } catch (error) {
    if (error instanceof Unreadable) return error;
    throw error;
  }
}
