/** The theme that is shown, as an external store: the system's changes and the switch of the page. */
import { useSyncExternalStore } from "react";
import { shownTheme, switchTheme, type Theme } from "./theme.ts";

const listeners = new Set<() => void>();
const system = matchMedia("(prefers-color-scheme: dark)");

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  system.addEventListener("change", listener);
  return () => {
    listeners.delete(listener);
    system.removeEventListener("change", listener);
  };
}

export function useShownTheme(): Theme {
  return useSyncExternalStore(subscribe, shownTheme);
}

export function toggleTheme(): void {
  switchTheme();
  for (const listener of listeners) listener();
}

const narrow = matchMedia("(max-width: 640px)");

function subscribeNarrow(listener: () => void): () => void {
  narrow.addEventListener("change", listener);
  return () => { narrow.removeEventListener("change", listener); };
}

/** Whether the window is as narrow as a phone. */
export function useSmall(): boolean {
  return useSyncExternalStore(subscribeNarrow, () => narrow.matches);
}
