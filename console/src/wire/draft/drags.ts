/**
 * Drags of others, at their own pace however seldom messages come.
 *
 *     {from: [[tail, x, y], …], samples: [[ms, x, y], …]}
 *
 * `from` has the blocks with where they stood, each seen from the corner of the frame around it; a sample says how far they had gone
 * at a time of the sender's clock. A message has the samples since the one before.
 */
import { isList, isObject, object, type Json } from "../../editing/values/values.ts";

export type Spot = readonly [tail: string, x: number, y: number];
export type Sample = readonly [ms: number, x: number, y: number];

export interface Drag {
  readonly from: readonly Spot[];
  readonly samples: readonly Sample[];
}

const SAMPLE_MS = 33;
const MAX_SPOTS = 100; // of one drag: the rest stay where they are until they are dropped
const MAX_SAMPLES = 240;
const LEAD_MS = 50; // shown behind what came, so that the next samples are here in time
const MAX_LAG_MS = 500; // at most

/** Samples of this person's drag, as they are to be sent. */
export class Recorder {
  private from: readonly Spot[] = [];
  private samples: Sample[] = [];
  private saved = -Infinity; // the time of the last sample that stays

  /** The blocks have gone so far by now. A sample that is not sent yet gives way to the next one within a thirtieth of a second. */
  moved(from: readonly Spot[], x: number, y: number, now: number): void {
    if (this.from !== from) this.end();
    this.from = from;
    if (now - this.saved < SAMPLE_MS && this.samples.length > 1) this.samples.pop();
    else this.saved = now;
    this.samples.push([Math.round(now), Math.round(x), Math.round(y)]);
    if (this.samples.length > MAX_SAMPLES) this.samples.shift();
  }

  end(): void {
    this.from = [];
    this.samples = [];
    this.saved = -Infinity;
  }

  /** What to say of it; null where nothing is dragged. What it returned once, it does not return again. */
  taken(): Json {
    if (this.from.length === 0) return null;
    const samples = this.samples;
    this.samples = [];
    return object([["from", this.from.slice(0, MAX_SPOTS).map(([tail, x, y]) => [tail, Math.round(x), Math.round(y)])], ["samples", samples]]);
  }
}

/** The drag of a message; null where it has none that is well formed. */
export function dragRead(value: Json | undefined): Drag | null {
  if (!isObject(value)) return null;
  const from = triples(value.get("from")).flatMap(([tail, x, y]): Spot[] => (typeof tail === "string" ? [[tail, x, y]] : []));
  const samples = triples(value.get("samples")).flatMap(([ms, x, y]): Sample[] => (typeof ms === "number" ? [[ms, x, y]] : []));
  return from.length === 0 ? null : { from: from.slice(0, MAX_SPOTS), samples: samples.slice(-MAX_SAMPLES) };
}

function triples(value: Json | undefined): [Json, number, number][] {
  return (isList(value) ? value : []).flatMap((one): [Json, number, number][] => {
    if (!isList(one)) return [];
    const [first, x, y] = one;
    return first !== undefined && typeof x === "number" && typeof y === "number" ? [[first, x, y]] : [];
  });
}

interface Track {
  readonly from: readonly Spot[];
  samples: Sample[];
  shift: number; // from the sender's clock to that of this page
  isOver: boolean;
}

export class Playback {
  private readonly tracks = new Map<string, Track>();

  get isEmpty(): boolean {
    return this.tracks.size === 0;
  }

  /** A message of a client; null: it drags nothing any more, and what came is played to its end. */
  hear(client: string, drag: Drag | null, now: number): void {
    const held = this.tracks.get(client);
    if (drag === null) {
      if (held !== undefined) held.isOver = true;
      return;
    }
    const [first] = drag.samples;
    const last = drag.samples.at(-1);
    if (first === undefined || last === undefined) return;
    const track = held !== undefined && !held.isOver && sameSpots(held.from, drag.from) ? held : { from: drag.from, samples: [], shift: now - first[0] + LEAD_MS, isOver: false };
    track.shift = Math.min(Math.max(track.shift, now - first[0]), now + MAX_LAG_MS - last[0]);
    track.samples = [...track.samples, ...drag.samples].slice(-MAX_SAMPLES);
    this.tracks.set(client, track);
  }

  gone(client: string): void {
    this.tracks.delete(client);
  }

  clear(): void {
    this.tracks.clear();
  }

  /** Where blocks are that others drag. A drag that was played to its end is in it once more, and then no longer. */
  at(now: number): ReadonlyMap<string, { readonly x: number; readonly y: number }> {
    const found = new Map<string, { x: number; y: number }>();
    for (const [client, track] of this.tracks) {
      const time = now - track.shift;
      const [x, y] = between(track, time);
      for (const [tail, left, top] of track.from) found.set(tail, { x: left + x, y: top + y });
      if (track.isOver && time >= (track.samples.at(-1)?.[0] ?? 0)) this.tracks.delete(client);
    }
    return found;
  }
}

function between(track: Track, time: number): readonly [x: number, y: number] {
  const passed = track.samples.findLastIndex((sample) => sample[0] <= time);
  if (passed > 0) track.samples = track.samples.slice(passed);
  const [one, other] = track.samples;
  if (one === undefined) return [0, 0];
  if (other === undefined || passed < 0) return [one[1], one[2]];
  const part = (time - one[0]) / Math.max(1, other[0] - one[0]);
  return [one[1] + (other[1] - one[1]) * part, one[2] + (other[2] - one[2]) * part];
}

function sameSpots(left: readonly Spot[], right: readonly Spot[]): boolean {
  return left.length === right.length && left.every((spot, place) => spot.every((part, index) => part === right[place]?.[index]));
}
