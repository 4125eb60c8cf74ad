/** Durations, amounts and ids as people read them. */

const UNITS: readonly (readonly [ms: number, name: string])[] = [[86_400_000, "d"], [3_600_000, "h"], [60_000, "min"], [1_000, "s"]];

/** Two significant parts: `3 h 12 min`, `4.2 s`, `12 ms`. */
export function lasting(ms: number): string {
  if (!Number.isFinite(ms)) return "";
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const whole = Math.round(ms / 1_000) * 1_000;
  const at = UNITS.findIndex(([size]) => whole >= size);
  const [size, name] = UNITS[at] ?? [1_000, "s"];
  const next = UNITS[at + 1];
  const rest = next === undefined ? 0 : Math.floor((whole % size) / next[0]);
  return `${Math.floor(whole / size)} ${name}${rest > 0 && next !== undefined ? ` ${rest} ${next[1]}` : ""}`;
}

const PARTS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Milliseconds of a text like `90s`, `1.5 h` or `250ms`; null where it is none. */
export function readDuration(text: string): number | null {
  const found = /^\s*(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|min|m|h|d|w)\s*$/.exec(text);
  if (found === null) return null;
  return Math.round(Number(found[1]) * (PARTS[found[2] ?? ""] ?? 0));
}

/** US dollars with two significant digits: amounts of single runs are far below a cent. */
export function dollars(usd: number): string {
  if (usd === 0) return "$0";
  if (usd >= 1) return `$${usd.toFixed(2)}`;
  return `$${usd.toFixed(Math.min(12, 1 - Math.floor(Math.log10(usd))))}`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** The end of an id, by which people tell runs apart; the whole stands in the title. */
export function shortId(id: string): string {
  return id.length > 12 ? id.slice(-8) : id;
}
