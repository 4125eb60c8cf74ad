/** Defines the answers of the server about one run. Times without a date are milliseconds since the run began. */
import type { ConditionOut, EventOut, EventsOut, NodeSummaryOut, PauseOut, RowOut, RunOut, SummaryOut, TimelineOut } from "../wire/contract.ts";

/** The API promises no more of an error than that it is an object. */
export type Overview = Omit<RunOut, "error"> & {
  readonly error: { readonly code: string; readonly message: string; readonly node?: string; readonly event?: number } | null;
};

export type Pause = PauseOut;

/** What became of the conditions on the edges from an exit to a target, where the log has what they were over. */
export type Held = ConditionOut;

/** `exits`: how many instances left by each exit. */
export type NodeSummary = NodeSummaryOut;

export type Summary = Omit<SummaryOut, "busy"> & { readonly busy: readonly Span[] };

export type Span = readonly [begin: number, end: number];

export type TimeRow = Omit<RowOut, "parts"> & {
  readonly parts: readonly (readonly [kind: "work" | "wait", begin: number, end: number | null])[];
};

export type TimePage = Omit<TimelineOut, "rows"> & { readonly rows: readonly TimeRow[] };

export type RunEvent = Pick<EventOut, "eventId" | "type" | "timestamp" | "payload">;

export type EventPage = Omit<EventsOut, "events"> & { readonly events: readonly RunEvent[] };
