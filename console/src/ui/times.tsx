/** Instants as people read them: relative, with the whole in the title. */
import type { ReactElement } from "react";

const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number])[] = [
  ["year", 31_536_000_000], ["month", 2_592_000_000], ["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000],
];

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

export function ago(at: number, now: number): string {
  for (const [unit, ms] of UNITS) {
    const count = Math.trunc((at - now) / ms);
    if (count !== 0) return relative.format(count, unit);
  }
  return "just now";
}

/** `at` is an ISO text or milliseconds. */
export function When({ at }: { readonly at: string | number }): ReactElement | null {
  const instant = new Date(at);
  if (Number.isNaN(instant.getTime())) return null;
  return <time dateTime={instant.toISOString()} title={instant.toLocaleString()}>{ago(instant.getTime(), Date.now())}</time>;
}
