/** Serves copy and paste, in addition to the clipboard: loaded when the page is idle. */
import type { State } from "../../editing/state.ts";
import type { Value } from "../../editing/values/encoding.ts";
import { fragment } from "../actions/fragments.ts";
import type { Graph } from "../model/graph.ts";
import { carried } from "../notes/carrying.ts";
import type { Notes } from "../notes/notes.ts";
import { print } from "../../source/yaml.ts";

export { paste, settings } from "../actions/pasting.ts";
export { pasteNotes } from "../notes/carrying.ts";
export { read, Unreadable } from "../../source/yaml.ts";

/** What is selected as text: `nodes`, and `notes` where there are any. */
export function printed(state: State, graph: Graph, selected: ReadonlySet<string>, notes: Notes, chosen: ReadonlySet<string>): string {
  const made = selected.size === 0 ? [] : [...fragment(state, graph, selected)];
  return print(new Map<string, Value>(chosen.size === 0 ? made : [...made, ["notes", carried(notes, chosen)]]));
}
