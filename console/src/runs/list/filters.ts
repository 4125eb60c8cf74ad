/** What the list of runs shows: read from the address, written into it, and sent to the server. */
import { readDuration } from "../../ui/words/formats.ts";

export interface Filters {
  readonly workflow: string;
  readonly status: string;
  readonly waiting: string;
  readonly since: string; // a duration like `24h`, or an instant
  readonly tags: readonly string[];
  readonly search: string;
  readonly error: string;
  readonly longer: string; // a duration
  readonly shorter: string;
}

export const NO_FILTERS: Filters = { workflow: "", status: "", waiting: "", since: "", tags: [], search: "", error: "", longer: "", shorter: "" };

/** The order in which they stand in the address. */
const NAMES = ["workflow", "status", "waiting", "since", "search", "error", "longer", "shorter"] as const;
const TAG = "tag";

export const STATUSES = ["created", "running", "paused", "completed", "failed", "cancelled", "timed_out", "damaged_log", "newer_log"] as const;
export const WAITS = ["answer", "time", "retry", "child", "limit", "held"] as const;
const TAG_TEXT = /^[A-Za-z0-9_.:/@=+-]{1,128}$/;
const CODE = /^[a-z][a-z0-9_]{0,63}$/;
const MAX_TAGS = 16;
const MAX_SEARCH = 200;

export function fromAddress(query: URLSearchParams): Filters {
  const texts = Object.fromEntries(NAMES.map((name) => [name, (query.get(name) ?? "").trim()])) as Record<(typeof NAMES)[number], string>;
  const tags = [...new Set(query.getAll(TAG).map((tag) => tag.trim()).filter((tag) => tag !== ""))];
  return { ...texts, tags };
}

/** The query of the address, with `?`; empty without a filter. */
export function toAddress(filters: Filters): string {
  const query = new URLSearchParams();
  for (const name of NAMES) if (filters[name] !== "") query.set(name, filters[name]);
  for (const tag of filters.tags) query.append(TAG, tag);
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

/** What is wrong with a filter that a person typed or a link brought, by its name. Such a filter is not sent. */
export function faultsOf(filters: Filters): ReadonlyMap<keyof Filters, string> {
  const found = new Map<keyof Filters, string>();
  const oneOf = (name: "status" | "waiting", known: readonly string[]): void => {
    if (filters[name] !== "" && !known.includes(filters[name])) found.set(name, `One of ${known.join(", ")}.`);
  };
  oneOf("status", STATUSES);
  oneOf("waiting", WAITS);
  if (filters.since !== "" && sinceOf(filters.since, 0) === null) found.set("since", "A duration like 24h, or an instant like 2026-01-31T12:00:00Z.");
  if (filters.tags.length > MAX_TAGS || filters.tags.some((tag) => !TAG_TEXT.test(tag))) found.set("tags", `At most ${MAX_TAGS} words of letters, digits and _.:/@=+-`);
  if (filters.search.length > MAX_SEARCH) found.set("search", `At most ${MAX_SEARCH} characters.`);
  if (filters.error !== "" && !CODE.test(filters.error)) found.set("error", "A code like provider_error.");
  for (const name of ["longer", "shorter"] as const) {
    if (filters[name] !== "" && readDuration(filters[name]) === null) found.set(name, "A duration like 10s, 5m or 2h.");
  }
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
  const put = (name: keyof Filters, key: string, value: string | number | readonly string[] | null): void => {
    if (!faults.has(name) && filters[name].length > 0 && value !== null) body[key] = value;
  };
  put("workflow", "workflow", filters.workflow);
  put("status", "status", filters.status);
  put("waiting", "waiting", filters.waiting);
  put("since", "since", sinceOf(filters.since, now));
  put("tags", "keywords", filters.tags);
  put("search", "search", filters.search);
  put("error", "error", filters.error);
  put("longer", "min_duration_ms", readDuration(filters.longer));
  put("shorter", "max_duration_ms", readDuration(filters.shorter));
  return body;
}

export function isFiltered(filters: Filters): boolean {
  return toAddress(filters) !== "";
}
