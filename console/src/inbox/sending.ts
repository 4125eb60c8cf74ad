/** Sends answers by the links of their questions: one, or several with the same body. */
import { explained, Refusal, requestWritten } from "../wire/api.ts";
import { jsonOf } from "../wire/exact.ts";
import type { Approval, Body } from "./answer_form.tsx";

export interface Result {
  readonly asked: Approval;
  readonly said: string; // why not; empty where it was recorded
}

/** Sends one answer by the link of its question. */
export async function send(asked: Approval, body: Body): Promise<void> {
  await requestWritten("POST", new URL(asked.resume ?? "", location.origin).pathname, jsonOf(body));
}

/** Whether there is nothing to answer any more: another person was faster, the deadline has passed, or the run has ended. */
export function isOver(error: unknown): boolean {
  return error instanceof Refusal && [404, 409, 410].includes(error.status);
}

/** Sends one after the other. An answer that the first question refuses is corrected before any other is sent. */
export async function each(questions: readonly Approval[], body: Body, tell: (results: readonly Result[]) => void, sending = send): Promise<{ readonly refused: unknown }> {
  const results: Result[] = [];
  for (const asked of questions) {
    let said = "";
    try {
      await sending(asked, body);
    } catch (error) {
      if (results.length === 0 && !isOver(error)) return { refused: error };
      said = explained(error).why;
    }
    results.push({ asked, said });
    tell([...results]);
  }
  return { refused: null };
}
