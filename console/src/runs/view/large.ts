/** Values of a run that are too large for an answer: what stands in their place, and how they are read whole. */
import { isObject, textAt, type Json } from "../../editing/values/values.ts";
import { runPath } from "../../ui/addresses.ts";
import { bearer, Refusal } from "../../wire/api.ts";

export interface Large {
  readonly size: number; // bytes
  readonly preview: string; // its first characters
  readonly hash: string;
}

/** What stands in place of a value that is too large; null for any other value. */
export function largeOf(value: Json): Large | null {
  const told = isObject(value) && value.size === 1 ? value.get("large_value") : undefined;
  if (told === undefined || !isObject(told)) return null;
  const [size, hash] = [told.get("size"), textAt(told, "hash")];
  return typeof size === "number" && hash !== "" ? { size, preview: textAt(told, "preview"), hash } : null;
}

export interface Apart {
  readonly shown: Json | undefined; // without what is too large; undefined where nothing is left
  readonly large: readonly (readonly [name: string, large: Large])[]; // the name is empty for the value itself
}

/** A value without those of its parts that are too large: the server replaces a value, or what is one step inside it. */
export function apart(value: Json): Apart {
  const whole = largeOf(value);
  if (whole !== null) return { shown: undefined, large: [["", whole]] };
  if (!isObject(value)) return { shown: value, large: [] };
  const large = [...value].flatMap(([name, part]): (readonly [string, Large])[] => {
    const found = largeOf(part);
    return found === null ? [] : [[name, found]];
  });
  const shown = large.length === 0 ? value : new Map([...value].filter(([name]) => !large.some(([one]) => one === name)));
  return { shown: large.length > 0 && shown.size === 0 ? undefined : shown, large };
}

const REVOKE_MS = 10_000;

/** The whole value as a file, read in parts that the server chooses. `say` gets the share that is read. */
export async function downloadValue(run: string, { hash }: Large, name: string, say: (share: number) => void): Promise<void> {
  const parts: ArrayBuffer[] = [];
  for (let [from, total] = [0, 1]; from < total;) {
    const answer = await fetch(`${runPath(run)}/values/${encodeURIComponent(hash)}`, {
      headers: { range: `bytes=${from}-`, ...bearer() }, credentials: "omit", cache: "no-cache",
    });
    const [, last, all] = /^bytes \d+-(\d+)\/(\d+)$/.exec(answer.headers.get("content-range") ?? "") ?? [];
    if (!answer.ok || last === undefined) throw new Refusal(answer.status, "value_unreadable", `The server answered ${answer.status}.`, "Try again.");
    parts.push(await answer.arrayBuffer());
    [from, total] = [Number(last) + 1, Number(all)];
    say(from / total);
  }
  save(new Blob(parts, { type: "application/json" }), name);
}

/** Gives a file to the person. */
export function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => { URL.revokeObjectURL(url); }, REVOKE_MS);
}
