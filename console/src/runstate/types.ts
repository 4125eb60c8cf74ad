/** What the server answers about one run. Times without a date are milliseconds since the run began. */
import type { NamedRun } from "./named.ts";

export interface Overview extends NamedRun {
  readonly error: { readonly code: string; readonly message: string; readonly node?: string; readonly event?: number } | null;
  readonly exception: { readonly type: string; readonly message: string; readonly traceback: string } | null;
  readonly keywords: readonly string[];
  readonly draft: { readonly seq: number; readonly pins: readonly string[]; readonly stop_after: string | null; readonly of: string | null; readonly from: string | null } | null;
  readonly parent: { readonly run: string; readonly instance: string } | null;
  readonly rerun: { readonly of: string; readonly from: string | null; readonly by: string | null; readonly reason: string | null } | null;
  readonly steps: number;
  readonly sequence: number;
  readonly held: { readonly by: string | null; readonly reason: string | null; readonly at: string } | null;
  readonly pauses: readonly Pause[];
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly duration_ms: number;
}

export interface Pause {
  readonly pause: string;
  readonly node: string;
  readonly reason: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly since: string;
  readonly deadline: string | null;
  readonly resume_at: string | null;
  readonly resume: string | null;
}

/** What became of the conditions on the edges from an exit to a target, where the log has what they were over. */
export interface Held {
  readonly handle: string;
  readonly target: string; // its name, without what is around it
  readonly held: number;
  readonly missed: number;
}

/** `exits`: how many instances left by each exit. */
export interface NodeSummary {
  readonly path: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly exits: Readonly<Record<string, number>>;
  readonly conditions: readonly Held[];
  readonly attempts: number;
  readonly begin_ms: number | null;
  readonly end_ms: number | null;
  readonly work_ms: number;
  readonly wait_ms: number;
  readonly failed: readonly string[];
  readonly turns: number;
  readonly failed_turns: number;
}

export interface Summary {
  readonly status: string;
  readonly sequence: number;
  readonly ended: boolean;
  readonly began_at: string | null;
  readonly lasted_ms: number;
  readonly instances: number;
  readonly left_out: number;
  readonly nodes: readonly NodeSummary[];
  readonly busy: readonly Span[];
}

export type Span = readonly [begin: number, end: number];

export interface TimeRow {
  readonly instance: string;
  readonly path: string;
  readonly status: string;
  readonly code: string | null;
  readonly attempts: number;
  readonly begin_ms: number | null;
  readonly end_ms: number | null;
  readonly parts: readonly (readonly [kind: "work" | "wait", begin: number, end: number | null])[];
  readonly first: number;
}

export interface TimePage {
  readonly rows: readonly TimeRow[];
  readonly total: number;
}

export interface RunEvent {
  readonly eventId: number;
  readonly type: string;
  readonly timestamp: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface EventPage {
  readonly events: readonly RunEvent[];
  readonly cursor: number;
  readonly ended: boolean;
}
