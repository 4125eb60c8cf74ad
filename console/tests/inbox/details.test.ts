import assert from "node:assert/strict";
import { test } from "node:test";
import { formatted } from "../../src/inbox/details.tsx";

const row = (format: string, value: string, currency: string | null = null): Parameters<typeof formatted>[0] => ({ format, value, text: `text of ${value}`, currency });

test("amounts and times are in the language and zone of the reader", () => {
  assert.equal(formatted(row("amount", "1250.5", "EUR"), "de-DE").replace(/\s/g, " "), "1.250,50 €");
  assert.equal(formatted(row("amount", "123456789012345678901.25", "USD"), "en-US"), "$123,456,789,012,345,678,901.25");
  assert.equal(formatted(row("number", "0.125"), "de-DE"), "0,125");
  assert.match(formatted(row("time", "2026-01-31T23:30:00Z"), "en-GB", "Europe/Berlin"), /^1 February 2026 at 00:30/);
  assert.equal(formatted(row("date", "2026-01-31"), "en-GB", "America/New_York"), "31 January 2026");
});

test("what the browser cannot format is the text of the server", () => {
  assert.equal(formatted(row("text", "A-17")), "text of A-17");
  assert.equal(formatted(row("amount", "1", "12")), "text of 1");
});
