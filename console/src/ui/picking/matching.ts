/** Filters a list of choices by the typed text. */
import type { Mark } from "../icons.tsx";

export interface Choice {
  readonly key: string;
  readonly title: string;
  readonly more: string;
  readonly mark: Mark | null;
  readonly keys?: string;
}

const MOST = 60; // rows; the rest is found by typing

/** Those that begin with what is typed, then those that have it anywhere, then those that have its letters in order. */
export function matching(choices: readonly Choice[], typed: string): readonly Choice[] {
  const sought = typed.trim().toLowerCase();
  if (sought === "") return choices.slice(0, MOST);
  const ranks: Choice[][] = [[], [], [], []];
  for (const choice of choices) {
    const title = choice.title.toLowerCase();
    const rank = title.startsWith(sought) ? 0 : title.includes(sought) ? 1 : choice.more.toLowerCase().includes(sought) ? 2 : scattered(title, sought) ? 3 : -1;
    ranks[rank]?.push(choice);
  }
  return ranks.flat().slice(0, MOST);
}

function scattered(title: string, sought: string): boolean {
  let place = 0;
  for (const letter of sought) {
    place = title.indexOf(letter, place) + 1;
    if (place === 0) return false;
  }
  return true;
}
