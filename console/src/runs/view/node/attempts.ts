/** The attempts of one instance, from its events. */
import type { RunEvent } from "../../../runstate/types.ts";

export interface Attempt {
  readonly number: number;
  readonly event: number;
  readonly began: string;
  ended: string | null;
  outcome: string; // running, waiting, or how it ended
  said: string; // of its failure, or why it waits
  readonly logs: Log[];
}

export interface Log {
  readonly event: number;
  readonly at: string;
  readonly text: string;
}

const ENDS: Readonly<Record<string, string>> = {
  "node.completed": "completed", "node.failed": "failed", "node.timed_out": "timed_out", "node.blocked": "failed", "node.invalidated": "failed",
  "node.cancelled": "cancelled", "node.skipped": "skipped",
};

export function attemptsOf(events: readonly RunEvent[]): readonly Attempt[] {
  const found: Attempt[] = [];
  for (const { eventId: event, type, timestamp, payload } of events) {
    const last = found.at(-1);
    if (type === "node.started") {
      found.push({ number: number(payload["attempt"], found.length + 1), event, began: timestamp, ended: null, outcome: "running", said: "", logs: [] });
    } else if (last === undefined) {
      continue;
    } else if (type === "node.log") {
      last.logs.push({ event, at: timestamp, text: said(payload) });
    } else if (type === "node.waiting") {
      [last.outcome, last.said] = ["waiting", text(payload["reason"]).replaceAll("_", " ")];
    } else if (type === "node.resumed") {
      last.outcome = "running";
    } else if (type === "node.retried") {
      [last.ended, last.outcome, last.said] = [timestamp, "failed", text(payload["message"]) || text(payload["cause"])];
    } else if (type in ENDS && last.ended === null) {
      [last.ended, last.outcome, last.said] = [timestamp, ENDS[type] ?? "", messageOf(payload)];
    }
  }
  return found;
}

/** A line that the node wrote, or what the engine notes of it by a code. */
function said(payload: Readonly<Record<string, unknown>>): string {
  const line = text(payload["text"]);
  if (line !== "") return line;
  const of = text(payload["name"]) || text(payload["from"]);
  return `${text(payload["code"]).replaceAll("_", " ")}${of === "" ? "" : `: ${of}`}`;
}

function messageOf(payload: Readonly<Record<string, unknown>>): string {
  const error = payload["error"];
  return typeof error === "object" && error !== null && "message" in error ? text(error.message) : "";
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}
