/**
 * Which key does what in the canvas and in the outline. A key that is typed into a field does what it does there.
 */

export type Action =
  | "next" | "previous" | "forward" | "back" | "up" | "down"
  | "open" | "add" | "note" | "connect" | "rename" | "disable" | "delete" | "duplicate" | "tidy"
  | "copy" | "cut" | "paste" | "undo" | "redo" | "selectAll" | "clear" | "save"
  | "test" | "testTo" | "testFrom" | "pin" | "search" | "commands" | "about" | "fit" | "reset" | "keys" | "menu" | "zoomIn" | "zoomOut";

/** The parts of a keyboard event that decide. */
export interface Key {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
}

const PLAIN: Readonly<Record<string, Action>> = {
  ArrowRight: "forward", ArrowLeft: "back", ArrowUp: "up", ArrowDown: "down", Enter: "open", F2: "rename", Escape: "clear",
  ContextMenu: "menu", Tab: "next",
  Delete: "delete", Backspace: "delete", a: "add", n: "note", c: "connect", d: "disable", t: "tidy", "1": "fit", "0": "reset", "?": "keys", "/": "search",
  "+": "zoomIn", "-": "zoomOut", r: "testTo", p: "pin",
};

const WITH_SHIFT: Readonly<Record<string, Action>> = { F10: "menu", Tab: "previous", r: "testFrom" };

const WITH_COMMAND: Readonly<Record<string, Action>> = {
  d: "duplicate", c: "copy", x: "cut", v: "paste", z: "undo", y: "redo", a: "selectAll", s: "save", k: "commands", f: "search", Enter: "test",
};

/** Null where the page leaves the key to the browser. */
export function actionOf(pressed: Key): Action | null {
  if (pressed.altKey) return null;
  const letter = pressed.key.length === 1 ? pressed.key.toLowerCase() : pressed.key;
  if (pressed.ctrlKey || pressed.metaKey) {
    if (letter === "z" && pressed.shiftKey) return "redo";
    return pressed.shiftKey ? null : (find(WITH_COMMAND, letter) ?? null);
  }
  return (pressed.shiftKey ? find(WITH_SHIFT, letter) : undefined) ?? find(PLAIN, letter) ?? null;
}

function find(table: Readonly<Record<string, Action>>, key: string): Action | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** Actions that change the draft: not where it can only be read. */
export const CHANGES: ReadonlySet<Action> = new Set([
  "add", "note", "connect", "rename", "disable", "delete", "duplicate", "tidy", "cut", "paste", "undo", "redo", "test", "testTo", "testFrom", "pin",
]);
