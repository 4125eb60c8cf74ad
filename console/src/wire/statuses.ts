/** Classifies the statuses of runs and of nodes. */
import { ENDED, URGENCY } from "./tables/statuses.ts";

export function isEnded(status: string): boolean {
  return (ENDED as readonly string[]).includes(status);
}

/** Whether a run has ended without success: it can be rerun from what failed. */
export function isUnsuccessful(status: string): boolean {
  return isEnded(status) && status !== "completed";
}

/** Sorts what has a status first by what a person must see first; a status that is not known comes last. */
export function byUrgency([left]: readonly [string, number], [right]: readonly [string, number]): number {
  return place(left) - place(right);
}

function place(status: string): number {
  const at = (URGENCY as readonly string[]).indexOf(status);
  return at < 0 ? URGENCY.length : at;
}
