import assert from "node:assert/strict";
import { test } from "node:test";
import { object, type Json, type JsonObject } from "../../src/editing/values/values.ts";
import { lineChanges, sourceTexts, withoutLines } from "../../src/source/differences/source_lines.ts";
import { isSameMade, liftedRead, linesRead, madeRead, type Made, type Node } from "../../src/source/made.ts";
import { Source } from "../../src/source/source.ts";

// in the file from line 24 on
const SOURCE = `@workflow("refund")
async def refund(order: Order):
    risk = await score(order.amount)
    if risk > 0.2:
        answer = await approval(
            "Refund?")
    return risk
`;
const MADE: Made = { language: "python", file: "refund.py", name: "refund", source: SOURCE, parts: [] };
const NODES: readonly Node[] = [
  { tail: "order", type: "manual", entry: true, at: [25, 30] }, { tail: "set_risk", type: "set", entry: false, at: [26, 26] },
  { tail: "risk", type: "function", entry: false, at: [26, 26] }, { tail: "if_risk", type: "condition", entry: false, at: [27, 29] },
  { tail: "answer", type: "approval", entry: false, at: [28, 29] }, { tail: "return", type: "respond", entry: false, at: [30, 30] },
  { tail: "count", type: "function", entry: false, at: [3, 4] }, { tail: "bare", type: "function", entry: false, at: null },
];
const MADE_FROM = new Source(MADE, NODES);

test("the lines of a block in the text, those of a compound statement with its head", () => {
  assert.equal(MADE_FROM.first, 24);
  assert.deepEqual(MADE_FROM.of("risk")?.at, [3, 3]);
  assert.deepEqual([MADE_FROM.of("if_risk")?.at, MADE_FROM.of("if_risk")?.head], [[4, 6], [4, 4]]);
  assert.deepEqual([MADE_FROM.of("answer")?.at, MADE_FROM.of("answer")?.head], [[5, 6], [5, 6]]);
  assert.deepEqual(MADE_FROM.of("order")?.head, [2, 2]);
});

test("a part outside of the text has a place in the file, and no lines here", () => {
  assert.deepEqual([MADE_FROM.of("count"), MADE_FROM.place("count"), MADE_FROM.place("bare")], [null, [3, 4], null]);
});

// of the same file from line 10 on, and of another one from line 7 on
const NEAR = `@part
async def near(n: int):
    return await inc(n)
`;
const FAR = `@part
async def far(n: int):
    if n > 0:
        await inc(n)
    return n`;
const WITH_PARTS: Made = { ...MADE, parts: [
  { file: "refund.py", name: "near", first: 10, source: NEAR, nodes: new Map() },
  { file: "stock.py", name: "far", first: 7, source: FAR, nodes: new Map([["if_n", [9, 10]], ["inc_2", [10, 10]]]) },
] };
const PARTED = new Source(WITH_PARTS, [
  ...NODES, { tail: "inc", type: "function", entry: false, at: [12, 12] },
  { tail: "if_n@loop", type: "condition", entry: false, at: [27, 27] }, { tail: "inc_2@loop", type: "function", entry: false, at: [27, 27] },
]);

test("the texts of parts stand below the source, with the lines of their files", () => {
  assert.equal(PARTED.text, `${SOURCE}\n# refund.py, line 10: near\n${NEAR}\n# stock.py, line 7: far\n${FAR}`);
  assert.deepEqual([1, 7, 8, 9, 10, 12, 13, 14, 15, 19].map((line) => PARTED.number(line)), ["24", "30", "", "", "10", "12", "", "", "7", "11"]);
});

test("a node of a part has lines in the text of the part, and the line of the call beside them", () => {
  assert.deepEqual([PARTED.of("inc")?.at, PARTED.otherFile("inc"), PARTED.of("inc")?.call], [[12, 12], "", null]);
  assert.deepEqual(PARTED.of("if_n@loop"), { tail: "if_n@loop", at: [17, 18], head: [17, 17], call: [4, 4], quiet: true });
  assert.deepEqual([PARTED.place("inc_2@loop"), PARTED.otherFile("inc_2@loop"), PARTED.of("inc_2@loop")?.at], [[10, 10], "stock.py", [18, 18]]);
});

test("a line of a part chooses its node, and the line of the call the first of the part", () => {
  assert.deepEqual([12, 17, 18, 8, 9, 19].map((line) => PARTED.at(line, null)), ["inc", "if_n@loop", "inc_2@loop", null, null, null]);
  assert.deepEqual([PARTED.at(4, null), PARTED.at(4, "if_n@loop")], ["inc_2@loop", "if_n@loop"]);
});

test("what Python evaluates is one mark with its node: a block, an expression, in a part too", () => {
  const call = (name: string): Json => object([["type", "function"], ["with", object([["call", name]])]]);
  const read = ["shop.block_with_0a1b2c3d", "shop.eval_total_0a1b2c3d", "shop.pay", "block_x_0a1b2c3d"].map((name) => liftedRead(call(name) as JsonObject));
  assert.deepEqual([...read, liftedRead(object([["type", "code"]]))], ["block", "expression", null, null, "expression"]);
  const more: readonly Node[] = [
    { tail: "answer", type: "function", entry: false, at: [28, 29], lifted: "block" }, { tail: "if_n@loop", type: "function", entry: false, at: [27, 27], lifted: "block" },
    { tail: "eval_risk", type: "function", entry: false, at: [27, 29], lifted: "expression" },
  ];
  const source = new Source(WITH_PARTS, [...NODES, ...more]);
  assert.deepEqual(source.lifted(), [{ tail: "answer", at: [5, 6] }, { tail: "if_n@loop", at: [17, 18] }, { tail: "eval_risk", at: [4, 4] }]);
  assert.deepEqual([5, 6, 17, 18].map((line) => source.at(line, null)), ["answer", "answer", "if_n@loop", "if_n@loop"]);
  assert.deepEqual(["answer", "risk", "nothing"].map((tail) => source.isLifted(tail)), [true, false, false]);
});

test("two texts are the same if their parts are", () => {
  const [near, far] = WITH_PARTS.parts;
  assert.ok(near !== undefined && far !== undefined);
  assert.equal(isSameMade(WITH_PARTS, { ...WITH_PARTS, parts: [near, { ...far }] }), true);
  assert.equal(isSameMade(WITH_PARTS, { ...WITH_PARTS, parts: [near, { ...far, nodes: new Map() }] }), false);
});

test("parts are read, and what is no part is left out", () => {
  const part = object([["file", "stock.py"], ["function", "far"], ["first", 7], ["source", FAR], ["nodes", object([["if_n", [9, 10]], ["x", 1]])]]);
  assert.deepEqual(madeRead(object([["language", "python"], ["parts", [part, 1]]]))?.parts, [
    { file: "stock.py", name: "far", first: 7, source: FAR, nodes: new Map([["if_n", [9, 10]]]) },
  ]);
});

test("a line chooses the block of the shortest statement around it, and what is chosen stays", () => {
  assert.deepEqual([1, 2, 3, 4, 5, 6, 7].map((line) => MADE_FROM.at(line, null)), [null, "order", "risk", "if_risk", "answer", "answer", "return"]);
  assert.equal(MADE_FROM.at(3, "set_risk"), "set_risk");
  assert.equal(MADE_FROM.at(3, "answer"), "risk");
});

test("a document without a source, or with lines that are none, says so", () => {
  assert.deepEqual([madeRead(undefined), madeRead(null), madeRead(object([["file", "a.py"]]))], [null, null, null]);
  assert.deepEqual(madeRead(object([["language", "python"]])), { language: "python", file: "", name: "", source: "", parts: [] });
  assert.deepEqual([[1, 2], [2, 1], ["1", 2], null].map((at) => linesRead(object([["at", at]]))), [[1, 2], null, null, null]);
});

test("lines that go and come, with some around them, and the rest left out", () => {
  const before = Array.from({ length: 20 }, (_, place) => `line ${place + 1}`).join("\n");
  const after = before.replace("line 5\n", "line five\nand\n").replace("line 19\n", "");
  assert.deepEqual(lineChanges(before, after, 1).map(({ op, before: old, after: now, text }) => `${op}${old ?? ""},${now ?? ""} ${text}`), [
    "…, ", " 4,4 line 4", "-5, line 5", "+,5 line five", "+,6 and", " 6,7 line 6", "…, ", " 18,19 line 18", "-19, line 19", " 20,20 line 20",
  ]);
  assert.deepEqual(lineChanges(before, before), []);
  assert.deepEqual(lineChanges("", "a\n").map((line) => line.op), ["+"]);
});

test("of the changes of a document: the text of its source before and after, and which nodes differ in more than their lines", () => {
  assert.deepEqual(sourceTexts([{ path: ["variables"], before: 1, after: 2 }, { path: ["made_by", "source"], before: "old", after: SOURCE }]), ["old", SOURCE]);
  assert.equal(sourceTexts([{ path: ["made_by", "file"], before: "a.py", after: "b.py" }]), null);
  assert.deepEqual(sourceTexts([{ path: ["made_by"], before: object([["language", "python"], ["source", "s"]]), after: undefined }]), ["s", null]);
  const parts = (source: string): Json => [object([["file", "stock.py"], ["function", "far"], ["first", 7], ["source", source]])];
  assert.deepEqual(sourceTexts([{ path: ["made_by", "parts"], before: parts("old"), after: parts(FAR) }]), ["old", FAR]);
  assert.deepEqual(
    sourceTexts([{ path: ["made_by", "source"], before: "a", after: "b" }, { path: ["made_by", "parts"], before: undefined, after: parts("new") }]), ["a", "b\nnew"],
  );
  const node = (id: string, ...paths: string[][]): Parameters<typeof withoutLines>[0][number] => (
    { change: "changed", path: [id], key: `block/${id}`, formerId: "", fields: paths.map((path) => ({ path, before: 1, after: 2 })) }
  );
  assert.deepEqual(withoutLines([node("a", ["at"]), node("b", ["at"], ["with", "x"]), node("c")]).map((one) => [one.path[0], one.fields.length]), [["b", 1], ["c", 0]]);
});
