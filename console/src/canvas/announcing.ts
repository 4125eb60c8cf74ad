/** Announces the changes of others to those who do not see them: one sentence, at most every five seconds. */
import type { Effect, Entity } from "../editing/log/effects.ts";
import { prefixOf, tailOf, type State } from "../editing/state.ts";
import { EMPTY as NOTHING, textAt } from "../editing/values/values.ts";
import { nameOf } from "../wire/names.ts";

const EVERY_MS = 5_000;
const MOST_NAMES = 3;
const VERBS = ["added", "changed", "removed"] as const;

type Verb = typeof VERBS[number];

export class Announcer {
  private said = new Map<string, Map<string, Verb>>(); // by person, by what it is called
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readyAt = 0;

  constructor(private readonly view: () => State, private readonly say: (text: string) => void, private readonly now: () => number = () => performance.now()) {}

  /** Takes what another person did, before the view has it: what is removed has its name there. */
  heard(by: string, effects: readonly Effect[]): void {
    const person = nameOf(by) || "Someone";
    const held = this.said.get(person) ?? new Map<string, Verb>();
    for (const effect of effects) this.note(held, effect);
    if (held.size === 0) return;
    this.said.set(person, held);
    this.timer ??= setTimeout(() => { this.tell(); }, Math.max(0, this.readyAt - this.now()));
  }

  close(): void {
    clearTimeout(this.timer);
  }

  private note(held: Map<string, Verb>, effect: Effect): void {
    const found = this.meant(effect);
    if (found === null) return;
    const [name, verb] = found;
    if (verb !== "changed" || !held.has(name)) held.set(name, verb);
  }

  /** What an effect is about, and what it does to it; null for what is silent: where things stand, comments, pins. */
  private meant(effect: Effect): readonly [name: string, verb: Verb] | null {
    const [word, key] = effect;
    const view = this.view();
    const verb = word === "del" ? "removed" : word === "put" && !view.has(key) ? "added" : "changed";
    switch (prefixOf(key)) {
      case "doc":
        return ["the settings of the workflow", "changed"];
      case "note":
        return ["a note", verb];
      case "block":
        return this.block(tailOf(key), word === "put" ? effect[2] : NOTHING, verb);
      case "subflow":
        return this.block(tailOf(key), NOTHING, "changed");
      case "edge": // what leads away from a node is a part of it
        return this.block(textAt((word === "put" ? effect[2] : view.get(key)) ?? NOTHING, "source"), NOTHING, "changed");
      default:
        return null;
    }
  }

  private block(tail: string, made: Entity, verb: Verb): readonly [string, Verb] | null {
    const name = textAt(this.view().get(`block/${tail}`) ?? made, "id");
    return name === "" ? null : [name, verb];
  }

  private tell(): void {
    this.timer = undefined;
    this.readyAt = this.now() + EVERY_MS;
    this.say([...this.said].map(([person, held]) => `${person} ${VERBS.flatMap((verb) => listed(verb, held)).join("; ")}.`).join(" "));
    this.said = new Map();
  }
}

function listed(verb: Verb, held: ReadonlyMap<string, Verb>): string[] {
  const names = [...held].filter(([, one]) => one === verb).map(([name]) => name);
  if (names.length === 0) return [];
  const [last, ...others] = names.length > MOST_NAMES ? [`${names.length - MOST_NAMES} more`, ...names.slice(0, MOST_NAMES)] : [names.at(-1), ...names.slice(0, -1)];
  return [`${verb} ${others.length === 0 ? "" : `${others.join(", ")} and `}${last ?? ""}`];
}
