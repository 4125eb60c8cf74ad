/**
 * Which client a tab is. It goes on as the one that it was before a reload, else as one whose tab is gone while its work waits, else
 * as a new one. Who holds the lock of a client is it: a copied tab does not get the lock, and is another client.
 */
import type { LogEntry } from "../../log/operations.ts";
import { Replica } from "../../replica/replica.ts";
import { Entities } from "../../state.ts";
import { kept, prefix, type Kept } from "./kept.ts";
import type { Locks, Opening, Ports, Rows } from "../ports.ts";

const KEPT_MS = 30 * 24 * 3_600_000; // of the undo stacks of a tab that was closed with nothing waiting

export interface Berth {
  readonly client: string;
  readonly release: () => void;
  readonly kept: Kept | null;
  readonly keys: readonly string[];
}

const lockOf = (client: string): string => `client/${client}`;

/** A client that is new. */
export async function fresh(ports: Ports): Promise<Berth> {
  const client = ports.chance.word();
  const release = await ports.locks?.hold(lockOf(client));
  return { client, release: release ?? (() => undefined), kept: null, keys: [] };
}

export async function board(ports: Ports, draft: string): Promise<Berth> {
  const { rows, locks } = ports;
  if (rows === null || locks === null) return fresh(ports); // without locks two tabs might send one queue
  const before = ports.tab.recall();
  const own = before === null ? null : await claimed(rows, locks, draft, before);
  if (own !== null && own.kept !== null) return own;
  own?.release();
  return (await orphan(ports, draft)) ?? (await fresh(ports));
}

/** A client whose tab is gone while its work waits; null where there is none. Old rows without work are removed on the way. */
export async function orphan(ports: Ports, draft: string, except = ""): Promise<Berth | null> {
  const { rows, locks } = ports;
  if (rows === null || locks === null) return null;
  const clients = new Set((await rows.read(prefix(draft))).map(([key]) => key.split("/")[1] ?? ""));
  for (const client of clients) {
    const berth = client === except ? null : await claimed(rows, locks, draft, client);
    if (berth === null) continue;
    if (hasWork(berth.kept)) return berth;
    if (berth.kept === null || berth.kept.at < ports.clock.now() - KEPT_MS) await rows.write(new Map(berth.keys.map((key) => [key, null])));
    berth.release();
  }
  return null;
}

function hasWork(held: Kept | null): boolean {
  return held !== null && (held.sent !== null || held.unsent.length > 0 || held.listed.length > 0);
}

async function claimed(rows: Rows, locks: Locks, draft: string, client: string): Promise<Berth | null> {
  const release = await locks.hold(lockOf(client));
  if (release === null) return null;
  const found = new Map(await rows.read(prefix(draft, client))); // after the lock: its tab may have written until then
  try {
    return { client, release, kept: kept(draft, client, found), keys: [...found.keys()] };
  } catch (error) {
    release();
    if (error instanceof SyntaxError) return null; // rows of a later release: they stay for it
    throw error;
  }
}

/** The replica that a client had, at the state of an opening. `items` are all those since. */
export function revived(berth: Berth, opening: Opening, items: readonly LogEntry[]): Replica {
  const { kept } = berth;
  const replica = new Replica(berth.client, new Entities(), kept?.seq ?? 0);
  if (kept !== null) {
    replica.n = kept.n;
    replica.sent = kept.sent;
    replica.unsent = [...kept.unsent];
    replica.stacks.undos = [...kept.undos];
    replica.stacks.redos = [...kept.redos];
  }
  replica.resume(new Entities(opening.state), items, kept?.called ?? []);
  return replica;
}
