/** Finds the work that edits of others removed, and how to restore it: for the notices of a person whose work went with it. */
import type { Effect } from "../log/effects.ts";
import { operation, type Operation, type LogEntry } from "../log/operations.ts";
import type { Entry } from "../replica/pending.ts";
import { inverse } from "../rules/inverse.ts";
import { prefixOf, type State } from "../state.ts";

const MAX_REMOVALS = 100;

export interface Removal {
  readonly by: string;
  readonly back: Operation;
}

/** The last change of an entity. */
export interface Touch {
  readonly by: string;
  readonly at: number;
  readonly seq: number;
}

export class Losses {
  private readonly removals = new Map<string, Removal>();
  private readonly touches = new Map<string, Touch>();

  /** Takes an item before it is folded into `before`. */
  note(item: LogEntry, before: State): void {
    for (const effect of item.effects) this.touches.set(effect[1], { by: item.by, at: item.at, seq: item.seq });
    const gone = item.effects.filter((effect) => effect[0] === "del");
    if (gone.length === 0) return;
    const back = operation(inverse(before, gone).writes);
    for (const effect of gone) {
      this.removals.delete(effect[1]);
      this.removals.set(effect[1], { by: item.by, back });
    }
    for (const key of [...this.removals.keys()].slice(0, -MAX_REMOVALS)) this.removals.delete(key);
  }

  removal(key: string): Removal | null {
    return this.removals.get(key) ?? null;
  }

  touch(key: string): Touch | null {
    return this.touches.get(key) ?? null;
  }
}

/** The edges that a person added, as their undo stack knows, and that these effects of another person take away. */
export function taken(undos: readonly Entry[], effects: readonly Effect[]): string[] {
  const gone = new Set(effects.flatMap((effect) => (effect[0] === "del" && prefixOf(effect[1]) === "edge" ? [effect[1]] : [])));
  if (gone.size === 0) return [];
  const own = undos.flatMap((entry) => entry.operation.writes.flatMap((write) => (write[0] === "del" && gone.has(write[1]) ? [write[1]] : [])));
  return [...new Set(own)];
}
