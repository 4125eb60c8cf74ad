import { strict as assert } from "node:assert";
import { test } from "node:test";
import { nameOf } from "../../src/wire/names.ts";

test("a caller is shown by their name alone", () => {
  const shown = { "local ada": "ada", "local Ada Lovelace": "Ada Lovelace", "key k_1 deployer": "deployer", "jwt 8f3a ada@example.com": "ada@example.com", "configured key sha256:0123": "configured key" };
  for (const [caller, name] of Object.entries(shown)) assert.equal(nameOf(caller), name);
  for (const whole of ["local", "jwt 8f3a", ""]) assert.equal(nameOf(whole), whole);
});
