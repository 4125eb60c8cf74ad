/** The table of what a person reads while nothing answers, row by row, and when what was sent is sent again. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { words, type Status } from "../../src/editing/client/status.ts";
import { Tries } from "../../src/editing/client/sending/tries.ts";

const OFTEN = 4; // tries by itself while it is offline

interface Moment {
  readonly seconds: number;
  readonly sends: boolean;
  readonly shown: string;
}

/** What happens from the first sending on, if nothing ever answers, without jitter. */
function unanswered(textAlone: boolean, fraction = 0): Moment[] {
  const tries = new Tries(() => fraction);
  const moments: Moment[] = [];
  let next = tries.begin(textAlone);
  let ms = 0;
  while (moments.filter((moment) => moment.sends && moment.shown.startsWith("Offline")).length < OFTEN) {
    ms += next.wait;
    const { send } = next;
    next = send ? tries.sent() : tries.unanswered();
    const status: Status = tries.isOffline ? { is: "offline", edits: 2 } : { is: "retrying", attempt: tries.attempt, of: tries.of };
    moments.push({ seconds: ms / 1_000, sends: send, shown: words(status) });
  }
  return moments;
}

const sendings = (moments: readonly Moment[]) => moments.filter((moment) => moment.sends).map((moment) => moment.seconds);
const shown = (moments: readonly Moment[]) => [...new Set(moments.map((moment) => moment.shown))];

for (const [what, textAlone, late, pauses] of [
  ["structure, or both", false, 5, [1, 2, 4]],
  ["text alone", true, 15, [1, 2, 3, 3, 3]],
] as const) {
  test(`${what}: unanswered after ${late} s, again after ${pauses.join(", ")} s, then offline and again every 15 s`, () => {
    const moments = unanswered(textAlone);
    assert.equal(moments[0]?.seconds, late);
    let at: number = late;
    const again = pauses.map((pause) => (at += pause));
    const offline = at + (pauses.at(-1) ?? 0);
    assert.deepEqual(sendings(moments), [...again, ...[1, 2, 3, 4].map((time) => offline + 15 * time)]);
    assert.equal(moments.find((moment) => moment.shown.startsWith("Offline"))?.seconds, offline);
    assert.deepEqual(shown(moments), [...pauses.map((_, place) => `Retrying ${place + 1} of ${pauses.length}`), "Offline, 2 edits kept"]);
  });

  test(`${what}: pauses have a jitter of at most a fifth, the first wait has none`, () => {
    const [plain, jittered] = [unanswered(textAlone), unanswered(textAlone, 1)];
    assert.equal(jittered[0]?.seconds, plain[0]?.seconds);
    for (const [place, moment] of jittered.entries()) {
      const usual = plain[place]?.seconds ?? 0;
      assert.ok(moment.seconds >= usual && moment.seconds <= late + 1.2 * (usual - late) + 1e-9);
    }
    assert.notDeepEqual(sendings(jittered), sendings(plain));
  });
}

test("an answer ends it, and the next one begins anew", () => {
  const tries = new Tries(() => 0);
  tries.begin(false);
  tries.unanswered();
  tries.sent();
  assert.equal(tries.attempt, 1);
  tries.end();
  assert.deepEqual([tries.attempt, tries.isOffline], [0, false]);
  assert.deepEqual(tries.begin(true), { wait: 15_000, send: false });
  assert.equal(tries.of, 5);
});

test("the words of the table", () => {
  assert.deepEqual(
    ([{ is: "saved" }, { is: "saving" }, { is: "offline", edits: 1 }, { is: "read_only", why: "role" }] as const).map(words),
    ["Saved", "Saving", "Offline, 1 edit kept", "Read-only: your role does not allow editing"],
  );
});
