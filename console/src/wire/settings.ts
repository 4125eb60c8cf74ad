/** Reads the settings of the server before anyone has signed in: whether it has drafts, where its sockets are, and how people sign in. */
import { isList, isObject, textAt, type JsonObject } from "../editing/values/values.ts";
import { Refusal, requestObject } from "./api.ts";

/** OpenID Connect: where the page sends people, where it fetches tokens, and whom a token has to be for. */
export interface Login {
  readonly issuer: string;
  readonly clientId: string;
  readonly audiences: readonly string[];
  readonly scope: string;
  readonly authorize: string;
  readonly token: string;
  readonly endSession: string; // empty where the issuer does not offer it
}

/** `drafts`: whether workflows can be edited here. `invitations`: whether an admin can invite one more person. `socket` is null where the server has the session of each draft itself, `login` where people have keys, tokens or codes. */
export interface Settings {
  readonly drafts: boolean;
  readonly invitations: boolean;
  readonly socket: string | null;
  readonly login: Login | null;
}

const NONE: Settings = { drafts: true, invitations: false, socket: null, login: null };

let known: Promise<Settings> | null = null;

/** Asked once; a failure is not kept. */
export function settings(): Promise<Settings> {
  known ??= requestObject("GET", "/console/settings").then(settingsRead, (error: unknown) => {
    if (error instanceof SyntaxError || (error instanceof Refusal && error.status === 404)) return NONE; // a server without them
    known = null;
    throw error;
  });
  return known;
}

export function settingsRead(answer: JsonObject): Settings {
  const login = answer.get("login");
  return {
    drafts: answer.get("drafts") !== false, invitations: answer.get("invitations") === true, socket: textAt(answer, "socket") || null,
    login: isObject(login) ? loginRead(login) : null,
  };
}

function loginRead(login: JsonObject): Login {
  const audiences = login.get("audiences");
  return {
    issuer: textAt(login, "issuer"), clientId: textAt(login, "client_id"), scope: textAt(login, "scope"),
    audiences: (isList(audiences) ? audiences : []).filter((one) => typeof one === "string"),
    authorize: textAt(login, "authorize"), token: textAt(login, "token"),
    endSession: textAt(login, "end_session"),
  };
}
