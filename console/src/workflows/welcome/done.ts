/** Which of the first five steps were done, as this browser has seen it: what was seen once stays done. */
import { Refusal, requestPlain } from "../../wire/api.ts";
import type { Fleet } from "../reading.ts";

export const STEPS = ["begin", "test", "publish", "run", "decide"] as const;
export type Step = (typeof STEPS)[number];

const AT = "stepless.steps";
const HIDDEN = "hidden";
const MOST_DRAFTS = 3; // whose test runs are looked for

type Kept = Pick<Storage, "getItem" | "setItem">;

/** null: a person has hidden them. */
export function keptSteps(storage: Kept = localStorage): ReadonlySet<Step> | null {
  const kept = (storage.getItem(AT) ?? "").split(" ");
  return kept.includes(HIDDEN) ? null : new Set(STEPS.filter((step) => kept.includes(step)));
}

export function keepSteps(done: ReadonlySet<Step> | null, storage: Kept = localStorage): void {
  storage.setItem(AT, done === null ? HIDDEN : [...done].join(" "));
}

/** Whether a list of the server has an entry. One that this person may not read has none that they made. */
async function hasAny(path: string, name: string, read: typeof requestPlain, fits: (one: { readonly version?: number | null }) => boolean = () => true): Promise<boolean> {
  try {
    const found = (await read("GET", path) as Readonly<Record<string, unknown>>)[name];
    return Array.isArray(found) && (found as readonly { readonly version?: number | null }[]).some(fits);
  } catch (error) {
    if (error instanceof Refusal || error instanceof TypeError) return false;
    throw error;
  }
}

/** Those that are done by now. What was done before is not asked for. */
export async function doneSteps(found: Pick<Fleet, "listed" | "drafts">, before: ReadonlySet<Step>, read = requestPlain): Promise<ReadonlySet<Step>> {
  const isThere: Readonly<Record<Step, () => boolean | Promise<boolean>>> = {
    begin: () => found.listed.length + found.drafts.length > 0,
    test: async () => (await Promise.all(found.drafts.slice(0, MOST_DRAFTS).map(({ workflow }) => hasAny(`/drafts/${encodeURIComponent(workflow)}/runs?limit=1`, "runs", read)))).includes(true),
    publish: () => found.listed.length > 0,
    run: () => hasAny("/runs?limit=50", "runs", read, ({ version }) => version !== null), // a test run has none
    decide: () => hasAny("/approvals/decisions?limit=1", "decisions", read),
  };
  const done = await Promise.all(STEPS.map(async (step) => before.has(step) || await isThere[step]()));
  return new Set(STEPS.filter((_, place) => done[place]));
}
