/** Lists the actions for the selection, or for the canvas where nothing is selected. Each key is that of a `Choice`. */
import type { Action } from "../actions/keymap.ts";
import type { Look } from "../desk.ts";

/** `add`, `note`: at the point of the menu. `link`: copies the address of the node. */
export type Choice = Action | "link" | "alignLeft" | "alignCentre" | "alignTop" | "alignMiddle" | "distributeAcross" | "distributeDown" | "insert";

export interface Item {
  readonly key: Choice;
  readonly title: string;
  readonly keys?: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
}

/** The sections of the menu; those that change the draft are disabled where it can only be read. */
export function itemsFor(look: Pick<Look, "selected" | "edges" | "chosen" | "graph" | "draft" | "notes">): readonly (readonly Item[])[] {
  const { selected, edges, chosen } = look;
  const made = selected.size + chosen.size > 1 ? ofMany(look) : selected.size === 1 ? ofBlock(look) : chosen.size === 1 ? OF_NOTE : edges.size > 0 ? ofEdges(edges.size) : ofCanvas(look);
  if (look.draft.canEdit) return made;
  return made.map((section) => section.map((item) => (READS.has(item.key) ? item : { ...item, disabled: true })));
}

const READS: ReadonlySet<Choice> = new Set(["open", "copy", "link", "selectAll", "fit", "about"]);

const COPIES: readonly Item[] = [
  { key: "copy", title: "Copy", keys: "⌘ C" }, { key: "cut", title: "Cut", keys: "⌘ X" }, { key: "duplicate", title: "Duplicate", keys: "⌘ D" },
];
const DELETE: Item = { key: "delete", title: "Delete", keys: "Del", danger: true };
const OF_NOTE: readonly (readonly Item[])[] = [[{ key: "open", title: "Write", keys: "Enter" }], COPIES, [DELETE]];

function ofBlock({ selected, graph }: Pick<Look, "selected" | "graph">): readonly (readonly Item[])[] {
  const [tail = ""] = selected;
  const block = graph.blocks.get(tail);
  const leads = (block?.exits.length ?? 0) > 0;
  return [
    [{ key: "open", title: "Open", keys: "Enter" }, { key: "rename", title: "Rename", keys: "F2" }, { key: "link", title: "Copy link" }],
    leads ? [{ key: "add", title: "Add a node after it", keys: "A" }, { key: "connect", title: "Connect to…", keys: "C" }] : [],
    [{ key: "disable", title: block?.enabled === false ? "Enable" : "Disable", keys: "D" }, ...graph.places.has(tail) ? [TIDY] : []],
    COPIES, [DELETE],
  ];
}

const TIDY: Item = { key: "tidy", title: "Reset position", keys: "T" };

function ofMany({ selected, chosen, graph }: Pick<Look, "selected" | "chosen" | "graph">): readonly (readonly Item[])[] {
  const anyOn = [...selected].some((tail) => graph.blocks.get(tail)?.enabled !== false);
  const count = selected.size + chosen.size;
  return [
    selected.size < 2 ? [] : [
      { key: "alignLeft", title: "Align left" }, { key: "alignCentre", title: "Align centre" }, { key: "alignTop", title: "Align top" }, { key: "alignMiddle", title: "Align middle" },
      ...selected.size < 3 ? [] : [{ key: "distributeAcross", title: "Distribute across" }, { key: "distributeDown", title: "Distribute down" }] as const,
    ],
    selected.size === 0 ? [] : [{ key: "disable", title: anyOn ? "Disable" : "Enable", keys: "D" }, ...[...selected].some((tail) => graph.places.has(tail)) ? [TIDY] : []],
    COPIES,
    [{ ...DELETE, title: `Delete ${count}` }],
  ];
}

function ofEdges(count: number): readonly (readonly Item[])[] {
  return [count === 1 ? [{ key: "insert", title: "Add a node in between", keys: "A" }] : [], [DELETE]];
}

function ofCanvas({ graph, notes }: Pick<Look, "graph" | "notes">): readonly (readonly Item[])[] {
  const [empty, placed] = [graph.blocks.size === 0 && notes.size === 0, graph.places.size > 0];
  return [
    [{ key: "add", title: "Add a node", keys: "A" }, { key: "note", title: "Add a note", keys: "N" }, { key: "paste", title: "Paste", keys: "⌘ V" }],
    empty ? [] : [{ key: "selectAll", title: "Select all", keys: "⌘ A" }, ...placed ? [{ key: "tidy", title: "Tidy all", keys: "T" }] as const : [], { key: "fit", title: "Fit all", keys: "1" }],
    [{ key: "about", title: "About this draft, duplicate…" }],
  ];
}
