import assert from "node:assert/strict";
import { test } from "node:test";
import { brief, pageFrom } from "../../src/runs/view/events.tsx";
import { textOf } from "../../src/wire/exact.ts";

const PAGE = '{"events":[{"eventId":3,"type":"node.completed","timestamp":"2026-01-01T00:00:00Z","payload":{"instance":"a","output":{"id":12345678901234567890,"share":1.0},"handle":"source"}}],"cursor":3,"ended":false}';

test("the events of a run keep every digit, on one line and whole", () => {
  const { events, cursor } = pageFrom(PAGE);
  assert.equal(cursor, 3);
  assert.deepEqual(events.map(({ eventId, type }) => [eventId, type]), [[3, "node.completed"]]);
  const [event] = events;
  assert.ok(event !== undefined);
  assert.equal(brief(event), 'output: {"id":12345678901234567890,"share":1.0} · handle: source');
  assert.match(textOf(event.whole), /"id": 12345678901234567890,\n\s+"share": 1\.0/);
});

test("what is no page of events is refused", () => {
  assert.throws(() => pageFrom('{"cursor": 3}'), SyntaxError);
});
