/**
 * Cancel, hold or rerun many runs, a page at a time: by filter over all pages, or the runs that a person has chosen.
 *
 * A dry run counts first. What it has counted is what is changed: runs that begin later are left alone. A rerun leaves out runs that
 * were rerun already, unless a person asks for them too.
 */
import { Refusal, explained, requestPlain } from "../../wire/api.ts";
import { runPath } from "../../ui/addresses.ts";
import { isEnded } from "../../wire/statuses.ts";
import type { BulkOut } from "../../wire/contract.ts";

export type Action = "rerun" | "cancel" | "hold" | "release";

/** How a run stands, as a list shows it. */
export interface Standing {
  readonly status: string;
  readonly held: boolean;
}

/** By filter, or by ids; `known` says how those runs stand. */
export type Scope = { readonly filter: Readonly<Record<string, unknown>> } | { readonly ids: readonly string[]; readonly known: ReadonlyMap<string, Standing> };

export interface Survey {
  readonly matched: number;
  readonly applies: number;
  readonly leftOut: number; // rerun already
  readonly unsure: boolean; // there may be more of those
  readonly more: boolean; // there may be more than were counted
  readonly statuses: Readonly<Record<string, number>>;
  readonly until: string | null;
}

export interface Result {
  readonly run: string;
  readonly made: string | null; // the new run of a rerun
  readonly refused: string | null;
}

export interface Progress {
  readonly results: readonly Result[];
  readonly done: number;
  readonly refused: number;
  readonly leftOut: number;
  readonly left: readonly string[]; // of runs that were chosen, those that were left out
  readonly running: boolean;
  readonly error: unknown;
}

type Answer = BulkOut;

const MAX_COUNTS = 5; // requests of a dry run: 10,000 runs
const AT_ONCE = 50;
export const BULK = "/runs/bulk";

const NONE: Survey = { matched: 0, applies: 0, leftOut: 0, unsure: false, more: false, statuses: {}, until: null };

export async function survey(action: Action, scope: Scope): Promise<Survey> {
  if ("ids" in scope) return surveyed(action, scope.ids, scope.known);
  let found: Survey = { ...NONE, more: true };
  let cursor: string | null = null;
  for (let round = 0; round < MAX_COUNTS && found.more; round += 1) {
    const body: Record<string, unknown> = { action, filter: found.until === null ? scope.filter : { ...scope.filter, until: found.until }, dry_run: true, ...(cursor === null ? {} : { cursor }) };
    const answer = await requestPlain("POST", BULK, body) as Answer;
    found = {
      matched: found.matched + answer.matched, applies: found.applies + (answer.applies ?? 0), leftOut: found.leftOut + answer.left_out,
      unsure: found.unsure || answer.unsure === true, more: answer.cursor !== null,
      statuses: summed(found.statuses, answer.statuses ?? {}), until: found.until ?? answer.until ?? null,
    };
    cursor = answer.cursor;
  }
  return found;
}

/** What the server counts of a filter, of runs that are chosen: cancel and hold change those that have not ended, release those that are held. */
export function surveyed(action: Action, ids: readonly string[], known: ReadonlyMap<string, Standing>): Survey {
  const statuses = new Map<string, number>();
  let applies = 0;
  for (const id of ids) {
    const run = known.get(id);
    if (run !== undefined) statuses.set(run.status, (statuses.get(run.status) ?? 0) + 1);
    if (action === "rerun" || run === undefined || (action === "release" ? run.held : !isEnded(run.status))) applies += 1;
  }
  return { ...NONE, matched: ids.length, applies, statuses: Object.fromEntries(statuses) };
}

export function summed(left: Readonly<Record<string, number>>, right: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const all = new Map(Object.entries(left));
  for (const [name, count] of Object.entries(right)) all.set(name, (all.get(name) ?? 0) + count);
  return Object.fromEntries(all);
}

export interface Order {
  readonly action: Action;
  readonly scope: Scope;
  readonly until: string | null;
  readonly reason: string;
  readonly again: boolean; // runs that were rerun already, too
  readonly from: string | null; // where reruns begin; null: at the start
}

/** Carries it out. `say` gets the state after each page; `stopped` ends it between two pages. */
export async function carryOut({ action, scope, until, reason, again, from }: Order, say: (progress: Progress) => void, stopped: () => boolean): Promise<void> {
  const results: Result[] = [];
  const left: string[] = [];
  const asked = action === "rerun" ? { reason, again, ...(from === null ? {} : { from }) } : { reason };
  let [refused, leftOut] = [0, 0];
  const tell = (running: boolean, error: unknown = null): void => { say({ results: [...results], done: results.length - refused, refused, leftOut, left: [...left], running, error }); };
  const note = (more: readonly Result[]): void => {
    results.push(...more);
    refused += more.filter((one) => one.refused !== null).length;
  };
  try {
    if ("ids" in scope) {
      for (const id of scope.ids) {
        if (stopped()) break;
        const made = await one(action, id, asked);
        if (made === null) leftOut = left.push(id);
        else note([made]);
        tell(true);
      }
    } else {
      let cursor: string | null = null;
      do {
        const body: Record<string, unknown> = { action, filter: until === null ? scope.filter : { ...scope.filter, until }, ...asked, limit: AT_ONCE, ...(cursor === null ? {} : { cursor }) };
        const answer = await requestPlain("POST", BULK, body) as Answer;
        note(answer.changed.map((run, place): Result => ({ run, made: action === "rerun" ? answer.done[place] ?? null : null, refused: null })));
        note(answer.refused.map(({ run_id: run, message }): Result => ({ run, made: null, refused: message })));
        leftOut += answer.left_out;
        cursor = answer.cursor;
        tell(true);
      } while (cursor !== null && !stopped());
    }
    tell(false);
  } catch (error) {
    tell(false, error);
  }
}

/** null where it is left out: it was rerun already. */
async function one(action: Action, id: string, asked: Readonly<Record<string, unknown>>): Promise<Result | null> {
  try {
    const answer = await requestPlain("POST", `${runPath(id)}/${action}`, asked) as { readonly run_id: string };
    return { run: id, made: action === "rerun" ? answer.run_id : null, refused: null };
  } catch (error) {
    if (!(error instanceof Refusal) || error.status === 401 || error.status >= 500) throw error;
    if (error.code === "rerun_already") return null;
    return { run: id, made: null, refused: explained(error).why };
  }
}
