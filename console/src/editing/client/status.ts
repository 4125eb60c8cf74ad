/** Describes a session for a page: above all what a person reads about their work, and whether they can go on. */
import type { Operation } from "../log/operations.ts";
import type { State } from "../state.ts";
import type { Report } from "./notices.ts";

export type Why = "role" | "replaced" | "full" | "signed_out";

export type Status =
  | { readonly is: "opening" }
  | { readonly is: "saved" }
  | { readonly is: "saving" }
  | { readonly is: "retrying"; readonly attempt: number; readonly of: number }
  | { readonly is: "offline"; readonly edits: number }
  | { readonly is: "read_only"; readonly why: Why };

const WHY: Readonly<Record<Why, string>> = {
  role: "your role does not allow editing",
  replaced: "this draft was replaced by another one",
  full: "too much waits to be saved",
  signed_out: "your login ran out",
};

export function words(status: Status): string {
  switch (status.is) {
    case "opening":
      return "Opening";
    case "saved":
      return "Saved";
    case "saving":
      return "Saving";
    case "retrying":
      return `Retrying ${status.attempt} of ${status.of}`;
    case "offline":
      return `Offline, ${status.edits} ${status.edits === 1 ? "edit" : "edits"} kept`;
    case "read_only":
      return `Read-only: ${WHY[status.why]}`;
  }
}

/**
 * `listed` are operations of a draft that is gone, or whose log is: they wait for a person's word. `kept`: the work outlives the tab.
 */
export interface Snapshot {
  readonly view: State;
  readonly status: Status;
  readonly canEdit: boolean;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  readonly notices: readonly Report[];
  readonly listed: readonly Operation[];
  readonly kept: boolean;
}
