/**
 * Sign-in with OpenID Connect: the authorization code flow with PKCE, for a public client. The token of the tab is kept as a key is;
 * the one that renews it only in memory, so that a reload signs in again at the issuer.
 */
import { readObject } from "../../editing/values/json.ts";
import { isList, isObject, textAt, type JsonObject } from "../../editing/values/values.ts";
import type { Login } from "../settings.ts";

const PENDING = "stepless.login";
const BEFORE_MS = 60_000; // a token is renewed so long before it ends
const MAX_WAIT_MS = 2_147_000_000; // of a timer

/** What a page remembers while its person is at the issuer. */
interface Pending {
  readonly verifier: string;
  readonly state: string;
  readonly nonce: string;
  readonly to: string;
}

/** Raised where the issuer, or what came back from it, does not let anyone in. */
export class NotSignedIn extends Error {}

/** The address at the issuer to which the tab goes; it comes back to `/console/signed-in`. `to` is where it goes after that. */
export async function begin(login: Login, to: string): Promise<string> {
  const pending: Pending = { verifier: random(), state: random(), nonce: random(), to };
  sessionStorage.setItem(PENDING, JSON.stringify(pending));
  const address = new URL(login.authorize);
  const challenge = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(pending.verifier));
  const asked = {
    response_type: "code", client_id: login.clientId, redirect_uri: returnAddress(), scope: login.scope, state: pending.state,
    nonce: pending.nonce, code_challenge: base64url(new Uint8Array(challenge)), code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value);
  return address.href;
}

/** Whether the address of the tab is the answer of an issuer that this tab has asked. */
export function isAnswer(query: URLSearchParams): boolean {
  return sessionStorage.getItem(PENDING) !== null && query.has("state") && (query.has("code") || query.has("error"));
}

/** Takes the answer of the issuer. The token of the tab, and where to go. Rejects with `NotSignedIn`. */
export async function finish(login: Login, query: URLSearchParams): Promise<{ readonly tokens: Tokens; readonly to: string }> {
  const kept = sessionStorage.getItem(PENDING);
  sessionStorage.removeItem(PENDING);
  const pending = kept === null ? null : readObject(kept);
  if (pending === null || textAt(pending, "state") === "" || query.get("state") !== textAt(pending, "state")) {
    throw new NotSignedIn("The response does not belong to this tab. Sign in again.");
  }
  const issuer = query.get("iss");
  if (issuer !== null && !same(issuer, login.issuer)) throw new NotSignedIn("The response comes from another issuer.");
  const code = query.get("code");
  if (code === null) throw new NotSignedIn(query.get("error_description") ?? `The issuer answered ${query.get("error") ?? "nothing"}.`);
  const tokens = await fetched(login, {
    grant_type: "authorization_code", code, redirect_uri: returnAddress(), client_id: login.clientId, code_verifier: textAt(pending, "verifier"),
  }, textAt(pending, "nonce"));
  return { tokens, to: textAt(pending, "to") };
}

/** `use` is the token for the API, `renewal` the one that fetches the next; both end. `endsInMs` is null where that was not said. */
export interface Tokens {
  readonly use: string;
  readonly identity: string; // which names the session to the issuer when that is ended; empty without one
  readonly renewal: string;
  readonly endsInMs: number | null;
}

/** The next tokens. Rejects with `NotSignedIn`. */
export async function renewed(login: Login, renewal: string): Promise<Tokens> {
  const next = await fetched(login, { grant_type: "refresh_token", refresh_token: renewal, client_id: login.clientId }, null);
  return next.renewal === "" ? { ...next, renewal } : next;
}

/** When to renew tokens, in milliseconds from now; null where there is nothing to renew. */
export function renewIn(tokens: Tokens): number | null {
  if (tokens.renewal === "" || tokens.endsInMs === null) return null;
  return Math.min(MAX_WAIT_MS, Math.max(tokens.endsInMs - BEFORE_MS, tokens.endsInMs / 2));
}

async function fetched(login: Login, fields: Readonly<Record<string, string>>, nonce: string | null): Promise<Tokens> {
  const answer = await fetch(login.token, {
    method: "POST", body: new URLSearchParams(fields), credentials: "omit", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer",
    headers: { accept: "application/json" },
  });
  const text = await answer.text();
  if (!answer.ok) throw new NotSignedIn(`The issuer gave no token: it answered ${answer.status}.`);
  return tokensRead(login, readObject(text), nonce);
}

/**
 * The token of an answer that is meant for the API: the access token, or else the identity token. One that names its audience goes
 * before one that names its client only, as Cognito's access token: it does not say who the person is, and its identity token does.
 */
export function tokensRead(login: Login, answer: JsonObject, nonce: string | null): Tokens {
  const identity = textAt(answer, "id_token");
  if (nonce !== null && identity !== "" && textAt(claimsOf(identity) ?? new Map(), "nonce") !== nonce) {
    throw new NotSignedIn("The token does not belong to this tab. Sign in again.");
  }
  const both = [textAt(answer, "access_token"), identity];
  const use = both.find((token) => isFor(login, token, ["aud"])) ?? both.find((token) => isFor(login, token, ["aud", "client_id"]));
  if (use === undefined) throw new NotSignedIn("The issuer gave no token for this API. Its operator can check JwtAudience and ConsoleScope.");
  const seconds = answer.get("expires_in");
  return { use, identity, renewal: textAt(answer, "refresh_token"), endsInMs: typeof seconds === "number" ? seconds * 1_000 : null };
}

/** Whether a token says that it is from this issuer and for one of these audiences, as the gateway will read it: in the first of
 *  these claims that it has. */
function isFor(login: Login, token: string, naming: readonly string[]): boolean {
  const claims = claimsOf(token);
  if (claims === null || !same(textAt(claims, "iss"), login.issuer)) return false;
  const audience = claims.get(naming.find((claim) => claims.has(claim)) ?? "");
  const names = isList(audience) ? audience : [audience];
  return names.some((name) => typeof name === "string" && login.audiences.includes(name));
}

/** The claims of a JWT, unchecked; null for any other token. */
function claimsOf(token: string): JsonObject | null {
  const parts = token.split(".");
  if (parts.length !== 3) return null;
  try {
    const bytes = Uint8Array.from(atob((parts[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    const claims = readObject(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isObject(claims) ? claims : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof DOMException || error instanceof TypeError) return null;
    throw error;
  }
}

function same(one: string, other: string): boolean {
  return one.replace(/\/$/, "") === other.replace(/\/$/, "");
}

function returnAddress(): string {
  return `${location.origin}/console/signed-in`;
}

function random(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
