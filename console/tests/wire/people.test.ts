import assert from "node:assert/strict";
import { test } from "node:test";
import { readObject, writeJson } from "../../src/editing/json.ts";
import { framed, unframed } from "../../src/wire/frames.ts";
import { People } from "../../src/wire/people.ts";

const heard = (people: People, frame: string): boolean => people.hear(unframed(readObject(frame)), "me");

test("the others come, move and go; a welcome has all who are there", () => {
  const people = new People();
  let calls = 0;
  people.subscribe(() => { calls += 1; });
  assert.equal(heard(people, '{"t":"welcome","epoch":1,"head":0,"people":[{"client":"c1","person":"Bo","at":{"cursor":[3,4],"selection":["b"]}},{"client":"me","person":"Ada"}]}'), false);
  assert.deepEqual(people.list.map((one) => [one.name, one.cursor, one.selection]), [["Bo", { x: 3, y: 4 }, ["b"]]]);
  assert.equal(heard(people, '{"t":"who","client":"c2","person":"Cy","joined":true}'), true);
  assert.equal(heard(people, '{"t":"at","client":"c1","at":{"drag":[["b",1,2]]}}'), true);
  const [bo] = people.list;
  assert.deepEqual([bo?.name, bo?.cursor, bo?.selection, bo?.drag], ["Bo", null, [], [["b", 1, 2]]], "what is left out is over");
  assert.equal(heard(people, '{"t":"who","client":"c1","person":"Bo","joined":false}'), true);
  assert.deepEqual(people.list.map((one) => one.name), ["Cy"]);
  assert.equal(heard(people, '{"t":"at","client":"me","at":{"cursor":[0,0]}}'), true);
  assert.equal(people.list.length, 1);
  people.clear();
  assert.deepEqual(people.list, []);
  assert.equal(calls, 5);
});

test("a frame names its message by `t`, and an item is nested in it", () => {
  assert.equal(writeJson(framed(readObject('{"v":1,"type":"pull","after":3}'))), '{"v":1,"t":"pull","after":3}');
  assert.equal(writeJson(unframed(readObject('{"v":1,"t":"item","item":{"seq":2,"by":"Bo"}}'))), '{"v":1,"type":"item","seq":2,"by":"Bo"}');
  assert.equal(writeJson(unframed(readObject('{"v":1,"t":"closing","code":4409}'))), '{"type":"closing","v":1,"code":4409}');
});
