/**
 * Signs a request to a webhook as its sender would, with HMAC-SHA256 of the browser. The secret stays in this page: only what is
 * made with it is sent. (A bearer token is itself what its sender sends.)
 */
import type { Hook } from "./document.ts";

export type Header = readonly [name: string, value: string];

/** Whether this page may sign: browsers give the functions to pages over https and of this machine only. */
export function canSign(): boolean {
  return (globalThis.crypto as Partial<Crypto> | undefined)?.subtle !== undefined;
}

/** The headers that prove who sends `body`. `delivery` is the sender's id of the delivery. Rejects with a SyntaxError for a secret that the scheme cannot use. */
export async function signedHeaders(hook: Pick<Hook, "scheme" | "header">, secret: string, body: string, nowMs: number, delivery: string): Promise<Header[]> {
  const seconds = Math.floor(nowMs / 1_000);
  switch (hook.scheme) {
    case "none": return [];
    case "other": throw new SyntaxError("This page does not support this signature scheme.");
    case "bearer": return [["Authorization", `Bearer ${printable(secret)}`]];
    case "hmac":
    case "stripe": return [[hook.header, `t=${seconds},v1=${hex(await mac(utf8(secret), `${seconds}.${body}`))}`]];
    case "github": return [[hook.header, `sha256=${hex(await mac(utf8(secret), body))}`], ["X-GitHub-Delivery", delivery]];
    case "standard": return [
      ["webhook-id", delivery], ["webhook-timestamp", String(seconds)],
      [hook.header, `v1,${base64(await mac(standardKey(secret), `${delivery}.${seconds}.${body}`))}`],
    ];
  }
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
