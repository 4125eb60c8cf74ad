/** How many questions and failures are open, for the head of every page: read now and then while the page is in view. */
import { useEffect, useSyncExternalStore } from "react";
import { requestPlain } from "./api.ts";
import { serverNow, useAhead } from "./clock.ts";

export interface Count {
  readonly count: number;
  readonly more: boolean;
}

export interface Tallies {
  readonly approvals: Count | null; // null until it is known, and where it cannot be had
  readonly errors: Count | null;
}

/** The span of the failures that are counted: that of the page of failures, where its address names no other. */
export const COUNTED_MS = 604_800_000;

const AGAIN_MS = 30_000;
const listeners = new Set<() => void>();
let tallies: Tallies = { approvals: null, errors: null };
let timer: ReturnType<typeof setTimeout> | undefined;

export function setTally(name: keyof Tallies, count: Count | null): void {
  const old = tallies[name];
  if (old?.count === count?.count && old?.more === count?.more) return;
  tallies = { ...tallies, [name]: count };
  for (const listener of listeners) listener();
}

const asked = { approvals: 0, errors: 0 };

/** The answer to what was asked last counts: an answer that comes later may be to an older question. */
async function read(name: keyof Tallies, path: string): Promise<void> {
  const turn = ++asked[name];
  let found: Count | null;
  try {
    const { count, at_least: more } = await requestPlain("GET", path) as { readonly count: number; readonly at_least: boolean };
    found = { count, more };
  } catch {
    found = null; // the role is missing, or the server is not reached: the page of the list says which
  }
  if (asked[name] === turn) setTally(name, found);
}

const APPROVALS = "/approvals?limit=1";

let countedMs = COUNTED_MS;

function errorsPath(): string {
  return `/errors?since=${serverNow() - countedMs}`;
}

/** Counts the failures of another span: while a page lists those of that. */
export function countErrorsOf(spanMs: number): void {
  countedMs = spanMs;
  readTally("errors");
}

/** Reads one again at once: something has changed it. */
export function readTally(name: keyof Tallies): void {
  void read(name, name === "errors" ? errorsPath() : APPROVALS);
}

/** Reads both again at once, but not before they are shown for the first time. */
export function readTallies(): void {
  if (tallies.approvals !== null || tallies.errors !== null) void both();
}

async function both(): Promise<void> {
  await Promise.all([read("approvals", APPROVALS), read("errors", errorsPath())]);
}

async function round(): Promise<void> {
  if (!document.hidden) await both();
  if (listeners.size > 0) timer = setTimeout(() => { void round(); }, AGAIN_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) {
    clearTimeout(timer);
    timer = setTimeout(() => { void round(); }, 0);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearTimeout(timer);
  };
}

export function useTallies(): Tallies {
  const known = useAhead();
  useEffect(() => { if (known !== 0) readTally("errors"); }, [known]);
  return useSyncExternalStore(subscribe, () => tallies);
}
