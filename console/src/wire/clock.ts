/**
 * The time of the server. Clocks of people's machines are wrong by minutes or days, and what this page shows and asks for is by the server's:
 * how long ago, since when, until when. Each answer has the time at which it was made, in whole seconds.
 */
import { useSyncExternalStore } from "react";

const TRUSTED_MS = 2_000; // a difference that the whole seconds and the way of an answer explain is none

let ahead = 0; // of this machine's clock
const listeners = new Set<() => void>();

/** Learns from an answer: its time, and when it was asked for and had, by the clock of this machine. */
export function heard(date: string | null, asked: number, had: number): void {
  const at = date === null ? NaN : Date.parse(date);
  if (Number.isNaN(at)) return;
  const found = at + 500 - (asked + had) / 2;
  const unsure = TRUSTED_MS + (had - asked) / 2;
  if (Math.abs(found - ahead) <= unsure) return;
  ahead = Math.abs(found) > unsure ? Math.round(found) : 0; // whole, as each instant that the server is asked for is
  for (const listener of listeners) listener();
}

/** Milliseconds since 1970 by the clock of the server, as far as it is known. */
export function serverNow(): number {
  return Date.now() + ahead;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => { listeners.delete(listener); };
}

/** How far the server's clock is ahead of this machine's. What was asked for before that was known is asked for again: it is a key for what asks. */
export function useAhead(): number {
  return useSyncExternalStore(subscribe, () => ahead);
}
