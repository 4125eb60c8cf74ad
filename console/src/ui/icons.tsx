/** Marks of 16 px, drawn with one line of 1.5 px: of actions and of the kinds of nodes. */
import type { ReactElement } from "react";

const PATHS = {
  refresh: "M13 8a5 5 0 1 1-1.600-3.700L13 6M13 2.500V6H9.500",
  undo: "M6 3.5 3 6.5l3 3M3 6.5h6a3.5 3.5 0 0 1 0 7H7", redo: "m10 3.5 3 3-3 3M13 6.5H7a3.5 3.5 0 0 0 0 7h2",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10", plus: "M8 3v10M3 8h10", minus: "M3 8h10",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.5 10.5l3 3", close: "m4 4 8 8M12 4l-8 8",
  keys: "M2 5.5A1.5 1.5 0 0 1 3.5 4h9A1.5 1.5 0 0 1 14 5.5v5a1.5 1.5 0 0 1-1.5 1.5h-9A1.5 1.5 0 0 1 2 10.5v-5ZM4.5 6.8h.01M7 6.8h.01M9.5 6.8h.01M11.7 6.8h.01M5.5 9.5h5",
  trash: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9", copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5Z", sun: "M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8 1.8v1.4M8 12.8v1.4M1.8 8h1.4M12.8 8h1.4M3.6 3.6l1 1M11.4 11.4l1 1M3.6 12.4l1-1M11.4 4.6l1-1",
  alignLeft: "M2.5 2v12M5 4h8v3H5zM5 9.5h5v3H5z", alignCentre: "M8 2v2M8 7v2.500M8 12.500v1.500M3 4h10v3H3zM5 9.500h6v3H5z", alignRight: "M13.500 2v12M3 4h8v3H3zM6 9.500h5v3H6z",
  alignTop: "M2 2.500h12M4 5h3v8H4zM9.500 5h3v5h-3z", alignMiddle: "M2 8h2M7 8h2.500M12.500 8h1.500M4 3h3v10H4zM9.500 5h3v6h-3z", alignBottom: "M2 13.500h12M4 3h3v8H4zM9.500 6h3v5h-3z",
  distributeAcross: "M2.500 2v12M13.500 2v12M6 5h4v6H6z", distributeDown: "M2 2.500h12M2 13.500h12M5 6h6v4H5z",
  note: "M3 2.5h10v7l-4 4H3v-11ZM13 9.5H9v4",
  error: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 5v3.5M8 10.8h.01", warning: "M8 2.5 14.2 13H1.8L8 2.5ZM8 6.5v3M8 11.2h.01",
  layout: "M2 6h4v4H2zM10 2h4v4h-4zM10 10h4v4h-4zM6 8h2V4h2M8 8v4h2", back: "M10 3 5 8l5 5", chevron: "m6 4 4 4-4 4", check: "m3 8.5 3.2 3L13 4.5",
  pin: "M6 2.500h4M6.500 2.500v4L4 9.500h8L9.500 6.500v-4M8 9.500v4",
  manual: "M5 3.2v9.6l8-4.8-8-4.8Z", webhook: "M8 9 5.5 4.6a2.4 2.4 0 1 1 4.6-.9M8 9l2.6.1a2.4 2.4 0 1 1-.8 4.3M5.4 9.2 3.9 11a2.4 2.4 0 1 0 4 1.4h2.6",
  schedule: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.8V8l2.4 1.6", event: "M8.8 1.8 3.5 9h4l-.7 5.2L12.5 7h-4l.3-5.2Z",
  http: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM2 8h12M8 2c2.2 2 2.2 10 0 12M8 2c-2.2 2-2.2 10 0 12", function: "M10.5 3.2C8.6 2.6 8 3.6 7.8 5l-1 6.4c-.3 1.5-1 2.2-2.6 1.6M4.8 6.8h5.4",
  lambda: "M4 2.8h2l5 10.4h1.6M7 6.2l-3.6 7", aws: "M4.8 12.5a3 3 0 0 1-.4-6 4 4 0 0 1 7.5.9 2.6 2.6 0 0 1-.4 5.1H4.8Z", code: "m5 4.5-3.2 3.5L5 11.5M11 4.5l3.2 3.5-3.2 3.5M9.2 3 6.8 13",
  llm: "M7 2.5 8.4 6 12 7.4 8.4 8.8 7 12.4 5.6 8.8 2 7.4 5.6 6 7 2.5ZM12.4 10.5l.6 1.5 1.5.6-1.5.6-.6 1.5-.6-1.5-1.5-.6 1.5-.6.6-1.5Z",
  workflow: "M2 3h4.5v4H2zM9.5 9H14v4H9.5zM6.5 5h3.2c1 0 1.8.8 1.8 1.8V9", condition: "M8 1.8 14.2 8 8 14.2 1.8 8 8 1.8Z", router: "M2 8h4l5-4.5h3M6 8l5 4.5h3M6 8h8",
  join: "M2 3.5h2.5L9 8h5M2 12.5h2.5L9 8", loop: "M4 6.2A4.6 4.6 0 0 1 12.3 6M12 9.8A4.6 4.6 0 0 1 3.7 10M12.6 3v3.2H9.4M3.4 13V9.8h3.2", parallel: "M2.5 3.5h11M2.5 8h11M2.5 12.5h11",
  approval: "M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 8 8ZM2.5 13.8a5.5 5.5 0 0 1 6.8-3.3M9.5 12.3l1.6 1.5 2.9-3.2", callback: "M13.5 5.5h-8a3 3 0 0 0 0 6H8M11 3l2.5 2.5L11 8", wait: "M4.5 2h7M4.5 14h7M5.5 2c0 3.5 5 4 5 6s-5 2.5-5 6M10.500 2c0 3.500-5 4-5 6s5 2.500 5 6",
  transform: "M2.500 5h7M7 2.500 9.500 5 7 7.500M13.500 11h-7M9 8.500 6.500 11 9 13.500", set: "M3 5.500h10M3 10.500h10", respond: "M13.500 3.500v3a3 3 0 0 1-3 3h-8M5.500 6.500l-3 3 3 3", end: "M3.500 3.500h9v9h-9z",
  fail: "M5.500 2h5L14 5.500v5L10.500 14h-5L2 10.500v-5L5.500 2ZM6 6l4 4M10 6l-4 4",
  plugin: "M6 2.500v3M10 2.500v3M4.500 5.500h7V8a3.500 3.500 0 0 1-7 0V5.500ZM8 11.500v2.500",
} as const;

export type Mark = keyof typeof PATHS;

export function Icon({ mark, size = 16 }: { readonly mark: Mark; readonly size?: number }): ReactElement {
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true">
      <path d={PATHS[mark]} />
    </svg>
  );
}

/** The mark of Stepless, as in mark.svg. */
export function Brand({ size = 16 }: { readonly size?: number }): ReactElement {
  return (
    <svg className="brand" width={size} height={size} viewBox="0 0 16 16" fill="none" strokeWidth="1.8" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true">
      <rect width="16" height="16" rx="4" /><path d="M4 11.5h3v-3h3v-3h2.500" />
    </svg>
  );
}

/** The mark of a kind; kinds of plug-ins share one. */
export function markOf(kind: string): Mark {
  return Object.hasOwn(PATHS, kind) ? (kind as Mark) : "plugin";
}
