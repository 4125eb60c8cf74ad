/** Requests to the server that this page came from. The token of the tab goes in a header, never in a cookie. */
import { readJson, writeJson } from "../editing/json.ts";
import { isObject, textAt, type Json, type JsonObject } from "../editing/values.ts";

const TOKEN = "stepless.token";

/** An answer that is an error. `code` is the server's, or `http_404` and the like where it gave none. */
export class Refusal extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly mend: string) {
    super(message);
  }
}

/** Called when the server wants another login. */
let signedOut: () => void = () => undefined;

export function onSignedOut(run: () => void): void {
  signedOut = run;
}

export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** The JSON of an answer, null where it has no body. Rejects with a `Refusal`, and with a TypeError where the server is not reached. */
export async function request(method: Method, path: string, body?: Json, signal?: AbortSignal): Promise<Json> {
  const headers = new Headers({ accept: "application/json" });
  const token = sessionStorage.getItem(TOKEN);
  if (token !== null) headers.set("authorization", `Bearer ${token}`);
  if (body !== undefined) headers.set("content-type", "application/json");
  const answer = await fetch(path, {
    method, headers, credentials: "omit", cache: "no-cache",
    ...(body === undefined ? {} : { body: writeJson(body) }), ...(signal === undefined ? {} : { signal }),
  });
  const text = await answer.text();
  if (!answer.ok) {
    if (answer.status === 401) signedOut();
    throw refusal(answer.status, text);
  }
  return text === "" ? null : readJson(text);
}

export async function requestObject(method: Method, path: string, body?: Json, signal?: AbortSignal): Promise<JsonObject> {
  const value = await request(method, path, body, signal);
  if (!isObject(value)) throw new SyntaxError(`${path} did not answer with an object`);
  return value;
}

function refusal(status: number, text: string): Refusal {
  let given: Json = null;
  try {
    given = readJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const inner = isObject(given) ? given.get("error") : null;
  const problem = isObject(inner) ? inner : isObject(given) ? given : new Map<string, Json>();
  const said = textAt(problem, "message") || textAt(problem, "detail") || textAt(problem, "title");
  return new Refusal(status, textAt(problem, "code") || `http_${status}`, said || `The server answered ${status}.`, textAt(problem, "mend"));
}

/** Exchanges the code in the fragment of the printed address for the token of this tab. The code leaves the address at once. */
export async function signIn(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return;
  history.replaceState(null, "", location.pathname + location.search);
  const answer = await requestObject("POST", "/console/session", new Map([["code", code]]));
  sessionStorage.setItem(TOKEN, textAt(answer, "token"));
}

/** What is shown of an error: why, and what to do. */
export function explained(error: unknown): { readonly why: string; readonly mend: string } {
  if (error instanceof Refusal) return { why: error.message, mend: error.mend };
  if (error instanceof TypeError) return { why: "The server is not reached.", mend: "Check that it runs and that this machine is online." };
  return { why: error instanceof Error ? error.message : String(error), mend: "" };
}
