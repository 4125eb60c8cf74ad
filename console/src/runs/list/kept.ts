/** Keeps filters of the list of runs under names that a person gives them, in this browser. */
import { fromAddress, toAddress, type Filters } from "./filters.ts";

export const MAX_KEPT = 50;
export const MAX_NAME_CHARACTERS = 60;
const AT = "stepless.filters";

/** The query of the address by the name of the filters. */
export type Kept = ReadonlyMap<string, string>;

/** What is stored; nothing where it cannot be read as names and addresses. */
export function keptFilters(storage: Pick<Storage, "getItem"> = localStorage): Kept {
  let stored: unknown = null;
  try {
    stored = JSON.parse(storage.getItem(AT) ?? "null");
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (typeof stored !== "object" || stored === null) return new Map();
  return new Map(Object.entries(stored).filter((one): one is [string, string] => typeof one[1] === "string").slice(0, MAX_KEPT));
}

/** Keeps filters under a name, in place of those that had it; `null` forgets the name. */
export function keep(name: string, filters: Filters | null, storage: Pick<Storage, "getItem" | "setItem"> = localStorage): void {
  const kept = new Map(keptFilters(storage));
  kept.delete(name);
  if (filters !== null) kept.set(name, toAddress(filters));
  storage.setItem(AT, JSON.stringify(Object.fromEntries([...kept].slice(-MAX_KEPT))));
}

export function filtersOf(address: string): Filters {
  return fromAddress(new URLSearchParams(address));
}

/** The name under which exactly these filters are kept; empty where there is none. */
export function nameOf(filters: Filters, kept: Kept): string {
  return [...kept].find(([, address]) => address === toAddress(filters))?.[0] ?? "";
}
