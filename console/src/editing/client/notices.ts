/** Notices for a person: operations that were not done as asked, and work of theirs that went with that of others. */
import { operation, type Operation } from "../log/operations.ts";
import { MAX_NOTICES } from "../limits.ts";
import type { Notice, Origin } from "../replica/pending.ts";
import type { Losses } from "./losses.ts";

/**
 * `code` is that of the outcome, or `taken_along` where another person's change took an edge of this one. `lost` is what was not done
 * or is gone; `restore`, where there is one, brings back what that needs, `by` is who took it.
 */
export interface Report {
  readonly id: number;
  readonly code: string;
  readonly key: string;
  readonly by: string | null;
  readonly refused: boolean;
  readonly origin: Origin;
  readonly lost: Operation;
  readonly restore: Operation | null;
}

export class Notices {
  list: readonly Report[] = [];
  private next = 1;

  add(report: Omit<Report, "id">): void {
    this.list = [...this.list, { id: this.next, ...report }].slice(-MAX_NOTICES);
    this.next += 1;
  }

  /** Reports what became of operations. An entity that another person removed can be brought back. */
  tell(notices: readonly Notice[], losses: Losses): void {
    for (const { outcome, operation: asked, origin } of notices) {
      const removal = outcome.code === "gone" ? losses.removal(outcome.key) : null;
      const by = removal?.by ?? (outcome.code === "superseded" ? losses.touch(outcome.key)?.by : null) ?? null;
      this.add({
        code: outcome.code, key: outcome.key, by: outcome.by ?? by, refused: outcome.refused, origin,
        lost: outcome.refused ? asked : operation(outcome.writes), restore: removal?.back ?? null,
      });
    }
  }

  find(id: number): Report | null {
    return this.list.find((report) => report.id === id) ?? null;
  }

  dismiss(id: number): void {
    this.list = this.list.filter((report) => report.id !== id);
  }
}
