import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import type { Hook } from "../../src/workflows/document.ts";
import { canSign, signedHeaders } from "../../src/workflows/signing.ts";

const NOW = 1_767_225_600_999;
const SECONDS = 1_767_225_600;
const BODY = "{\"id\": \"o-1\", \"for\": \"Zoë 🛒\"}";

function mac(key: string | Buffer, text: string, form: "hex" | "base64"): string {
  return createHmac("sha256", key).update(text, "utf8").digest(form);
}

test("each scheme is signed as its sender does it", async () => {
  assert.equal(canSign(), true);
  const signed = (scheme: Hook["scheme"], header: string, secret: string) => signedHeaders({ scheme, header }, secret, BODY, NOW, "try_1");
  assert.deepEqual(await signed("none", "", ""), []);
  assert.deepEqual(await signed("bearer", "Authorization", "t0k"), [["Authorization", "Bearer t0k"]]);
  for (const [scheme, header] of [["hmac", "X-Shop"], ["stripe", "Stripe-Signature"]] as const) {
    assert.deepEqual(await signed(scheme, header, "sécret"), [[header, `t=${SECONDS},v1=${mac("sécret", `${SECONDS}.${BODY}`, "hex")}`]]);
  }
  assert.deepEqual(await signed("github", "X-Hub-Signature-256", "s"), [["X-Hub-Signature-256", `sha256=${mac("s", BODY, "hex")}`], ["X-GitHub-Delivery", "try_1"]]);
  assert.deepEqual(await signed("shopify", "X-Shopify-Hmac-Sha256", "s"), [["X-Shopify-Hmac-Sha256", mac("s", BODY, "base64")], ["X-Shopify-Webhook-Id", "try_1"]]);
  for (const [scheme, header, time] of [["slack", "X-Slack-Signature", "X-Slack-Request-Timestamp"], ["zoom", "x-zm-signature", "x-zm-request-timestamp"]] as const) {
    assert.deepEqual(await signed(scheme, header, "s"), [[header, `v0=${mac("s", `v0:${SECONDS}:${BODY}`, "hex")}`], [time, String(SECONDS)]]);
  }
  const key = Buffer.from([0, 255, 128, 7]);
  const wanted = `v1,${mac(key, `try_1.${SECONDS}.${BODY}`, "base64")}`;
  for (const secret of [`whsec_${key.toString("base64")}`, key.toString("base64")]) {
    assert.deepEqual(await signed("standard", "webhook-signature", secret), [["webhook-signature", wanted], ["webhook-timestamp", String(SECONDS)], ["webhook-id", "try_1"]]);
  }
});

test("a secret that the scheme cannot use is refused before anything is sent", async () => {
  for (const secret of ["whsec_", "not base64!", "abc"]) {
    await assert.rejects(signedHeaders({ scheme: "standard", header: "webhook-signature" }, secret, BODY, NOW, "d"), SyntaxError);
  }
  await assert.rejects(signedHeaders({ scheme: "bearer", header: "Authorization" }, "tök\n", BODY, NOW, "d"), SyntaxError);
});
