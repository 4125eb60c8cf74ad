/**
 * The writes that turn a value of an entity into the one that a person typed: a splice where a text differs, in the middle that differs,
 * and otherwise the smallest part that does. So two people who edit two parameters, or one text, both keep what they typed.
 */
import type { Write } from "../log/effects.ts";
import { between } from "./orders.ts";
import { isObject, points, textAt, type Json, type JsonObject, type Path } from "./values.ts";
import { alike, decoded, digitsOf, encoded, escaped, isMapping, isSequence, itemOf, itemsOf, keepsItems, ordered, type Value } from "./encoding.ts";

const LAST: ReadonlySet<string> = new Set(["nodes", "edges"]);

/** `hidden` are fields of the value itself that the person does not see: they stay as they are, the nodes and edges behind what is new. */
export function differences(
  key: string, path: Path, held: Json | undefined, wanted: Value, fresh: () => string, hidden: ReadonlySet<string> = new Set(),
): Write[] {
  const writes: Write[] = [];
  const differ = new Differences(key, fresh, writes);
  if (isObject(held) && isMapping(wanted) && hidden.size > 0) {
    const end = [...held.keys()].find((name) => hidden.has(name) && LAST.has(name));
    differ.mapping(path, new Map([...held].filter(([name]) => !hidden.has(name))), wanted, end);
  } else differ.value(path, held, wanted);
  return writes;
}

class Differences {
  constructor(private readonly key: string, private readonly fresh: () => string, private readonly writes: Write[]) {}

  value(path: Path, held: Json | undefined, wanted: Value): void {
    if (held !== undefined && alike(decoded(held), wanted)) return;
    const items = itemsOf(held);
    if (typeof held === "string" && typeof wanted === "string") this.text(path, held, wanted);
    else if (items !== null && isSequence(wanted) && keepsItems(wanted)) this.list([...path, "[]"], items, wanted);
    else if (isObject(held) && items === null && digitsOf(held) === null && isMapping(wanted)) this.mapping(path, held, wanted);
    else this.writes.push(["set", this.key, path, encoded(wanted, this.fresh)]);
  }

  /** `end`: the field before which new ones stand that would come last. */
  mapping(path: Path, held: JsonObject, wanted: ReadonlyMap<string, Value>, end?: string): void {
    const asked = new Map([...wanted].map(([name, value]) => [escaped(name), value]));
    const common = [...held.keys()].filter((name) => asked.has(name));
    const order = [...asked.keys()].filter((name) => held.has(name));
    const misplaced = common.findIndex((name, place) => order[place] !== name);
    const moved = new Set(misplaced < 0 ? [] : common.slice(misplaced));
    for (const name of held.keys()) if (!asked.has(name) || moved.has(name)) this.writes.push(["unset", this.key, [...path, name]]);
    const names = [...asked.keys()];
    names.forEach((name, place) => {
      const value = asked.get(name) ?? null;
      if (held.has(name) && !moved.has(name)) {
        this.value([...path, name], held.get(name), value);
        return;
      }
      const before = names.slice(place + 1).find((other) => held.has(other) && !moved.has(other)) ?? end;
      const made = encoded(value, this.fresh);
      this.writes.push(before === undefined ? ["set", this.key, [...path, name], made] : ["set", this.key, [...path, name], made, before]);
    });
  }

  /** Items at the beginning and the end that are as before stay; between them, each is changed into the one in its place. */
  private list(path: Path, items: JsonObject, wanted: readonly Value[]): void {
    const held = ordered(items);
    const is = (place: number): Value => decoded(held[place]?.[1].get("is") ?? null);
    let first = 0;
    while (first < held.length && first < wanted.length && alike(is(first), wanted[first])) first += 1;
    let last = 0;
    while (last < held.length - first && last < wanted.length - first && alike(is(held.length - 1 - last), wanted[wanted.length - 1 - last])) last += 1;
    const changed = Math.min(held.length, wanted.length) - first - last;
    for (let place = first; place < first + changed; place += 1) {
      const [name, item] = held[place] ?? ["", undefined];
      this.value([...path, name, "is"], item?.get("is"), wanted[place] ?? null);
    }
    for (const [name] of held.slice(first + changed, held.length - last)) this.writes.push(["unset", this.key, [...path, name]]);
    const next = held[held.length - last];
    const high = next === undefined ? null : textAt(next[1], "order");
    const former = held[first + changed - 1];
    let low = former === undefined ? null : textAt(former[1], "order");
    for (const value of wanted.slice(first + changed, wanted.length - last)) {
      const order = between(low, high);
      this.writes.push(["set", this.key, [...path, this.fresh()], itemOf(order, value, this.fresh)]);
      low = order;
    }
  }

  private text(path: Path, held: string, wanted: string): void {
    this.writes.push(["splice", this.key, path, ...middle(held, wanted)]);
  }
}

/** The differing middle of two texts: where it begins, how many code points go, and what comes in their place. */
export function middle(held: string, wanted: string): readonly [start: number, removed: number, text: string] {
  const [one, other] = [Array.from(held), Array.from(wanted)];
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < one.length - start && end < other.length - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  return [points(one.slice(0, start).join("")), one.length - start - end, other.slice(start, other.length - end).join("")];
}
