/**
 * The text of a draft under a person's hands, and the text that the server makes of the draft.
 *
 *     base    the server's text at a sequence; after a check, the text that was checked
 *     mine    what the person changed since; the page shows base with mine
 *
 * What is typed is checked after a pause: the server says which operations turn the draft into it, and the session does them. Then, and
 * whenever others changed the draft, the server's text is read again, and what differs from the base comes into the page, around
 * what was typed meanwhile. A text that does not parse waits. One request is on its way at a time.
 */
import { ChangeSet, Text } from "@codemirror/state";
import type { Operation } from "../../editing/log/operations.ts";
import { changesBetween } from "../../source/text/lines.ts";

/** The server's text with the sequence that it stands for. */
export interface Served {
  readonly seq: number;
  readonly text: string;
}

/** Why a text is not taken. `line` and `column` count from 1; null where the server does not say. */
export interface Fault {
  readonly message: string;
  readonly mend: string;
  readonly line: number | null;
  readonly column: number | null;
}

export type Checked = { readonly operations: readonly Operation[] } | { readonly fault: Fault };

/** What a text needs. `read` and `check` reject where the server is not reached or says that it cannot. */
export interface Ground {
  read(): Promise<Served>;
  check(seq: number, text: string): Promise<Checked>;
  /** As `Session.perform`. */
  perform(operations: readonly Operation[], base: number): boolean | null;
  /** The last item that the session has, whether nothing of this person waits to be committed, and whether the draft can be edited. */
  standing(): { readonly seq: number; readonly settled: boolean; readonly canEdit: boolean };
  later(ms: number, run: () => void): () => void;
  why(error: unknown): string;
}

/** `problem`: why the server was not asked; it is asked again by itself. */
export interface Writing {
  readonly is: "reading" | "same" | "typing" | "checking" | "saving" | "faulty";
  readonly fault: Fault | null;
  readonly problem: string | null;
}

export const CHECK_MS = 600;
const MOVED_MS = 200;
const AGAIN_MS = 4_000;

const EMPTY = ChangeSet.empty(0);

export class Manuscript {
  /** Takes what others changed: to be applied to the page's text. */
  arrive: (changes: ChangeSet) => void = () => undefined;
  private base: Served = { seq: -1, text: "" };
  private mine = EMPTY;
  private shown = Text.empty;
  private isBusy = false;
  private isAwaiting = false; // what was checked is not committed yet
  private isClosed = false;
  private isForgotten = false; // the session does not know any more what came since the base
  private isFixed = false; // typed since the fault
  private fault: Fault | null = null;
  private problem: string | null = null;
  private stopCheck: (() => void) | null = null;
  private stopMoved: (() => void) | null = null;
  private since: ChangeSet | null = null; // typed since the text was sent to be checked
  private readonly listeners = new Set<() => void>();
  private state: Writing = { is: "reading", fault: null, problem: null };

  constructor(private readonly ground: Ground) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): Writing => this.state;

  /** What the page shows. */
  get text(): Text {
    return this.shown;
  }

  get seq(): number {
    return this.base.seq;
  }

  /** Whether something was typed that the draft does not have yet. */
  get isDirty(): boolean {
    return !this.mine.empty;
  }

  // -- the page ----------------------------------------------------------------------------------------------------------------

  /** A person changed the page's text. */
  typed(changes: ChangeSet): void {
    this.shown = changes.apply(this.shown);
    this.mine = this.mine.compose(changes);
    this.since = this.since === null ? null : this.since.compose(changes);
    this.isFixed = true;
    this.plan(CHECK_MS);
    this.tell();
  }

  /** The session has changed: an item came, or what waited was committed. */
  moved(): void {
    if (this.isClosed || this.stopMoved !== null) return;
    this.stopMoved = this.ground.later(MOVED_MS, () => {
      this.stopMoved = null;
      if (this.isBehind) void this.read();
      else if (this.isDirty && this.fault === null && this.stopCheck === null) this.plan(CHECK_MS);
    });
  }

  /** Checks now what was typed: the field was left, or the text is needed. */
  flush(): void {
    if (this.isDirty && !this.isBusy) {
      this.stopCheck?.();
      this.stopCheck = null;
      void this.check();
    }
  }

  /** Reads the text for the first time, or again after a failure. */
  async open(): Promise<void> {
    if (!this.isBusy) await this.read();
  }

  close(): void {
    this.isClosed = true;
    this.stopCheck?.();
    this.stopMoved?.();
    this.stopCheck = null;
    this.stopMoved = null;
  }

  /** Goes on after `close`, with what was typed. */
  reopen(): void {
    this.isClosed = false;
    if (this.base.seq < 0) void this.open();
    else if (this.isDirty) this.plan(0);
    this.moved();
  }

  /** Leaves what was typed, and shows the draft's text. */
  discard(): void {
    const back = this.mine.invert(Text.of(this.base.text.split("\n")));
    this.mine = ChangeSet.empty(this.base.text.length);
    this.since = null;
    this.fault = null;
    this.stopCheck?.();
    this.stopCheck = null;
    this.shown = back.apply(this.shown);
    this.arrive(back);
    this.tell();
    this.moved();
  }

  // -- the server --------------------------------------------------------------------------------------------------------------

  private get isBehind(): boolean {
    const { seq, settled } = this.ground.standing();
    return !this.isBusy && settled && (this.isAwaiting || this.isForgotten || seq > this.base.seq);
  }

  private plan(ms: number): void {
    this.stopCheck?.();
    this.stopCheck = this.isClosed ? null : this.ground.later(ms, () => {
      this.stopCheck = null;
      void this.check();
    });
  }

  private async check(): Promise<void> {
    const { seq, canEdit } = this.ground.standing();
    if (this.isBusy || this.isAwaiting || !this.isDirty || this.isClosed || !canEdit || seq < this.base.seq) return; // until something moves
    const [sent, base] = [this.shown.toString(), this.base];
    if (sent === base.text) {
      this.mine = ChangeSet.empty(sent.length);
      this.tell();
      return;
    }
    this.since = ChangeSet.empty(sent.length);
    this.isFixed = false;
    await this.busy(async () => {
      const checked = await this.ground.check(base.seq, sent);
      const typed = this.since;
      if (typed === null) return; // it was discarded meanwhile
      this.fault = null;
      if ("fault" in checked) this.fault = checked.fault;
      else if (checked.operations.length === 0 || this.ground.perform(checked.operations, base.seq) !== null) this.taken(sent, typed);
      else this.isForgotten = true;
    });
    this.since = null;
    this.tell();
    this.moved();
  }

  /** The draft has, or will have, this text. */
  private taken(text: string, typed: ChangeSet): void {
    this.base = { seq: this.base.seq, text };
    this.mine = typed;
    this.isAwaiting = true;
  }

  private async read(): Promise<void> {
    await this.busy(async () => {
      const served = await this.ground.read();
      const { seq, settled } = this.ground.standing();
      const isFirst = this.base.seq < 0;
      if ((!settled && !isFirst) || served.seq < this.base.seq) return; // it is read again when the session stands still
      const theirs = ChangeSet.of(changesBetween(this.base.text, served.text), this.base.text.length);
      const arriving = theirs.map(this.mine);
      this.mine = this.mine.map(theirs, true);
      this.base = served;
      this.isAwaiting = false;
      this.isForgotten = false;
      if (isFirst || !arriving.empty) {
        this.shown = arriving.apply(this.shown);
        this.arrive(arriving);
      }
      if (this.isDirty && (this.fault === null || this.isFixed || !arriving.empty)) this.plan(CHECK_MS);
      if (seq > served.seq) this.moved();
    });
    this.tell();
  }

  private async busy(run: () => Promise<void>): Promise<void> {
    this.isBusy = true;
    this.tell();
    try {
      await run();
      this.problem = null;
    } catch (error) {
      this.problem = this.ground.why(error);
      this.again();
    } finally {
      this.isBusy = false;
    }
  }

  private again(): void {
    if (this.isClosed) return;
    this.ground.later(AGAIN_MS, () => {
      if (this.isClosed || this.isBusy) return;
      if (this.base.seq < 0 || this.isBehind) void this.read();
      else void this.check();
    });
  }

  private tell(): void {
    const { fault, problem } = this;
    this.state = { is: this.word(), fault: this.isDirty ? fault : null, problem };
    for (const listener of this.listeners) listener();
  }

  private word(): Writing["is"] {
    if (this.base.seq < 0) return "reading";
    if (this.fault !== null && this.isDirty) return "faulty";
    if (this.isBusy && this.since !== null) return "checking";
    if (this.isDirty) return "typing";
    return this.isAwaiting ? "saving" : "same";
  }
}
