/**
 * One person's copy of a draft, in one tab: what is confirmed, what is in flight, what waits, and what can be undone.
 *
 *     view = confirmed, then what is in flight, then what waits, each decided over what is before it
 *
 * One request is in flight. What others committed is transformed with what is in flight and what waits, and then with both undo stacks.
 * An operation that means nothing any more by then is cancelled, with a notice, before it is sent. Nothing here knows a clock or a
 * wire: the caller says when to send, hands in what arrives, and gives every request its random tag.
 */
import { answers, backsOf } from "../log/acknowledging.ts";
import { Arriving } from "../log/arriving.ts";
import { coalesced } from "./coalescing.ts";
import type { Effect, Write } from "../log/effects.ts";
import { apply } from "../fold.ts";
import { operation, type Operation, type DraftRequest, type LogEntry } from "../log/operations.ts";
import {
  requestOf, isSent, met, refusal, restarted, together, type Editing, type Entry, type Notice, type Origin, type Pending, type Sent,
} from "./pending.ts";
import { expand } from "../rules/expanding.ts";
import { called, following, type Called } from "../rules/following.ts";
import { inverse } from "../rules/inverse.ts";
import { resolve, undone } from "../rules/resolve.ts";
import { Stacks } from "./stacks.ts";
import type { Entities, Layer } from "../state.ts";
import { unasked } from "./unasking.ts";

export class Replica {
  n = 0;
  sent: Sent | null = null;
  unsent: Pending[] = [];
  readonly stacks = new Stacks();
  notices: Notice[] = [];
  /** Says why an operation, as it would be sent, cannot be; null where it can. */
  refuses: (asked: Operation) => string | null = () => null;
  readonly arriving = new Arriving();
  private shown: Layer | null = null;

  constructor(public client: string, public confirmed: Entities, public seq = 0) {}

  // -- what is shown -----------------------------------------------------------------------------------------------------

  /** What is shown. The next edit changes it. */
  get view(): Layer {
    this.shown ??= resolve(this.confirmed, this.pending.map((part) => part.operation)).state;
    return this.shown;
  }

  get pending(): readonly Pending[] {
    return [...(this.sent?.parts ?? []), ...this.unsent];
  }

  // -- editing -----------------------------------------------------------------------------------------------------------

  /** Does what a person asks, at once in the view. False where it was refused or does nothing: the outcome is among the notices. */
  edit(asked: Operation, how: Editing = {}): boolean {
    const done = this.do(asked, "edit", null, how);
    if (done) this.stacks.redos = [];
    return done;
  }

  /**
   * Operations that were made over the log's state at `base`, as they mean the same over the view: transformed with what was committed since
   * and with what is not confirmed. Null where this replica does not know all of that: it is not there yet, or has forgotten it.
   */
  carried(asked: readonly Operation[], base: number): Operation[] | null {
    const since = this.arriving.since(base, this.seq);
    if (since === null) return null;
    let theirs: Write[] = [...since.flatMap((item) => item.effects), ...this.pending.flatMap((part) => part.operation.writes)];
    return asked.map((one) => {
      const part: Pending = { operation: one, origin: "edit", typed: false, entry: null, former: null };
      theirs = this.metBy(part, theirs);
      return part.operation;
    });
  }

  /** Takes back the last action of this person that can be taken back; false where there is none, or it was refused. */
  undo(): boolean {
    return this.stepBack("undo");
  }

  redo(): boolean {
    return this.stepBack("redo");
  }

  private stepBack(origin: Origin): boolean {
    const stack = this.stacks.of(origin).from;
    for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
      const noted = this.notices.length;
      const made = unasked(entry, this.confirmed, this.sent, this.unsent);
      if (made !== null) {
        [this.unsent, this.shown] = [made.left, null];
        if (this.stacks.note(made.again, origin, false, made.left) !== null) return true;
      } else if (this.do(entry.operation, origin, entry, {})) {
        return true;
      } else if (this.notices.slice(noted).some((notice) => notice.outcome.refused)) {
        stack.push(entry);
        return false;
      }
    }
    return false;
  }

  private do(asked: Operation, origin: Origin, former: Entry | null, how: Editing): boolean {
    const { view } = this;
    const made = expand(view, asked);
    for (const outcome of made.outcomes) this.notices.push({ outcome, operation: asked, origin, sent: false });
    if (made.operation === null) return false;
    const code = this.refuses(made.operation);
    if (code !== null) {
      this.notices.push(refusal(code, asked, origin, false));
      return false;
    }
    const entry = this.stacks.note(inverse(view, made.effects), origin, how.join ?? false, this.unsent);
    this.unsent.push({ operation: made.operation, origin, typed: how.typed ?? false, entry, former });
    apply(view, made.effects);
    return true;
  }

  // -- sending -----------------------------------------------------------------------------------------------------------

  /**
   * The request to send now, or to send again; null where nothing waits. An operation with guards travels alone. `due`: how many of the
   * operations that wait go now, at least one.
   */
  message(tag: () => string, due = Infinity): DraftRequest | null {
    if (this.sent === null && this.unsent.length > 0) {
      const count = together(this.unsent, due);
      this.n += 1;
      this.sent = { n: this.n, tag: tag(), base: this.seq, parts: coalesced(this.unsent.splice(0, count)), lost: [] };
    }
    return this.sent === null ? null : requestOf(this.client, this.sent);
  }

  /** Goes on as another client: this one's id is in use elsewhere, or the server no longer knows it. */
  renamed(client: string): void {
    if (this.sent !== null) restarted(this.sent, this.client);
    this.client = client;
    this.n = this.sent === null ? 0 : 1;
  }

  /** What is in flight waits again: the server answered that it took none of it. */
  recall(): void {
    if (this.sent === null) return;
    this.unsent.unshift(...this.sent.parts);
    this.sent = null;
    this.n -= 1;
  }

  /** Gives up an operation that waits, as if it had been refused. */
  withdraw(part: Pending): void {
    this.unsent = this.unsent.filter((one) => one !== part);
    this.stacks.putBack(part);
    this.shown = null;
    this.cancel();
  }

  /** With nothing of its own that waits, goes on with the work of another client at the same item. */
  adopt(other: Replica): void {
    this.stacks.meet(other.pending.flatMap((part) => part.operation.writes));
    this.client = other.client;
    this.n = other.n;
    this.sent = other.sent;
    this.unsent = other.unsent;
    this.stacks.undos = [...this.stacks.undos, ...other.stacks.undos];
    this.notices.push(...other.notices);
    this.shown = null;
  }

  /** Leaves everything that is not confirmed, and returns it. */
  abandon(): readonly Pending[] {
    const left = this.pending;
    this.sent = null;
    this.unsent = [];
    this.stacks.clear();
    this.shown = null;
    return left;
  }

  // -- hearing -----------------------------------------------------------------------------------------------------------

  /**
   * Takes an item of the log, in sequence; one that comes early waits, one that is known is ignored. `taking` hears of each before it
   * is taken.
   */
  hear(item: LogEntry, taking: (item: LogEntry) => void = () => undefined): void {
    for (const next of this.arriving.next(item, this.seq)) {
      taking(next);
      this.take(next);
    }
  }

  private take(item: LogEntry): void {
    this.seq = item.seq;
    const before = this.called();
    if (this.sent !== null && isSent(this.sent, this.client, item)) {
      this.acknowledged(this.sent, item);
    } else {
      apply(this.confirmed, item.effects);
      this.meet(item.effects);
    }
    this.cancel();
    this.follow(before);
  }

  private readonly asked = (): Write[] => this.pending.flatMap((part) => part.operation.writes);

  /** The names of the blocks that are not confirmed, where texts mean them. */
  called(): Called[] {
    return called(this.view, this.asked());
  }

  /** Rewrites references to blocks that `before` has under another name than the view. Undo leaves them rewritten. */
  private follow(before: readonly Called[], taken: readonly Write[] = []): void {
    const splices = following(this.view, this.confirmed, before, this.asked(), taken);
    if (splices.length === 0) return;
    this.unsent.push({ operation: operation(splices), origin: "edit", typed: false, entry: null, former: null });
    this.stacks.follow(splices, this.view);
    apply(this.view, splices);
  }

  /**
   * Brings a replica that was kept without its state to that of the log: `items` are all those since its sequence, `state` is what they
   * led to, `before` is what `called` was when it was kept. Entries of what was in flight stay as they were made from the view.
   */
  resume(state: Entities, items: readonly LogEntry[], before: readonly Called[] = []): void {
    let taken: Write[] = [];
    for (const item of items) {
      if (item.seq !== this.seq + 1) continue;
      this.seq = item.seq;
      if (this.sent !== null && isSent(this.sent, this.client, item)) {
        taken = this.sent.parts.flatMap((part) => part.operation.writes);
        this.outcomesOf(this.sent, item);
        this.sent = null;
      } else {
        this.meet(item.effects);
      }
    }
    this.confirmed = state;
    this.arriving.clear();
    this.cancel();
    this.follow(before, taken);
  }

  private acknowledged(sent: Sent, item: LogEntry): void {
    const backs = backsOf(this.confirmed, sent);
    this.outcomesOf(sent, item);
    this.stacks.remake(backs, this.unsent);
    this.sent = null;
    apply(this.confirmed, item.effects);
  }

  private outcomesOf(sent: Sent, item: LogEntry): void {
    const { notices, refused } = answers(sent, item);
    this.notices.push(...notices);
    for (const part of refused) this.stacks.putBack(part);
  }

  /** Crosses what is not confirmed, and what can be undone, with what others committed. */
  private meet(effects: readonly Effect[]): void {
    let theirs: Write[] = [...effects];
    for (const part of this.sent?.parts ?? []) {
      const passed = met(part, theirs);
      theirs = passed.theirs;
      for (const outcome of passed.lost) this.sent?.lost.push({ part, outcome });
    }
    for (const part of this.unsent) theirs = this.metBy(part, theirs);
    if (this.sent !== null) this.sent.base = this.seq;
    this.stacks.meet(theirs);
  }

  private metBy(part: Pending, theirs: Write[]): Write[] {
    const passed = met(part, theirs);
    for (const outcome of passed.lost) this.notices.push({ outcome, operation: part.operation, origin: part.origin, sent: false });
    return passed.theirs;
  }

  /** Takes out of what waits the operations that would be refused or dropped whole by now, and shows the rest. */
  private cancel(): void {
    const state = resolve(this.confirmed, (this.sent?.parts ?? []).map((part) => part.operation)).state;
    const kept: Pending[] = [];
    let behind: Write[] = [];
    for (const part of this.unsent) {
      behind = this.metBy(part, behind);
      if (part.operation.writes.length === 0) continue; // transformation left nothing of it, nor of what takes it back
      const { effects, outcomes } = resolve(state, [part.operation]);
      if (effects.length > 0 || outcomes.length === 0) {
        apply(state, effects);
        kept.push(part);
        continue;
      }
      for (const outcome of outcomes) this.notices.push({ outcome, operation: part.operation, origin: part.origin, sent: false });
      this.stacks.putBack(part);
      behind = [...behind, ...undone(part.operation.writes)];
    }
    this.unsent = kept;
    this.shown = state;
  }
}
