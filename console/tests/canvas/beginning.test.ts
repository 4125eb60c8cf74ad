import assert from "node:assert/strict";
import { test } from "node:test";
import { given, idFault, idLike, named, NoWorkflow } from "../../src/source/beginning.ts";
import { jsonOf } from "../../src/wire/exact.ts";

test("an id is what the server takes for one, and a name becomes one", () => {
  for (const id of ["refund", "refund-2", "0", "a".repeat(64)]) assert.equal(idFault(id), null);
  for (const id of ["", "Refund", "re_fund", "-a", "a b", "a".repeat(65)]) assert.notEqual(idFault(id), null);
  assert.deepEqual([idLike("Rückerstattung über 100 €"), idLike("Refund  Approval"), idLike("日本"), idLike(`${"a".repeat(63)} b`)], ["ruckerstattung-uber-100", "refund-approval", "", "a".repeat(63)]);
});

test("a document, a fragment and JSON are read, and their text is kept", async () => {
  const text = "# why\nid: refund\nnodes:\n  a: {type: manual}\n";
  const made = await given(text);
  assert.deepEqual([made.id, made.text, made.findings], ["refund", text, []]);
  assert.deepEqual([(await given("nodes: {}")).id, (await given('{"name": "My flow", "nodes": {"a": {"type": "manual"}}}')).id], ["", "my-flow"]);
});

test("the id comes first, and numbers keep their digits", async () => {
  const made = await given("name: x\nid: old\nnodes: {a: {type: wait, with: {n: 1.0, m: 123456789012345678901}}}");
  assert.equal(jsonOf(named(made.document, "new")), '{"id":"new","name":"x","nodes":{"a":{"type":"wait","with":{"n":1.0,"m":123456789012345678901}}}}');
});

test("what is no workflow says why, with the line", async () => {
  const whyNot = async (text: string): Promise<string> => {
    try {
      await given(text);
    } catch (error) {
      assert.ok(error instanceof NoWorkflow);
      return error.message;
    }
    return assert.fail();
  };
  assert.match(await whyNot("a:\n  - b\n c: d"), /^Line \d: /);
  assert.match(await whyNot("just a text"), /no `nodes`/);
  assert.match(await whyNot("nodes: [a, b]"), /is a list/);
});
