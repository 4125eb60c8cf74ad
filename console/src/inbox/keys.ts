/** The keys of the list of questions. No single one decides: `a` and `r` go to the button that approves or rejects, which Enter presses. */
import { useEffect } from "react";
import { flushSync } from "react-dom";
import { isTyped } from "../ui/picking/presses.ts";

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };
const EXITS: Readonly<Record<string, string>> = { a: "approved", r: "rejected" };

function rows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(".question-open")];
}

/** The question that has the focus. */
function here(): Element | null {
  return document.activeElement?.closest(".question") ?? null;
}

function step(by: number): void {
  const all = rows();
  const at = all.findIndex((row) => here()?.contains(row) === true);
  all[Math.max(0, Math.min(at + by, all.length - 1))]?.focus();
}

function goTo(item: Element, exit: string): void {
  if (!item.classList.contains("open")) flushSync(() => { item.querySelector<HTMLElement>(".question-open")?.click(); });
  item.querySelector<HTMLElement>(`[data-exit="${exit}"]`)?.focus();
}

/** Whether the key was one of these. `together` is for the chosen questions; null where none is chosen. */
function pressed(key: string, together: ((exit: string) => void) | null): boolean {
  const [by, exit, item] = [STEPS[key], EXITS[key], here()];
  if (by !== undefined) step(by);
  else if (exit !== undefined && together !== null) together(exit);
  else if (item === null) return false;
  else if (exit !== undefined) goTo(item, exit);
  else if (key === "x") item.querySelector<HTMLElement>(".question-tick input")?.click();
  else return false;
  return true;
}

export function useKeys(together: ((exit: string) => void) | null, off: boolean): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (!off && !event.metaKey && !event.ctrlKey && !event.altKey && !isTyped(event) && pressed(event.key, together)) event.preventDefault();
    };
    window.addEventListener("keydown", press);
    return () => { window.removeEventListener("keydown", press); };
  }, [together, off]);
}
