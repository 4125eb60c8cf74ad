/** The ports of a session in a browser: clock, chance, and what the tab remembers. */
import { fresh } from "../canvas/model/keys.ts";
import type { Chance, Clock, Tab } from "../editing/client/ports.ts";

export const word = fresh((count) => crypto.getRandomValues(new Uint8Array(count)));

export const chance: Chance = { word, fraction: () => Math.random() };

export const clock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => { clearTimeout(timer); };
  },
};

/** By draft: one tab may open several, one after the other. */
export function tabOf(draft: string): Tab {
  const name = `stepless.client/${draft}`;
  return { recall: () => sessionStorage.getItem(name), remember: (client) => { sessionStorage.setItem(name, client); } };
}
