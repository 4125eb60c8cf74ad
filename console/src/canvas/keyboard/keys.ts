/** Hands keys and events of the clipboard to the desk, where they are not meant for a field. */
import { useEffect } from "react";
import { actionOf, type Action } from "../actions/keymap.ts";
import { run } from "../commands.ts";
import type { Desk } from "../desk.ts";
import { openMenuByKey } from "../menu/opening.ts";
import { Clipboard } from "./clipboard.ts";

/** Those that do the same wherever the focus is, but in a field. */
const EVERYWHERE: ReadonlySet<Action> = new Set(["undo", "redo", "search", "commands", "keys", "save", "test"]);
/** Those that the outline does itself. */
const OF_THE_CANVAS: ReadonlySet<Action> = new Set(["next", "previous", "forward", "back", "up", "down"]);

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches("input, textarea, select") || target.isContentEditable || target.closest("dialog") !== null);
}

function isInDialog(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("dialog") !== null;
}

/** Whether an action is for this element: in a field and at a button, their own keys come first. */
function isFor(action: Action, target: EventTarget | null): boolean {
  const scope = target instanceof HTMLElement ? target.closest<HTMLElement>("[data-keys]")?.dataset["keys"] : undefined;
  if (target instanceof HTMLButtonElement && (action === "open" || action === "next" || action === "previous")) return false;
  if (OF_THE_CANVAS.has(action)) return scope === "canvas";
  if (document.querySelector("[data-keys]") === null) return EVERYWHERE.has(action) && action !== "search"; // no node is in sight
  return EVERYWHERE.has(action) || scope !== undefined || target === document.body;
}

/** Where an event began, inside of an editor too, which stands in a shadow tree. */
function originOf(event: Event): EventTarget | null {
  return event.composedPath()[0] ?? event.target;
}

/** `save` stands for the action of this name. */
export function useKeys(desk: Desk, save: () => void): void {
  useEffect(() => {
    const clipboard = new Clipboard(desk);
    const idle = window.setTimeout(() => { clipboard.load().catch(() => undefined); }, 600); // without the server it is loaded when it is used
    let leaving = false; // Escape: the next Tab leaves the canvas
    const pressed = (event: KeyboardEvent): void => {
      const origin = originOf(event);
      const action = event.defaultPrevented ? null : actionOf(event);
      if (action === "save" && !isInDialog(origin)) {
        event.preventDefault();
        save();
        return;
      }
      if (action === null || isField(origin) || !isFor(action, origin)) return;
      if ((action === "next" || action === "previous") && leaving) {
        leaving = false;
        return;
      }
      leaving = action === "clear";
      if (action === "menu") {
        event.preventDefault();
        openMenuByKey(desk);
        return;
      }
      if (run(desk, action)) event.preventDefault();
    };
    const copied = (event: ClipboardEvent): void => { if (!isField(originOf(event))) clipboard.copy(event, event.type === "cut"); };
    const pasted = (event: ClipboardEvent): void => { if (!isField(originOf(event))) clipboard.paste(event); };
    document.addEventListener("keydown", pressed);
    document.addEventListener("copy", copied);
    document.addEventListener("cut", copied);
    document.addEventListener("paste", pasted);
    return () => {
      window.clearTimeout(idle);
      document.removeEventListener("keydown", pressed);
      document.removeEventListener("copy", copied);
      document.removeEventListener("cut", copied);
      document.removeEventListener("paste", pasted);
    };
  }, [desk, save]);
}
