/** The list of keys that `?` opens. */
import type { ReactElement } from "react";
import { Dialog } from "../../ui/dialog.tsx";
import { keyNames } from "./keynames.ts";

/** In its order: the keys as they are printed, with what they do. `⌘` stands for Ctrl where there is no ⌘. */
const LISTED: readonly (readonly [title: string, rows: readonly (readonly [keys: string, does: string])[]])[] = [
  ["Walk", [
    ["Tab, ⇧ Tab", "to the next node, to the one before"], ["←, →, ↑, ↓", "along the edges"], ["Enter", "open the node"],
    ["Esc", "follow no one, select nothing; then Tab leaves the canvas"], ["⌘ F, /", "search nodes"], ["⌘ K", "commands"],
  ]],
  ["Change", [
    ["A", "add a node after this one"], ["C", "connect to a node, by its name"], ["N", "add a note"], ["F2", "rename"], ["D", "disable or enable"],
    ["Del", "delete"], ["⌘ D", "duplicate"], ["⌘ C, ⌘ X, ⌘ V", "copy, cut, paste"], ["⌘ Z, ⇧ ⌘ Z", "undo, redo"], ["T", "give back to the layout"],
  ]],
  ["Test", [["⌘ Enter", "run the draft"], ["R, ⇧ R", "run to the node, from the node"], ["P", "pin its output"]]],
  ["See", [["1", "fit all"], ["0", "size 100 %"], ["+, -", "zoom"], ["⌘ A", "select all"], ["Shift and drag", "select in a rectangle"], ["⇧ F10", "menu of what is selected"], ["?", "this list"]]],
];

export function Keys({ close }: { readonly close: () => void }): ReactElement {
  return (
    <Dialog title="Keys" close={close} wide>
      <div className="dialog-body keys" tabIndex={0} role="group" aria-label="Keys">
        {LISTED.map(([title, rows]) => (
          <section key={title}>
            <h2>{title}</h2>
            <dl>{rows.map(([keys, does]) => <div key={keys}><dt>{keys.split(", ").map((one) => <kbd key={one}>{keyNames(one)}</kbd>)}</dt><dd>{does}</dd></div>)}</dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
