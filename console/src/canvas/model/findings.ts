/** Tells what is wrong with a draft from what is not filled in yet. */
import type { Finding, Severity } from "../../wire/draft/open_draft.ts";

/** The codes of what a node that was just added may lack. */
const UNFINISHED: ReadonlySet<string> = new Set(["missing_field", "empty_body", "unwired_exit", "open_webhook"]);

/** The findings, with those that are only unfinished as `incomplete`, unless a person has tested or published the block. */
export function quieted(findings: readonly Finding[], tried: ReadonlySet<string>): readonly Finding[] {
  return findings.map((one) => (one.key !== null && UNFINISHED.has(one.code) && !tried.has(one.key) ? { ...one, severity: "incomplete" } : one));
}

const ORDER: readonly Severity[] = ["error", "warning", "incomplete"];

/** The worst severity there is; null where nothing is found. */
export function worstOf(findings: readonly Finding[] | undefined): Severity | null {
  return ORDER.find((severity) => findings?.some((one) => one.severity === severity)) ?? null;
}

/** As in "2 findings, 3 to fill in"; empty where nothing is found. */
export function findingWords(findings: readonly Finding[]): string {
  const open = findings.filter((one) => one.severity === "incomplete").length;
  const wrong = findings.length - open;
  return [wrong > 0 ? `${wrong} ${wrong === 1 ? "finding" : "findings"}` : "", open > 0 ? `${open} to fill in` : ""].filter(Boolean).join(", ");
}
