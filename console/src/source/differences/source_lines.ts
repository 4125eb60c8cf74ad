/** Two texts side by side, line by line, with some lines around each change. */
import { object, type Json } from "../../editing/values/values.ts";
import { hunksBetween } from "../text/lines.ts";
import type { FieldChange, LineChange, NodeChange } from "../../wire/draft/served.ts";
import { madeRead } from "../made.ts";

const AROUND = 3;
const MADE_BY = "made_by";

/** Nothing, where the texts have the same lines. */
export function lineChanges(before: string, after: string, around = AROUND): LineChange[] {
  const [left, right] = [linesOf(before), linesOf(after)];
  const all: LineChange[] = [];
  let [old, now] = [0, 0]; // lines that are behind us
  const same = (until: number): void => {
    for (; old < until; old += 1, now += 1) all.push({ op: " ", before: old + 1, after: now + 1, text: left[old] ?? "" });
  };
  for (const [from, to, , last] of hunksBetween(left, right)) {
    same(from);
    for (; old < to; old += 1) all.push({ op: "-", before: old + 1, after: null, text: left[old] ?? "" });
    for (; now < last; now += 1) all.push({ op: "+", before: null, after: now + 1, text: right[now] ?? "" });
  }
  same(left.length);
  return shortened(all, around);
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Leaves out lines that are far from every change. */
function shortened(all: readonly LineChange[], around: number): LineChange[] {
  const near = new Set<number>();
  all.forEach((line, place) => { if (line.op !== " ") for (let by = -around; by <= around; by += 1) near.add(place + by); });
  const made: LineChange[] = [];
  all.forEach((line, place) => {
    if (near.has(place)) made.push(line);
    else if (near.size > 0 && made.at(-1)?.op !== "…") made.push({ op: "…", before: null, after: null, text: "" });
  });
  return made;
}

/** The text of the source and its parts before and after, by the changes of a document; null where none changed, or there is none. */
export type Texts = readonly [before: string | null, after: string | null];

export function sourceTexts(fields: readonly FieldChange[]): Texts | null {
  const found = fields.flatMap(({ path, before, after }): Texts[] => {
    if (path[0] !== MADE_BY || path.length > 2) return [];
    const read = path.length === 1 ? wholeOf : path[1] === "source" ? textOf : path[1] === "parts" ? partsOf : null;
    return read === null ? [] : [[read(before), read(after)]];
  }).filter(([before, after]) => before !== after);
  return found.length === 0 ? null : [joined(found.map(([before]) => before)), joined(found.map(([, after]) => after))];
}

function textOf(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function partsOf(value: Json | undefined): string | null {
  const made = madeRead(object([["language", "python"], ["parts", value ?? null]]));
  return joined(made?.parts.map((part) => part.source) ?? []);
}

function wholeOf(value: Json | undefined): string | null {
  const made = madeRead(value);
  return made === null ? null : joined([made.source, ...made.parts.map((part) => part.source)]);
}

function joined(texts: readonly (string | null)[]): string | null {
  const some = texts.filter((text) => text !== null);
  return some.length === 0 ? null : some.join("\n");
}

/** Fields and nodes without those that follow from the lines of the source. */
export function withoutSource(fields: readonly FieldChange[]): FieldChange[] {
  return fields.filter(({ path: [first] }) => first !== MADE_BY && first !== "at");
}

export function withoutLines(nodes: readonly NodeChange[]): NodeChange[] {
  return nodes.flatMap((node) => {
    const fields = withoutSource(node.fields);
    return fields.length === 0 && node.fields.length > 0 && node.change === "changed" ? [] : [{ ...node, fields }];
  });
}
