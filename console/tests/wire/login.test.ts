import { strict as assert } from "node:assert";
import { test } from "node:test";
import { readObject } from "../../src/editing/values/json.ts";
import { NotSignedIn, renewIn, tokensRead } from "../../src/wire/login/login.ts";
import { settingsRead } from "../../src/wire/settings.ts";
import { endAddress } from "../../src/wire/login/signing_out.ts";

const LOGIN = {
  issuer: "https://issuer.example/pool/", clientId: "page", audiences: ["page", "api"], scope: "openid",
  authorize: "https://login.example/authorize", token: "https://login.example/token", endSession: "https://login.example/logout?v=2",
};

function jwt(claims: object): string {
  return ["{}", JSON.stringify(claims), "signature"].map((part) => Buffer.from(part).toString("base64url")).join(".");
}

function answered(fields: object, nonce: string | null = null): ReturnType<typeof tokensRead> {
  return tokensRead(LOGIN, readObject(JSON.stringify(fields)), nonce);
}

const ISS = "https://issuer.example/pool";
const ACCESS = jwt({ iss: ISS, client_id: "page", sub: "Zo\u00eb" });
const IDENTITY = jwt({ iss: ISS, aud: ["x", "page"], nonce: "n" });

test("the token is the first one that is meant for the API", () => {
  const access = jwt({ iss: ISS, aud: "api", client_id: "other" });
  assert.equal(answered({ access_token: access, id_token: IDENTITY }, "n").use, access);
  assert.equal(answered({ access_token: ACCESS }).use, ACCESS);
  for (const other of ["opaque", "a.b.c", jwt({ iss: ISS, aud: "graph", client_id: "page" }), jwt({ iss: "https://other", aud: "api" }), `${ACCESS}.x`]) {
    assert.equal(answered({ access_token: other, id_token: IDENTITY }, "n").use, IDENTITY, other);
  }
});

test("an access token that names its client only, as Cognito's, goes after the identity token, which has the person's address", () => {
  assert.equal(answered({ access_token: ACCESS, id_token: IDENTITY }, "n").use, IDENTITY);
  assert.equal(answered({ access_token: ACCESS, id_token: jwt({ iss: ISS, aud: "elsewhere", nonce: "n" }) }, "n").use, ACCESS);
});

test("without one nobody is signed in, and a token of another tab is refused", () => {
  for (const fields of [{}, { access_token: "opaque" }, { id_token: jwt({ iss: ISS, aud: "other" }) }, { access_token: 7 }]) {
    assert.throws(() => answered(fields), NotSignedIn);
  }
  assert.throws(() => answered({ access_token: ACCESS, id_token: IDENTITY }, "another"), NotSignedIn);
  assert.throws(() => answered({ id_token: jwt({ iss: ISS, aud: "api" }) }, "n"), NotSignedIn);
});

test("a token is renewed a minute before it ends, where it can be", () => {
  const tokens = (fields: object): number | null => renewIn(answered({ access_token: ACCESS, ...fields }));
  assert.equal(tokens({ refresh_token: "r", expires_in: 3_600 }), 3_540_000);
  assert.equal(tokens({ refresh_token: "r", expires_in: 60 }), 30_000);
  assert.equal(tokens({ refresh_token: "r", expires_in: 1e9 }), 2_147_000_000);
  assert.equal(tokens({ expires_in: 3_600 }), null);
  assert.equal(tokens({ refresh_token: "r" }), null);
});

test("settings say whether there are drafts, where the sockets are, and how people sign in", () => {
  assert.deepEqual(settingsRead(readObject('{"socket":null,"login":null}')), { drafts: true, invitations: false, socket: null, login: null });
  assert.equal(settingsRead(readObject('{"drafts":false,"socket":null,"login":null}')).drafts, false);
  assert.equal(settingsRead(readObject('{"invitations":true,"socket":null,"login":null}')).invitations, true);
  const given = '{"socket":"wss://s/live","login":{"issuer":"i","client_id":"c","audiences":["a",1],"scope":"openid","authorize":"x","token":"t"}}';
  assert.deepEqual(settingsRead(readObject(given)), {
    drafts: true, invitations: false, socket: "wss://s/live", login: { issuer: "i", clientId: "c", audiences: ["a"], scope: "openid", authorize: "x", token: "t", endSession: "" },
  });
});

test("signing out goes to the issuer where that ends its own session, and comes back", () => {
  Object.assign(globalThis, { location: { origin: "https://stepless.example" } });
  const address = new URL(endAddress(LOGIN, "identity"));
  assert.equal(address.origin + address.pathname, "https://login.example/logout");
  assert.deepEqual(Object.fromEntries(address.searchParams), {
    v: "2", client_id: "page", post_logout_redirect_uri: "https://stepless.example/console/", logout_uri: "https://stepless.example/console/", id_token_hint: "identity",
  });
  assert.equal(new URL(endAddress(LOGIN, "")).searchParams.has("id_token_hint"), false);
  assert.equal(endAddress({ ...LOGIN, endSession: "" }, "identity"), "");
});
