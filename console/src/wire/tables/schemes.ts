/** How senders of webhooks sign, as far as a page can do it. Generated from engine/stepless/model/triggers/webhook_schemes.py by contract/tables.py: `make contract`. */

/** By the name that a document writes. */
export const SCHEMES = {
  hmac: { sender: "your own", header: "X-Signature", template: "{timestamp}.{body}", prefix: "t={timestamp},v1=" },
  stripe: { sender: "Stripe", header: "Stripe-Signature", template: "{timestamp}.{body}", prefix: "t={timestamp},v1=" },
  github: { sender: "GitHub", header: "X-Hub-Signature-256", template: "{body}", prefix: "sha256=", delivery: "X-GitHub-Delivery" },
  standard: { sender: "Standard Webhooks", header: "webhook-signature", template: "{id}.{timestamp}.{body}", prefix: "v1,", timestamp: "webhook-timestamp", delivery: "webhook-id", base64: true, whsec: true },
  slack: { sender: "Slack", header: "X-Slack-Signature", template: "v0:{timestamp}:{body}", prefix: "v0=", timestamp: "X-Slack-Request-Timestamp" },
  shopify: { sender: "Shopify", header: "X-Shopify-Hmac-Sha256", template: "{body}", delivery: "X-Shopify-Webhook-Id", base64: true },
  zoom: { sender: "Zoom", header: "x-zm-signature", template: "v0:{timestamp}:{body}", prefix: "v0=", timestamp: "x-zm-request-timestamp" },
  bitbucket: { sender: "Bitbucket", header: "X-Hub-Signature", template: "{body}", prefix: "sha256=" },
} as const;
