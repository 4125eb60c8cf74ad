import assert from "node:assert/strict";
import { test } from "node:test";
import { readObject } from "../../src/editing/values/json.ts";
import { dragRead, Playback, Recorder } from "../../src/wire/draft/drags.ts";
import { People } from "../../src/wire/draft/people.ts";

const heard = (people: People, frame: string): boolean => people.hear(readObject(frame), "me");

test("the others come, move and go; a welcome has all who are there", () => {
  const people = new People(() => 0);
  let calls = 0;
  people.subscribe(() => { calls += 1; });
  assert.equal(heard(people, '{"t":"welcome","epoch":1,"head":0,"people":[{"client":"c1","person":"Bo","at":{"cursor":[3,4],"selection":["b"]}},{"client":"me","person":"Ada"}]}'), false);
  assert.deepEqual(people.list.map((one) => [one.name, one.cursor, one.selection]), [["Bo", { x: 3, y: 4 }, ["b"]]]);
  assert.equal(heard(people, '{"t":"who","client":"c2","person":"Cy","joined":true}'), true);
  assert.deepEqual(people.list.map((one) => [one.name, one.selection]), [["Bo", ["b"]], ["Cy", []]]);
  assert.equal(heard(people, '{"t":"at","client":"c1","at":{"drag":{"from":[["b",1,2]],"samples":[[5,0,0]]}}}'), true);
  const [bo] = people.list;
  assert.deepEqual([bo?.name, bo?.cursor, bo?.selection, people.drags.isEmpty], ["Bo", null, [], false], "what is left out is over");
  assert.equal(heard(people, '{"t":"who","client":"c1","person":"Bo","joined":false}'), true);
  assert.deepEqual([people.list.map((one) => one.name), people.drags.isEmpty], [["Cy"], true]);
  assert.equal(heard(people, '{"t":"at","client":"me","at":{"cursor":[0,0]}}'), true);
  assert.equal(people.list.length, 1);
  assert.equal(heard(people, '{"t":"item","item":{"seq":1}}'), false);
  people.clear();
  assert.deepEqual(people.list, []);
  assert.equal(calls, 5);
});

test("others have a block open that they have selected alone, or type in", () => {
  const people = new People(() => 0);
  heard(people, '{"t":"at","client":"c1","at":{"selection":["a"]}}');
  heard(people, '{"t":"at","client":"c2","at":{"selection":["b","c"],"field":"subflow/d"}}');
  assert.deepEqual([...people.open].sort(), ["a", "d"]);
  heard(people, '{"t":"at","client":"c2","at":{}}');
  assert.deepEqual([...people.open], ["a"]);
});

test("a view that does not change stays the same object, and one that is no rectangle is none", () => {
  const people = new People(() => 0);
  heard(people, '{"t":"at","client":"c1","at":{"view":[-10,20,800,600]}}');
  const before = people.list[0]?.view;
  assert.deepEqual(before, { x: -10, y: 20, width: 800, height: 600 });
  heard(people, '{"t":"at","client":"c1","at":{"cursor":[1,1],"view":[-10,20,800,600]}}');
  assert.equal(people.list[0]?.view, before);
  for (const view of ["[0,0,0,600]", "[1,2,3]", '"all"', '[0,0,"8",9]', "null"]) {
    heard(people, `{"t":"at","client":"c1","at":{"view":${view}}}`);
    assert.equal(people.list[0].view, null);
  }
});

test("a drag is played at the times of its samples, however seldom messages come", () => {
  const played = new Playback();
  const drag = (from: number, to: number): NonNullable<ReturnType<typeof dragRead>> => {
    const samples = Array.from({ length: (to - from) / 40 + 1 }, (_, place): [number, number, number] => [from + 40 * place, (from + 40 * place) / 10, 0]);
    return { from: [["b", 100, 50], ["c", 0, 0]], samples };
  };
  const shown: number[] = [];
  for (let now = 10_000; now < 11_000; now += 20) { // five messages a second, of a clock that began elsewhere: each has what was until then
    if ((now - 10_000) % 200 === 0 && now <= 10_600) played.hear("c1", drag(now - 10_160, now - 10_000), now);
    if (now === 10_700) played.hear("c1", null, now);
    const spot = played.at(now).get("b");
    if (spot !== undefined) shown.push(spot.x - 100);
  }
  const steps = shown.slice(1).map((x, place) => x - (shown[place] ?? 0));
  assert.ok(steps.every((step) => step >= 0 && step <= 2.01), `it moves evenly, ${steps.join(" ")}`);
  assert.equal(shown.at(-1), 60);
  assert.ok(played.isEmpty, "it was played to its end");
});

test("what is shown of a drag is at most half a second behind what came", () => {
  const played = new Playback();
  played.hear("c1", { from: [["b", 0, 0]], samples: [[0, 0, 0], [5_000, 100, 0]] }, 0);
  assert.equal(played.at(500).get("b")?.x, 100);
});

test("samples are a thirtieth of a second apart, sent once, and end where the drag is", () => {
  const recorder = new Recorder();
  const from = [["b", 3.6, 4]] as const;
  for (let now = 0; now <= 200; now += 5) recorder.moved(from, now, -now, now);
  const drag = dragRead(recorder.taken());
  assert.deepEqual(drag?.from, [["b", 4, 4]]);
  const times = drag.samples.map(([ms]) => ms);
  assert.ok(times.length >= 6 && times.length <= 8, times.join(" "));
  assert.deepEqual(drag.samples.at(-1), [200, 200, -200]);
  assert.deepEqual(dragRead(recorder.taken())?.samples, []);
  recorder.end();
  assert.equal(recorder.taken(), null);
});

test("a drag that is malformed is none", () => {
  for (const said of ["null", "3", "[]", "{}", '{"from":[["b",1]],"samples":[[1,2,3]]}', '{"from":[[1,1,2]]}']) {
    assert.equal(dragRead(readObject(`{"drag":${said}}`).get("drag")), null, said);
  }
  assert.deepEqual(dragRead(readObject('{"drag":{"from":[["b",1,2],["c",null,2]],"samples":[["x",1,2],[1,2,3]]}}').get("drag")), { from: [["b", 1, 2]], samples: [[1, 2, 3]] });
});
