/** Light or dark: as the system has it, until the person switches. */
const NAME = "stepless.theme";

export type Theme = "light" | "dark";

export function shownTheme(): Theme {
  const chosen = document.documentElement.dataset["theme"];
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function restoreTheme(): void {
  const kept = localStorage.getItem(NAME);
  if (kept === "light" || kept === "dark") document.documentElement.dataset["theme"] = kept;
}

export function switchTheme(): Theme {
  const next = shownTheme() === "dark" ? "light" : "dark";
  document.documentElement.dataset["theme"] = next;
  localStorage.setItem(NAME, next);
  return next;
}
