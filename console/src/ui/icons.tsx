/** Marks of 16 px, drawn with one line of 1.5 px: of actions and of the kinds of nodes. */
import type { ReactElement } from "react";
import { ICONS } from "../wire/tables/kinds.ts";

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
  incomplete: "M9.500 3.500 12.500 6.500 6 13H3v-3l6.500-6.500Z", error: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 5v3.5M8 10.8h.01", warning: "M8 2.5 14.2 13H1.8L8 2.5ZM8 6.5v3M8 11.2h.01",
  layout: "M2 6h4v4H2zM10 2h4v4h-4zM10 10h4v4h-4zM6 8h2V4h2M8 8v4h2", back: "M10 3 5 8l5 5", chevron: "m6 4 4 4-4 4", check: "m3 8.5 3.2 3L13 4.5",
  pin: "M6 2.500h4M6.500 2.500v4L4 9.500h8L9.500 6.500v-4M8 9.500v4",
  plugin: "M6 2.500v3M10 2.500v3M4.500 5.500h7V8a3.500 3.500 0 0 1-7 0V5.500ZM8 11.500v2.500",
  ...ICONS,
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
