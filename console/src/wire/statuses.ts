/** The statuses of runs, as the server names them. */
export const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled", "timed_out"]);
