/** Sends a request to a webhook as its sender would: without the token of this tab. */
import { serverNow } from "../wire/clock.ts";
import { readJson } from "../editing/values/json.ts";
import { isObject, textAt, type Json } from "../editing/values/values.ts";
import type { Hook } from "./document.ts";
import { signedHeaders, type Header } from "./signing.ts";

export interface Asked {
  readonly address: string;
  readonly method: string;
  readonly query: string;
  readonly body: string;
  readonly secret: string;
}

export interface Answer {
  readonly status: number;
  readonly lasted_ms: number;
  readonly sent: readonly Header[]; // what proved the sender, a token blanked
  readonly text: string;
  readonly json: Json | undefined;
  readonly run: string | null; // the run that was started
}

const RUN = "stepless-run"; // a run's own response has its id in this header

/** Rejects with a SyntaxError for a secret that cannot be used, and with a TypeError where the server is not reached. */
export async function send(hook: Pick<Hook, "scheme" | "header">, asked: Asked): Promise<Answer> {
  const proof = await signedHeaders(hook, asked.secret, asked.body, serverNow(), `try_${crypto.randomUUID()}`);
  const headers = new Headers();
  for (const [name, value] of proof) headers.set(name, value);
  if (asked.body !== "") headers.set("content-type", "application/json");
  const begun = performance.now();
  const query = asked.query.trim().replace(/^\?/, "");
  const answer = await fetch(`${asked.address}${query === "" ? "" : `?${query}`}`, {
    method: asked.method, headers, credentials: "omit", cache: "no-store", ...(asked.body === "" ? {} : { body: asked.body }),
  });
  const text = await answer.text();
  const json = jsonIn(text, answer.headers.get("content-type") ?? "");
  const sent = proof.map(([name, value]): Header => [name, hook.scheme === "bearer" ? "Bearer ***" : value]);
  return { status: answer.status, lasted_ms: performance.now() - begun, sent, text, json, run: answer.headers.get(RUN) ?? (isObject(json) ? textAt(json, "run_id") || null : null) };
}

function jsonIn(text: string, type: string): Json | undefined {
  if (!/\bjson\b/.test(type)) return undefined;
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
