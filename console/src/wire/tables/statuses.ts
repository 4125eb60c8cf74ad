/** The statuses of runs and of nodes. Generated from engine/stepless/model/runs/statuses.py by contract/tables.py: `make contract`. */

/** By which runs can be listed. */
export const STORED = [
  "created", "running", "paused", "completed", "failed", "cancelled", "timed_out", "damaged_log", "newer_log",
] as const;

/** After which nothing follows in a run. */
export const ENDED = [
  "completed", "failed", "cancelled", "timed_out",
] as const;

/** Those of an instance of a node. */
export const NODE_STATUSES = [
  "pending", "queued", "running", "waiting", "completed", "failed", "skipped", "cancelled",
] as const;

/** Those of runs and of nodes, the first of which a person must see first. */
export const URGENCY = [
  "failed", "timed_out", "damaged_log", "newer_log", "damaged", "running", "held", "paused", "waiting", "created", "queued", "pending",
  "completed", "cancelled", "skipped",
] as const;

/** What a status means at a glance; the others are quiet. */
export const TONES = {
  running: "running", paused: "waiting", completed: "completed", failed: "failed", timed_out: "failed", damaged_log: "failed",
  newer_log: "failed", damaged: "failed", held: "held", waiting: "waiting",
} as const;
