/**
 * One tab's session in a draft: an external store for a page, over a replica, its queue, and the server.
 *
 * What a person does is seen at once, kept in the tab's storage, and sent when it is due. Nothing waits for the network but the
 * opening. A method that changes something returns at once; `subscribe` says when the snapshot is another one.
 */
import type { Operation, LogEntry } from "../log/operations.ts";
import type { Editing } from "../replica/pending.ts";
import { Replica } from "../replica/replica.ts";
import { Entities } from "../state.ts";
import { board, fresh, orphan, revived, type Berth } from "./keeping/boarding.ts";
import { Keeper } from "./keeping/keeper.ts";
import { Written } from "./keeping/kept.ts";
import type { Touch } from "./losses.ts";
import type { Opening, Ports } from "./ports.ts";
import { Sender } from "./sending/sender.ts";
import type { Snapshot, Status, Why } from "./status.ts";
import { Work } from "./work.ts";

export class Session {
  private readonly work = new Work(new Replica("", new Entities()));
  private epoch = 0;
  private isOpen = false;
  private isClosed = false;
  private why: Why | null = null;
  private berth: Berth | null = null;
  private readonly written = new Written();
  private readonly keeper: Keeper;
  private readonly sender: Sender;
  private readonly listeners = new Set<() => void>();
  private seen: Snapshot | null = null;

  constructor(private readonly ports: Ports, private readonly draft: string) {
    const rows = ports.locks === null ? null : ports.rows;
    const now = (): number => Math.floor(ports.clock.now());
    const changes = (): Map<string, string | null> => this.written.changes(this.replica, draft, this.epoch, now(), this.work.listed);
    this.keeper = new Keeper(rows, changes, () => { this.changed(); });
    this.sender = new Sender(ports, {
      replica: () => this.replica, epoch: () => this.epoch, keep: () => this.keeper.save(), changed: () => { this.changed(); },
      hear: (item) => { this.hearEntry(item); }, stop: (why) => { this.stop(why); }, go: () => { this.go(); },
      gone: () => { this.logGone(); }, rename: () => this.rename(), idle: () => this.adopt(), notTaken: (code) => this.work.notTaken(code),
    });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** The same object until something changes. Its view is that of the moment: the next edit changes it. */
  readonly snapshot = (): Snapshot => {
    const { replica, report, listed } = this.work;
    this.seen ??= {
      view: replica.view, status: this.status, canEdit: this.canEdit, canUndo: replica.stacks.undos.length > 0, canRedo: replica.stacks.redos.length > 0,
      notices: report.list, listed, kept: this.keeper.keeps,
    };
    return this.seen;
  };

  get replica(): Replica {
    return this.work.replica;
  }

  private get status(): Status {
    if (this.why !== null) return { is: "read_only", why: this.why };
    if (!this.isOpen) return { is: "opening" };
    return this.work.isFull ? { is: "read_only", why: "full" } : this.sender.status;
  }

  private get canEdit(): boolean {
    return this.isOpen && this.why === null && !this.work.isFull;
  }

  private changed(): void {
    this.work.tell();
    this.seen = null;
    for (const listener of this.listeners) listener();
  }

  /** Keeps the work, and says that something changed. */
  private saved(): void {
    this.changed();
    void this.keeper.save();
  }

  /** Opens the draft and goes on with what this tab had. Rejects where the server is not reached; it can be called again. */
  async start(): Promise<void> {
    this.berth ??= await board(this.ports, this.draft);
    const { kept, keys } = this.berth;
    const opening = await this.ports.wire.open(kept?.seq ?? null);
    if (this.isClosed) {
      this.berth.release();
      return;
    }
    this.written.found(keys);
    this.work.listed = kept?.listed ?? [];
    if (kept !== null && kept.epoch === opening.epoch && opening.items !== null) {
      this.become(revived(this.berth, opening, opening.items), opening);
      return;
    }
    const waiting = [...(kept?.sent?.parts ?? []), ...(kept?.unsent ?? [])];
    this.work.listed = [...this.work.listed, ...waiting.map((part) => part.operation)];
    await this.begin(opening, kept === null ? this.berth : await fresh(this.ports));
  }

  /** After the draft was replaced: opens the one that there is now. What waited stays listed. */
  async reopen(): Promise<void> {
    const opening = await this.ports.wire.open(null);
    await this.begin(opening, await fresh(this.ports));
  }

  /** Starts as a client without a past. */
  private async begin(opening: Opening, berth: Berth): Promise<void> {
    const former = this.berth === berth ? null : this.berth;
    this.berth = berth;
    this.become(new Replica(berth.client, new Entities(opening.state), opening.seq), opening);
    await this.keeper.save(); // the rows of the former client are gone with this
    former?.release();
  }

  private become(replica: Replica, opening: Opening): void {
    this.work.replica = replica;
    this.epoch = opening.epoch;
    this.isOpen = true;
    this.why = null;
    this.ports.tab.remember(replica.client);
    this.sender.opened();
    this.saved();
  }

  /** Goes on under another client's id; the rows move with it. */
  private async board(berth: Berth): Promise<void> {
    const former = this.berth;
    this.berth = berth;
    this.ports.tab.remember(berth.client);
    await this.keeper.save();
    former?.release();
  }

  // -- editing -------------------------------------------------------------------------------------------------------------

  /** Does what a person asks. False where it is refused or does nothing; then a notice or the status says why. */
  edit(asked: Operation, how: Editing = {}): boolean {
    const first = !this.replica.unsent.some((part) => part.typed);
    return this.act(() => {
      const done = this.work.edit(asked, how);
      if (done && how.typed === true) this.sender.typed(first);
      return done;
    });
  }

  /** Does operations that were made over the log's state at `base`, as one action; null where they cannot be carried to here. */
  perform(asked: readonly Operation[], base: number): boolean | null {
    let done: boolean | null = null;
    this.act(() => (done = this.work.perform(asked, base)) === true);
    return done;
  }

  undo(): boolean {
    return this.act(() => this.replica.undo());
  }

  redo(): boolean {
    return this.act(() => this.replica.redo());
  }

  private act(run: () => boolean): boolean {
    if (!this.canEdit) return false;
    const done = run();
    this.saved();
    if (done) this.sender.pump();
    return done;
  }

  /** Sends what waits, for example because a field was left. */
  flush(): void {
    this.sender.flush();
  }

  tryNow(): void {
    this.sender.tryNow();
  }

  /** The blocks that others have open, by the tails of their keys. */
  beside(blocks: ReadonlySet<string>): void {
    this.sender.beside(blocks);
  }

  restore(id: number): boolean {
    return this.act(() => this.work.restore(id));
  }

  overwrite(id: number): boolean {
    return this.act(() => this.work.overwrite(id));
  }

  apply(listed: Operation): boolean {
    return this.act(() => this.work.apply(listed));
  }

  discard(listed: Operation): void {
    this.work.discard(listed);
    this.saved();
  }

  dismiss(id: number): void {
    this.work.report.dismiss(id);
    this.changed();
  }

  /** Who changed an entity last, and when, as far as this session saw it. */
  touch(key: string): Touch | null {
    return this.work.losses.touch(key);
  }

  // -- the server ----------------------------------------------------------------------------------------------------------

  /** A connection is there; messages can be sent. */
  connected(): void {
    this.sender.connected();
  }

  disconnected(): void {
    this.sender.disconnected();
  }

  /** Takes a message of the server. Throws a SyntaxError where it is malformed. */
  hear(said: string): void {
    this.sender.hear(said);
  }

  /** Stops all timers and gives the client's lock back. What waits stays in the tab's storage. */
  close(): void {
    this.isOpen = false;
    this.isClosed = true;
    this.sender.close();
    this.berth?.release();
  }

  private hearEntry(item: LogEntry): void {
    this.work.hear(item);
    if (item.closes !== null && item.seq === this.replica.seq) this.lose();
    this.saved();
  }

  private stop(why: Why): void {
    if (why === "replaced") this.lose();
    else this.why = why;
    this.saved();
  }

  private lose(): void {
    this.why = "replaced";
    this.work.lose();
    this.sender.stop();
  }

  /** The server takes this client's messages again. */
  private go(): void {
    if (this.why === "role" || this.why === "signed_out") this.why = null;
    this.changed();
  }

  private logGone(): void {
    this.stop("replaced");
    this.reopen().catch(() => { this.changed(); }); // not reached: it stays read-only, and a person can open it again
  }

  private async rename(): Promise<void> {
    const berth = await fresh(this.ports);
    this.replica.renamed(berth.client);
    return this.board(berth);
  }

  /** With nothing of its own to send, goes on as a client whose tab is gone while its work waits. */
  private async adopt(): Promise<void> {
    const { seq } = this.replica;
    const found = await orphan(this.ports, this.draft, this.replica.client);
    if (found === null || await this.adopted(found)) return;
    found.release(); // for the next tab that is opened, or for this one: it was busy
    this.sender.isSeeking = found.kept?.epoch === this.epoch && (this.replica.pending.length > 0 || this.replica.seq !== seq);
  }

  private async adopted(found: Berth): Promise<boolean> {
    const { kept } = found;
    const opening = await this.ports.wire.open(kept?.seq ?? null).catch(() => null);
    if (opening === null || opening.items === null || kept?.epoch !== this.epoch || opening.epoch !== this.epoch) return false;
    for (const item of opening.items) this.hearEntry(item);
    const { replica } = this;
    if (!this.canEdit || replica.pending.length > 0 || replica.seq !== opening.seq) return false;
    this.work.listed = [...this.work.listed, ...kept.listed];
    replica.adopt(revived(found, opening, opening.items));
    this.written.found(found.keys);
    await this.board(found);
    this.changed();
    this.sender.opened();
    return true;
  }
}
