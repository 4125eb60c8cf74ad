/**
 * Signs a request to a webhook as its sender would, with HMAC-SHA256 of the browser. The secret stays in this page: only what is
 * made with it is sent. (A bearer token is itself what its sender sends.)
 */
import { SCHEMES } from "../wire/tables/schemes.ts";
import type { Hook } from "./document.ts";

export type Header = readonly [name: string, value: string];

/** `template` is what is signed, `prefix` what stands before the signature in its header; the others are names of headers. */
interface Row {
  readonly template: string;
  readonly prefix?: string;
  readonly timestamp?: string;
  readonly delivery?: string;
  readonly base64?: boolean;
  readonly whsec?: boolean;
  readonly milliseconds?: boolean;
}

/** Whether this page may sign: browsers give the functions to pages over https and of this machine only. */
export function canSign(): boolean {
  return (globalThis.crypto as Partial<Crypto> | undefined)?.subtle !== undefined;
}

/** The headers that prove who sends `body`. `delivery` is the sender's id of the delivery. Rejects with a SyntaxError for a secret that the scheme cannot use. */
export async function signedHeaders(hook: Pick<Hook, "scheme" | "header">, secret: string, body: string, nowMs: number, delivery: string): Promise<Header[]> {
  if (hook.scheme === "none") return [];
  if (hook.scheme === "other") throw new SyntaxError("This page does not support this signature scheme.");
  if (hook.scheme === "bearer") return [["Authorization", `Bearer ${printable(secret)}`]];
  const row: Row = SCHEMES[hook.scheme];
  const values: Readonly<Record<string, string>> = { body, id: delivery, timestamp: String(row.milliseconds === true ? nowMs : Math.floor(nowMs / 1_000)) };
  const filled = (template: string): string => template.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
  const made = await mac(row.whsec === true ? standardKey(secret) : utf8(secret), filled(row.template));
  const headers: Header[] = [[hook.header, filled(row.prefix ?? "") + (row.base64 === true ? base64(made) : hex(made))]];
  if (row.timestamp !== undefined) headers.push([row.timestamp, filled("{timestamp}")]);
  if (row.delivery !== undefined) headers.push([row.delivery, delivery]);
  return headers;
}

/** A header takes these characters only. */
function printable(token: string): string {
  if (!/^[\x20-\x7e]+$/.test(token)) throw new SyntaxError("A token has letters, digits and signs of ASCII only.");
  return token;
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** A secret of Standard Webhooks is `whsec_` and base64. */
function standardKey(secret: string): Uint8Array<ArrayBuffer> {
  const text = secret.replace(/^whsec_/, "");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 !== 0) throw new SyntaxError("A secret of this scheme is whsec_ and base64.");
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

async function mac(key: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array> {
  const made = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", made, utf8(text)));
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
