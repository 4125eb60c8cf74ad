/** Requests to the server that this page came from. The token of the tab goes in a header, never in a cookie. */
import { readJson, writeJson } from "../editing/values/json.ts";
import { EMPTY, isList, isObject, textAt, type Json, type JsonObject } from "../editing/values/values.ts";
import { heard } from "./clock.ts";
import { sentence } from "./sentences.ts";
import type { CallerOut } from "./contract.ts";

const TOKEN = "stepless.token";

/** An answer that is an error. `code` is the server's, or `http_404` and the like where it gave none. */
export class Refusal extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly mend: string, readonly facts: JsonObject = EMPTY) {
    super(message);
  }

  /** Objects among what the server says of the error. */
  objects(name: string): JsonObject[] {
    const found = this.facts.get(name);
    return isList(found) ? found.filter(isObject) : [];
  }

  /** Texts among what the server says of the error. */
  texts(name: string): string[] {
    const found = this.facts.get(name);
    return isList(found) ? found.filter((one) => typeof one === "string") : [];
  }

  /** A number among what the server says of the error; null where it says none. */
  number(name: string): number | null {
    const found = this.facts.get(name);
    return typeof found === "number" ? found : null;
  }
}

/** Called when the server wants another login, with its answer. */
let signedOut: (why: Refusal) => void = () => undefined;

export function onSignedOut(run: (why: Refusal) => void): void {
  signedOut = run;
}

/** Whether the server has taken the token of this tab since the page was loaded, or the token was kept. */
let isTaken = false;

export function wasTaken(): boolean {
  return isTaken;
}

/** Keeps a key or a token for this tab. */
export function keepToken(token: string): void {
  isTaken = false;
  asked = null;
  sessionStorage.setItem(TOKEN, token);
}

export function dropToken(): void {
  asked = null;
  sessionStorage.removeItem(TOKEN);
}

/** Who this tab is for the server. `ends_at` is null for a key. */
export type Caller = CallerOut;

let asked: Promise<Caller> | null = null;

/** Asked once for each token; a failure is not kept. Rejects as `requestPlain` does. */
export async function callerNow(): Promise<Caller> {
  asked ??= requestPlain("GET", "/me") as Promise<Caller>;
  try {
    return await asked;
  } catch (error) {
    asked = null;
    throw error;
  }
}

/** The header with the token of the tab; none where it has no token. */
export function bearer(): Readonly<Record<string, string>> {
  const token = sessionStorage.getItem(TOKEN);
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

export function hasToken(): boolean {
  return sessionStorage.getItem(TOKEN) !== null;
}

export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** The JSON of an answer, null where it has no body. Rejects with a `Refusal`, and with a TypeError where the server is not reached. */
export async function request(method: Method, path: string, body?: Json, signal?: AbortSignal): Promise<Json> {
  const text = await send(method, path, body === undefined ? undefined : writeJson(body), signal);
  return text === "" ? null : readJson(text);
}

/** The same for answers whose keys have no order and whose numbers fit a double, as plain objects: lists of thousands of runs. */
export async function requestPlain(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
  const text = await send(method, path, body === undefined ? undefined : JSON.stringify(body), signal);
  return text === "" ? null : JSON.parse(text) as unknown;
}

/** The text of an answer that is no JSON. */
export async function requestText(path: string, signal?: AbortSignal): Promise<string> {
  return await send("GET", path, undefined, signal);
}

/** The same for a body that is JSON already, with further headers. */
export async function requestWritten(method: Method, path: string, body: string, more: Readonly<Record<string, string>> = {}): Promise<JsonObject> {
  const value = readJson(await send(method, path, body, undefined, more));
  if (!isObject(value)) throw new SyntaxError(`${path} did not answer with an object`);
  return value;
}

async function send(method: Method, path: string, body: string | undefined, signal: AbortSignal | undefined, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const headers = new Headers({ accept: "application/json", ...more, ...bearer() });
  if (body !== undefined) headers.set("content-type", "application/json");
  const asked = Date.now();
  const answer = await fetch(path, {
    method, headers, credentials: "omit", cache: "no-cache",
    ...(body === undefined ? {} : { body }), ...(signal === undefined ? {} : { signal }),
  });
  heard(answer.headers.get("date"), asked, Date.now());
  const text = await answer.text();
  if (!answer.ok) {
    const why = refusal(answer.status, text);
    if (answer.status === 401 && headers.get("authorization") === (bearer()["authorization"] ?? null)) signedOut(why); // not of a former token
    throw why;
  }
  isTaken ||= headers.has("authorization");
  return text;
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
  return new Refusal(status, textAt(problem, "code") || `http_${status}`, said || `The server answered ${status}.`, textAt(problem, "mend") || mendOf(status), problem);
}

const BUSY = "The server or its proxy is busy or restarting. Wait a moment, then try again.";
// A gateway gives no problem document. Only a proxy can sign the requests of a page.
const UNSIGNED = "With `Auth: iam`, open this page through a proxy that signs requests.";
const FIXES: Readonly<Record<number, string>> = { 403: UNSIGNED, 429: BUSY, 500: "See the log of the server.", 502: BUSY, 503: BUSY, 504: BUSY };

/** What to do about an answer that does not say it itself. */
function mendOf(status: number): string {
  return FIXES[status] ?? "";
}

/** The code in the fragment of the address, which it leaves at once; `invited` where its holder is yet to say who they are. */
export function takeCode(): { readonly code: string; readonly invited: boolean } | null {
  const given = new URLSearchParams(location.hash.slice(1));
  const code = given.get("code");
  if (code === null) return null;
  history.replaceState(null, "", location.pathname + location.search);
  return { code, invited: given.has("invited") };
}

/** Keeps the key or token that a link brings in its fragment, which no server is sent, and takes it out of the address. */
export function takeToken(): void {
  const token = new URLSearchParams(location.hash.slice(1)).get("token")?.trim() ?? "";
  if (token === "") return;
  keepToken(token);
  history.replaceState(null, "", location.pathname + location.search);
}

/** Exchanges a code for the token of this tab. */
export async function signIn(code: string, name = ""): Promise<void> {
  const answer = await requestObject("POST", "/console/session", new Map([["code", code], ["name", name]]));
  keepToken(textAt(answer, "token"));
}

/** An address that opens the console for one more person, once. */
export async function invitation(): Promise<string> {
  const answer = await requestObject("POST", "/console/invitations");
  return `${location.origin}/console/#code=${encodeURIComponent(textAt(answer, "code"))}&invited`;
}

/** What is shown of an error: why, and what to do. */
export function explained(error: unknown): { readonly why: string; readonly mend: string } {
  if (error instanceof Refusal) return { why: sentence(error.message), mend: sentence(error.mend) };
  if (error instanceof TypeError) return { why: "Could not reach the server.", mend: "Check that it is running and that this machine is online." };
  return { why: error instanceof Error ? error.message : String(error), mend: "" };
}
