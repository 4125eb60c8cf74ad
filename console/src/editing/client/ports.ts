/** Defines the ports of a session. Tests give it a clock and a network of their own; a page gives it those of the browser. */
import type { Entity } from "../log/effects.ts";
import type { LogEntry } from "../log/operations.ts";

export interface Clock {
  /** Milliseconds; never runs backwards. */
  now(): number;
  /** Runs something once, later. The function that it returns stops that. */
  after(ms: number, run: () => void): () => void;
}

export interface Chance {
  /** 10 base-62 characters that no other call gives. */
  word(): string;
  /** From 0 to 1, 1 excluded. */
  fraction(): number;
}

/** Texts by key, which outlive the tab. */
export interface Rows {
  /** The rows whose keys begin so, in the order of keys. */
  read(prefix: string): Promise<readonly (readonly [key: string, text: string])[]>;
  /** All of the changes or none; null removes a row. */
  write(changes: ReadonlyMap<string, string | null>): Promise<void>;
}

export interface Locks {
  /** Holds a lock until the function that it returns is called or the tab is gone; null where another tab holds it. */
  hold(name: string): Promise<(() => void) | null>;
}

/** What the tab remembers over a reload, and a copied tab has too. */
export interface Tab {
  readonly recall: () => string | null;
  readonly remember: (client: string) => void;
}

/** A draft as it is opened: its state at `seq`. `items` are those since the sequence that was asked for, null where some are gone. */
export interface Opening {
  readonly epoch: number;
  readonly seq: number;
  readonly state: Iterable<readonly [string, Entity]>;
  readonly items: readonly LogEntry[] | null;
}

export interface Wire {
  /** Asks for the draft. `after`: with the items since then. Rejects where the server is not reached. */
  open(after: number | null): Promise<Opening>;
  /** Sends a message, or does nothing where there is no connection. It may be lost on its way. */
  send(text: string): void;
}

/** `rows` and `locks` are null where the browser has none. */
export interface Ports {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly rows: Rows | null;
  readonly locks: Locks | null;
  readonly tab: Tab;
  readonly wire: Wire;
}
