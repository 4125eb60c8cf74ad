/** Who this tab is: the answer of an issuer is taken, and a login is renewed as long as the page is open. */
import { dropToken, keepToken, Refusal } from "../api.ts";
import { finish, isAnswer, NotSignedIn, renewed, renewIn, type Tokens } from "./login.ts";
import { settings } from "../settings.ts";

let last: Tokens | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

function keep(tokens: Tokens): void {
  last = tokens;
  keepToken(tokens.use);
  clearTimeout(timer);
  const wait = renewIn(tokens);
  if (wait !== null) timer = setTimeout(() => { void renewNow(); }, wait);
}

/** Takes the answer of an issuer from the address, which it leaves at once. Whether there was one. Rejects with `NotSignedIn`. */
export async function takeAnswer(): Promise<boolean> {
  const query = new URLSearchParams(location.search);
  if (!isAnswer(query)) return false;
  history.replaceState(null, "", "/console/");
  const { login } = await settings();
  if (login === null) return false;
  const { tokens, to } = await finish(login, query);
  keep(tokens);
  if (to.startsWith("/console/")) history.replaceState(null, "", to);
  return true;
}

/** Forgets the token of this tab and the one that renews it. Returns the identity token, which names the session at the issuer; empty without one. */
export function dropIdentity(): string {
  const identity = last?.identity ?? "";
  clearTimeout(timer);
  last = null;
  dropToken();
  return identity;
}

/** Fetches the next token of this tab. Whether there is one. */
export async function renewNow(): Promise<boolean> {
  if (last === null || last.renewal === "") return false;
  const { renewal } = last;
  last = null; // of several who ask at once, one fetches; a renewal is good once at some issuers
  try {
    const { login } = await settings();
    if (login === null) return false;
    keep(await renewed(login, renewal));
    return true;
  } catch (error) {
    if ([NotSignedIn, Refusal, SyntaxError, TypeError].some((kind) => error instanceof kind)) return false; // the person signs in again
    throw error;
  }
}
