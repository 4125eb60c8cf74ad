/** Instants inside of sentences of the server. */

import { serverNow } from "../../wire/clock.ts";

const INSTANT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** A sentence of the server with its instants as the reader's clock has them: without seconds, and without the date where it is today. */
export function inOwnZone(text: string, now = serverNow()): string {
  return text.replace(INSTANT, (instant) => {
    const at = new Date(instant);
    const isToday = at.toDateString() === new Date(now).toDateString();
    return at.toLocaleString(undefined, isToday ? { hour: "2-digit", minute: "2-digit" } : { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
  });
}
