/** The statuses of runs, as the server names them. */
export const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "timed_out"]);

/** Whether a run has ended without success: it can be rerun from what failed. */
export function isUnsuccessful(status: string): boolean {
  return ENDED.has(status) && status !== "completed";
}
