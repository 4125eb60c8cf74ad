/** Holds the filters of the list of runs: read from the address, written into it, and sent to the server. */
import type { ListRunsQuery } from "../../wire/contract.ts";
import { MAX_KEYWORDS, MAX_SEARCH_TEXT_CHARACTERS } from "../../wire/tables/limits.ts";
import { STORED } from "../../wire/tables/statuses.ts";
import { readDuration } from "../../ui/words/formats.ts";

export const WAITS = ["answer", "message", "time", "retry", "child", "limit", "held", "start"] as const;
const TAG_TEXT = /^[A-Za-z0-9_.:/@=+-]{1,128}$/;
const CODE = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * One filter of text. `at` is its name in the address; `fault` says what is wrong with a text that is not empty, null if nothing is;
 * `value` is what is sent for it. `field`: the bar shows it as a field among those that a person adds.
 */
interface Row {
  readonly at: string;
  readonly fault: (text: string) => string | null;
  readonly value: (text: string, now: number) => string | number | null;
  readonly field?: { readonly label: string; readonly placeholder: string };
}

const asItIs = (text: string): string => text;
const oneOf = (known: readonly string[]) => (text: string): string | null => (known.includes(text) ? null : `One of ${known.join(", ")}.`);
const durationFault = (text: string): string | null => (readDuration(text) === null ? "A duration like 10s, 5m or 2h." : null);

/** The filters of `GET /runs`. Keywords are apart, since there may be several; the list goes on to now, so it has no `until`. */
const ROWS = {
  workflow: { at: "workflow", fault: () => null, value: asItIs },
  status: { at: "status", fault: oneOf(STORED), value: asItIs },
  waiting: { at: "waiting", fault: oneOf(WAITS), value: asItIs },
  since: { at: "since", fault: (text) => (sinceOf(text, 0) === null ? "A duration like 24h, or an instant like 2026-01-31T12:00:00Z." : null), value: sinceOf },
  key: { at: "key", fault: () => null, value: asItIs, field: { label: "Key", placeholder: "Key, such as A-17" } },
  search: { at: "search", fault: (text) => (text.length > MAX_SEARCH_TEXT_CHARACTERS ? `At most ${MAX_SEARCH_TEXT_CHARACTERS} characters.` : null), value: asItIs },
  error: { at: "error", fault: (text) => (CODE.test(text) ? null : "A code like provider_error."), value: asItIs, field: { label: "Error code", placeholder: "Error code" } },
  min_duration_ms: { at: "longer", fault: durationFault, value: (text) => readDuration(text), field: { label: "Longer than", placeholder: "Longer than 10s" } },
  max_duration_ms: { at: "shorter", fault: durationFault, value: (text) => readDuration(text), field: { label: "Shorter than", placeholder: "Shorter than 2h" } },
} as const satisfies Readonly<Record<Exclude<keyof ListRunsQuery, "limit" | "cursor" | "keyword" | "tag" | "until">, Row>>;

/** The names of the filters of text in the address. */
export type Name = (typeof ROWS)[keyof typeof ROWS]["at"];

export type Filters = Readonly<Record<Name, string>> & { readonly tags: readonly string[] };

/** In the order in which they stand in the address. */
const LISTED: readonly (readonly [key: string, row: Row & { readonly at: Name }])[] = Object.entries(ROWS);
const TAG = "tag";

/** The fields that a person adds to the bar. */
export const ADDED = LISTED.flatMap(([, { at, field }]) => (field === undefined ? [] : [{ at, ...field }]));

export const NO_FILTERS: Filters = { ...textsOf(() => ""), tags: [] };

function textsOf(read: (at: Name) => string): Readonly<Record<Name, string>> {
  return Object.fromEntries(LISTED.map(([, { at }]) => [at, read(at)])) as Readonly<Record<Name, string>>;
}

export function fromAddress(query: URLSearchParams): Filters {
  const tags = [...new Set(query.getAll(TAG).map((tag) => tag.trim()).filter((tag) => tag !== ""))];
  return { ...textsOf((at) => (query.get(at) ?? "").trim()), tags };
}

/** The query of the address, with `?`; empty without a filter. */
export function toAddress(filters: Filters): string {
  const query = new URLSearchParams();
  for (const [, { at }] of LISTED) if (filters[at] !== "") query.set(at, filters[at]);
  for (const tag of filters.tags) query.append(TAG, tag);
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

/** What is wrong with a filter that a person typed or a link brought, by its name. Such a filter is not sent. */
export function faultsOf(filters: Filters): ReadonlyMap<keyof Filters, string> {
  const found = new Map<keyof Filters, string>();
  for (const [, { at, fault }] of LISTED) {
    const said = filters[at] === "" ? null : fault(filters[at]);
    if (said !== null) found.set(at, said);
  }
  if (filters.tags.length > MAX_KEYWORDS || filters.tags.some((tag) => !TAG_TEXT.test(tag))) found.set("tags", `At most ${MAX_KEYWORDS} words of letters, digits and _.:/@=+-`);
  return found;
}

/** The instant that a `since` means, in ISO 8601; null where it means none. */
export function sinceOf(since: string, now: number): string | null {
  const back = readDuration(since);
  if (back !== null) return new Date(Math.max(0, now - back)).toISOString();
  if (!/^\d{4}-\d\d-\d\d/.test(since)) return null;
  const at = new Date(since.length === 10 ? `${since}T00:00:00` : since);
  return Number.isNaN(at.getTime()) || at.getTime() < 0 ? null : at.toISOString();
}

/** The filter in the names of the API, as `GET /runs` takes it. */
export function toQuery(filters: Filters, now: number): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(toBody(filters, now))) {
    for (const one of Array.isArray(value) ? value as readonly string[] : [String(value)]) query.append(name === "keywords" ? "keyword" : name, one);
  }
  return query;
}

/** The same as the `filter` of a bulk change. */
export function toBody(filters: Filters, now: number): Readonly<Record<string, string | number | readonly string[]>> {
  const faults = faultsOf(filters);
  const body: Record<string, string | number | readonly string[]> = {};
  for (const [key, { at, value }] of LISTED) {
    const sent = filters[at] === "" || faults.has(at) ? null : value(filters[at], now);
    if (sent !== null) body[key] = sent;
  }
  if (filters.tags.length > 0 && !faults.has("tags")) body["keywords"] = filters.tags;
  return body;
}

export function isFiltered(filters: Filters): boolean {
  return toAddress(filters) !== "";
}
