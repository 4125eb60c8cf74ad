/** The status of a run or of a node: a mark, a word and a colour, never one of them alone. */
import "./status.css";
import type { ReactElement } from "react";
import { TONES } from "../wire/tables/statuses.ts";

export type Tone = "running" | "waiting" | "held" | "failed" | "completed" | "quiet";

const MARKS: Readonly<Record<Tone, string>> = {
  running: "M7 12.2A5.2 5.2 0 1 0 1.8 7M7 4v3l2 1.4", waiting: "M4.8 3v8M9.2 3v8", held: "M3.500 6.500h7v5h-7zM5 6.500V4.800a2 2 0 0 1 4 0v1.700",
  failed: "m3.500 3.500 7 7M10.500 3.500l-7 7", completed: "m2.500 7.500 3 3 6-7", quiet: "M7 12.200A5.200 5.200 0 1 0 7 1.800a5.200 5.200 0 0 0 0 10.400Z",
};

const OTHER_MARKS: Readonly<Record<string, string>> = {
  cancelled: "M7 12.200A5.200 5.200 0 1 0 7 1.800a5.200 5.200 0 0 0 0 10.400ZM3.400 3.400l7.200 7.200", skipped: "M3 7h8",
};

export function toneOf(status: string): Tone {
  return Object.hasOwn(TONES, status) ? TONES[status as keyof typeof TONES] : "quiet";
}

export function wordOf(status: string): string {
  return status.replaceAll("_", " ");
}

export function StatusMark({ status }: { readonly status: string }): ReactElement {
  const path = (Object.hasOwn(OTHER_MARKS, status) ? OTHER_MARKS[status] : undefined) ?? MARKS[toneOf(status)];
  return (
    <svg width={14} height={14} viewBox="0 0 14 14" fill="none" stroke="currentColor" strokeWidth="1.600" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

export function Status({ status, children }: { readonly status: string; readonly children?: string | undefined }): ReactElement {
  return <span className={`status ${toneOf(status)}`}><StatusMark status={status} /><span className="cut">{children ?? wordOf(status)}</span></span>;
}
