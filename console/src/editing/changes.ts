/** Which entities may differ from one view of a draft to the next: what the canvas derives from a view is made anew for these alone. */
import type { Entities, State } from "./state.ts";

export class Changes {
  private ground: Entities | null = null;
  private age = 0;
  private above: readonly string[] = [];

  /**
   * The keys of the entities that may be others than in the view before, each once: what was committed meanwhile, and what either view
   * has above that. Null where any may be: for the first view, for one of another draft, after more changes than the state remembers.
   */
  until(view: State): ReadonlySet<string> | null {
    const { ground } = view;
    const committed = this.ground === ground ? ground.changedSince(this.age) : null;
    const above = [...view.touched()];
    const changed = committed === null ? null : new Set([...committed, ...this.above, ...above]);
    this.ground = ground;
    this.age = ground.age;
    this.above = above;
    return changed;
  }
}
