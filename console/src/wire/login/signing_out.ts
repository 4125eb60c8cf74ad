/** The way out: ends the session of the tab, and removes what the browser keeps of a person's work, so that the next one does not see it. */
import { bearer, Refusal, request } from "../api.ts";
import { dropIdentity } from "./identity.ts";
import { settings, type Login } from "../settings.ts";

const SETTINGS: ReadonlySet<string> = new Set(["stepless.theme", "stepless.parameters", "stepless.filters", "stepless.steps"]); // what a person chose to keep in this browser
const OURS = "stepless";
const here: { indexedDB?: IDBFactory } = globalThis; // a browser may lack it

/** Removes typed inputs, unsent edits and what tabs remember. Edits that the server has are not touched. */
export async function forgetTyped(local: Storage = localStorage, tab: Storage = sessionStorage, databases = here.indexedDB): Promise<void> {
  for (const storage of [local, tab]) {
    const names = Array.from({ length: storage.length }, (_, place) => storage.key(place) ?? "");
    for (const name of names) if (name.startsWith(OURS) && !SETTINGS.has(name)) storage.removeItem(name);
  }
  if (databases === undefined) return;
  const kept = (await databases.databases()).map(({ name = "" }) => name);
  await Promise.all(kept.filter((name) => name.startsWith(OURS)).map((name) => removed(databases, name)));
}

/** A database that another tab has open is removed once that tab is closed. */
function removed(databases: IDBFactory, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const removing = databases.deleteDatabase(name);
    removing.onsuccess = removing.onblocked = () => { resolve(); };
    removing.onerror = () => { reject(removing.error ?? new Error("IndexedDB failed")); };
  });
}

/** Whether the tab has a session of `stepless dev`, which can be ended. */
export function hasSession(): boolean {
  return bearer()["authorization"]?.startsWith("Bearer console.") ?? false;
}

/** Ends the session of this tab and forgets what was typed in it. Where to go then: the issuer's address that ends its own session, or empty. */
export async function signOut(): Promise<string> {
  const { login } = await settings().catch(() => ({ login: null }));
  if (hasSession()) await request("DELETE", "/console/sessions/own").catch(unreached);
  const identity = dropIdentity();
  await forgetTyped();
  return login === null ? "" : endAddress(login, identity);
}

/** A server that is not reached, or that ended the session before, keeps no one signed in here. */
function unreached(error: unknown): void {
  if (!(error instanceof Refusal || error instanceof TypeError)) throw error;
}

/** The address at the issuer that ends its session, and leads back to the console; empty where it offers none. */
export function endAddress(login: Login, identity: string): string {
  if (login.endSession === "") return "";
  const address = new URL(login.endSession);
  const back = `${location.origin}/console/`;
  const asked = { client_id: login.clientId, post_logout_redirect_uri: back, logout_uri: back, ...(identity === "" ? {} : { id_token_hint: identity }) };
  for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value);
  return address.href;
}
