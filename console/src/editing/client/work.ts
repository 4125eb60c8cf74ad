/** A person's work in a draft, without timers and storage: the replica, its notices, and what waits for their decision. */
import { operation, type Operation, type LogEntry } from "../log/operations.ts";
import { MAX_KEPT_BYTES, MAX_KEPT_WRITES } from "../limits.ts";
import { operationRead, operationWritten } from "../log/messages.ts";
import { isSent, refusal, type Editing } from "../replica/pending.ts";
import type { Replica } from "../replica/replica.ts";
import { plain } from "../values/values.ts";
import { unsendable } from "./bounds.ts";
import { Losses, taken } from "./losses.ts";
import { Notices } from "./notices.ts";
import { sizeOf } from "./sending/sizes.ts";

export class Work {
  readonly report = new Notices();
  losses = new Losses();
  /** Operations of a draft that is gone, or whose log is. */
  listed: readonly Operation[] = [];
  private held: Replica;

  constructor(replica: Replica) {
    this.held = replica;
  }

  get replica(): Replica {
    return this.held;
  }

  set replica(replica: Replica) {
    this.held = replica;
    this.losses = new Losses();
    replica.refuses = unsendable;
  }

  /** Whether so much waits that no more can be kept. */
  get isFull(): boolean {
    let [writes, bytes] = [0, 0];
    for (const part of this.replica.pending) {
      writes += part.operation.writes.length;
      bytes += sizeOf(part.operation);
    }
    return writes >= MAX_KEPT_WRITES || bytes >= MAX_KEPT_BYTES;
  }

  /** Does an operation of a page, its numbers in the form that a draft has. */
  edit(asked: Operation, how: Editing): boolean {
    return this.replica.edit(operationRead(plain(operationWritten(asked))), how);
  }

  /** Does operations that were made over the log's state at `base`, as one action. Null where that is too long ago, or not here yet. */
  perform(asked: readonly Operation[], base: number): boolean | null {
    const carried = this.replica.carried(asked.map((one) => operationRead(plain(operationWritten(one)))), base);
    if (carried === null) return null;
    let done = false;
    for (const one of carried) if (one.writes.length > 0) done = this.replica.edit(one, { join: done }) || done;
    return done;
  }

  /** Brings back what others removed, and does what was lost with it, as one action. */
  restore(id: number): boolean {
    const report = this.report.find(id);
    if (report === null || report.restore === null) return false;
    const came = !this.replica.view.has(report.key) && this.replica.edit(report.restore);
    const done = this.replica.edit(operation(report.lost.writes), { join: came }) || came;
    if (done) this.report.dismiss(id);
    return done;
  }

  /** Undoes or redoes what was refused because it was changed since, over that change. */
  overwrite(id: number): boolean {
    const report = this.report.find(id);
    if (report?.code !== "changed_since" || report.origin === "edit") return false;
    const { replica } = this;
    const entry = (report.origin === "undo" ? replica.stacks.undos : replica.stacks.redos).at(-1);
    if (entry === undefined) return false;
    entry.operation = operation(entry.operation.writes);
    const done = report.origin === "undo" ? replica.undo() : replica.redo();
    if (done) this.report.dismiss(id);
    return done;
  }

  /** Does a listed operation, without what it demanded of the draft that is gone. */
  apply(listed: Operation): boolean {
    const done = this.replica.edit(operation(listed.writes));
    if (done) this.discard(listed);
    return done;
  }

  discard(listed: Operation): void {
    this.listed = this.listed.filter((one) => one !== listed);
  }

  /** Takes an item of the log, and reports what it took of this person's. */
  hear(item: LogEntry): void {
    const { replica } = this;
    replica.hear(item, (next) => {
      this.losses.note(next, replica.confirmed);
      if ((replica.sent !== null && isSent(replica.sent, replica.client, next)) || next.client === replica.client) return;
      for (const key of taken(replica.stacks.undos, next.effects)) {
        const restore = this.losses.removal(key)?.back ?? null;
        this.report.add({ code: "taken_along", key, by: next.by, refused: false, origin: "edit", lost: operation([]), restore });
      }
    });
  }

  /** Makes notices of what became of operations since the last call. */
  tell(): void {
    this.report.tell(this.replica.notices.splice(0), this.losses);
  }

  /** What is not committed belongs to a log that is gone: it is listed. */
  lose(): void {
    this.listed = [...this.listed, ...this.replica.abandon().map((part) => part.operation)];
  }

  /**
   * The server takes nothing of what is in flight, for the reason `code`. Returns how many of its operations to send next; null where it
   * was a single one, which is given up.
   */
  notTaken(code: string): number | null {
    const { replica } = this;
    const parts = replica.sent?.parts ?? [];
    const [only] = parts;
    if (only === undefined) return null;
    replica.recall();
    if (parts.length > 1) return Math.ceil(parts.length / 2);
    replica.notices.push(refusal(code, only.operation, only.origin, true));
    replica.withdraw(only);
    return null;
  }
}
