/** The list of keys that `?` opens. */
import type { ReactElement } from "react";
import { KeyList, type Listed } from "../../ui/picking/keys.tsx";

const LISTED: Listed = [
  ["Walk", [
    ["Tab, ⇧ Tab", "next node, previous node"], ["←, →, ↑, ↓", "along the edges"], ["Enter", "open the node"],
    ["Esc", "stop following, clear the selection; then Tab leaves the canvas"], ["⌘ F, /", "search nodes"], ["⌘ K", "commands"],
  ]],
  ["Change", [
    ["A", "add a node after this one"], ["C", "connect to a node, by its name"], ["N", "add a note"], ["F2", "rename"], ["D", "disable or enable"],
    ["Del", "delete"], ["⌘ D", "duplicate"], ["⌘ C, ⌘ X, ⌘ V", "copy, cut, paste"], ["⌘ Z, ⇧ ⌘ Z", "undo, redo"], ["T", "reset position"],
  ]],
  ["Test", [["⌘ Enter", "run the draft"], ["R, ⇧ R", "run to the node, from the node"], ["P", "pin its output"]]],
  ["See", [["1", "fit all"], ["0", "size 100 %"], ["+, -", "zoom"], ["⌘ A", "select all"], ["Shift and drag", "select in a rectangle"], ["⇧ F10", "menu of what is selected"], ["?", "this list"]]],
];

export function Keys({ close }: { readonly close: () => void }): ReactElement {
  return <KeyList listed={LISTED} close={close} />;
}
