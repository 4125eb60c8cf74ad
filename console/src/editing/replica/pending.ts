/** Holds the operations of a person that the log does not have yet, and their inverses. */
import { transformEach } from "../transform.ts";
import type { Write } from "../log/effects.ts";
import { operation, type Operation, type Guard, type DraftRequest, type LogEntry, type Outcome } from "../log/operations.ts";
import { MAX_JOINED_WRITES } from "../limits.ts";
import type { DropCode } from "../tables.ts";

export type Origin = "edit" | "undo" | "redo";

/**
 * What takes one action back. It is made from the view, and again from what was committed. `begun`: a part of the action is
 * confirmed, the rest is not.
 */
export interface Entry {
  operation: Operation;
  begun: boolean;
}

/**
 * An operation that is not confirmed. `entry` takes it back; `former` is the entry that an undo or a redo was made from. `typed`: it may
 * wait for more of its kind.
 */
export interface Pending {
  operation: Operation;
  readonly origin: Origin;
  readonly typed: boolean;
  readonly entry: Entry | null;
  readonly former: Entry | null;
}

/** What became of an operation of this person that was not done as asked. */
export interface Notice {
  readonly outcome: Outcome;
  readonly operation: Operation;
  readonly origin: Origin;
  readonly sent: boolean;
}

/** `lost` is reported at the answer, unless the server reports the same operation. */
export interface Sent {
  n: number;
  tag: string;
  base: number;
  parts: Pending[];
  /** The id under which it was sent first, if the client was renamed since. */
  first?: string | undefined;
  lost: { readonly part: Pending; readonly outcome: Outcome }[];
}

/** `join`: it is one action with the edit before it. `typed`: see `Pending`. */
export interface Editing {
  readonly join?: boolean;
  readonly typed?: boolean;
}

/** Counts what is in flight as the first request of a renamed client, and notes its former id. */
export function restarted(sent: Sent, former: string): void {
  sent.first ??= former;
  sent.n = 1;
}

/** Whether an item is what is in flight, under any id of this client, or by a copy of its tab. */
export function isSent(sent: Sent, client: string, item: LogEntry): boolean {
  return sent.tag === item.tag && [client, sent.first].includes(item.first ?? item.client);
}

export function requestOf(client: string, { n, tag, base, parts, first }: Sent): DraftRequest {
  return { client, n, tag, base, operations: parts.map((part) => part.operation), ...(first === undefined ? {} : { first }) };
}

/** An operation that goes nowhere. */
export function refusal(code: string, asked: Operation, origin: Origin, sent: boolean): Notice {
  const key = asked.writes[0]?.[1] ?? "";
  return { outcome: { operation: 0, code, key, by: null, refused: true, writes: asked.writes }, operation: asked, origin, sent };
}

/** How many of the operations that wait travel in one request: `most`, and one at least. An operation with guards travels alone. */
export function together(unsent: readonly Pending[], most: number): number {
  let count = 0;
  let size = 0;
  for (const { operation: one } of unsent) {
    size += one.writes.length;
    const alone = one.guards.length > 0 || (unsent[0]?.operation.guards.length ?? 0) > 0;
    if (count > 0 && (count >= most || alone || size > MAX_JOINED_WRITES)) break;
    count += 1;
  }
  return count;
}

/**
 * Crosses what waits with writes before it. Returns those after it, and an outcome for each entity of which writes mean nothing any
 * more: what a person typed into a text that is gone is offered back.
 */
export function met(part: Pending, theirs: Write[]): { theirs: Write[]; lost: Outcome[] } {
  if (theirs.length === 0) return { theirs, lost: [] };
  const lost = new Map<string, Write[]>();
  const moved = transformEach(part.operation.writes, theirs);
  const places: number[] = []; // where each write stands now
  const writes: Write[] = [];
  const derivations = new Set(part.operation.derived.map(([derived]) => derived));
  for (const [index, made] of moved.mine.entries()) {
    places.push(writes.length);
    writes.push(...made);
    const write = part.operation.writes[index];
    if (made.length === 0 && write !== undefined && !derivations.has(index)) lost.set(write[1], [...(lost.get(write[1]) ?? []), write]);
  }
  const pairs: (readonly [number, number])[] = [];
  for (const [derived, cause] of part.operation.derived) {
    const [first, after] = [places[derived] ?? 0, places[cause] ?? 0];
    if ((moved.mine[cause] ?? []).length === 0) continue;
    for (const index of (moved.mine[derived] ?? []).keys()) pairs.push([first + index, after]);
  }
  part.operation = operation(writes, part.operation.guards, pairs);
  const gone = new Set(theirs.flatMap((write) => (write[0] === "del" ? [write[1]] : [])));
  const outcomes = [...lost].map(([key, writes]): Outcome => (
    { operation: 0, code: (gone.has(key) ? "gone" : "superseded") satisfies DropCode, key, by: null, refused: false, writes }
  ));
  return { theirs: moved.theirs, lost: outcomes };
}

/** One undo for two actions, the later one first. */
export function joined(later: Operation, former: Operation): Operation {
  const guards = new Map<string, Guard>();
  for (const guard of [...former.guards, ...later.guards]) guards.set(JSON.stringify([guard[0], ...guard[1]]), guard);
  return operation([...later.writes, ...former.writes], [...guards.values()]);
}
