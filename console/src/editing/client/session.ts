/**
 * One tab's session in a draft: an external store for a page, over a replica, its queue, and the server.
 *
 * What a person does is seen at once, kept in the tab's storage, and sent when it is due. Nothing waits for the network but the
 * opening. A method that changes something returns at once; `subscribe` says when the snapshot is another one.
 */
import { gesture, type Gesture, type Item } from "../gestures.ts";
import { MAX_INTENT_BYTES, MAX_INTENT_WRITES, MAX_KEPT_BYTES, MAX_KEPT_WRITES } from "../limits.ts";
import { gestureRead, gestureWritten } from "../messages.ts";
import type { Editing } from "../pending.ts";
import { Replica } from "../replica.ts";
import { expand, type Expanded } from "../rules/expanding.ts";
import { Entities, type State } from "../state.ts";
import { plain } from "../values.ts";
import { board, fresh, orphan, type Berth } from "./boarding.ts";
import { Keeper } from "./keeper.ts";
import { Written } from "./kept.ts";
import { Losses, taken, type Touch } from "./losses.ts";
import { Notices, type Told } from "./notices.ts";
import type { Opening, Ports } from "./ports.ts";
import { Sender } from "./sender.ts";
import { sizeOf } from "./sizes.ts";
import type { Status, Why } from "./status.ts";

/**
 * `listed` are gestures of a draft that is gone, or whose log is: they wait for a person's word. `kept`: the work outlives the tab.
 */
export interface Snapshot {
  readonly view: State;
  readonly status: Status;
  readonly canEdit: boolean;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  readonly notices: readonly Told[];
  readonly listed: readonly Gesture[];
  readonly kept: boolean;
}

export class Session {
  replica: Replica;
  private epoch = "";
  private isOpen = false;
  private why: Why | null = null;
  private berth: Berth | null = null;
  private listed: readonly Gesture[] = [];
  private readonly told = new Notices();
  private losses = new Losses();
  private readonly written = new Written();
  private readonly keeper: Keeper;
  private readonly sender: Sender;
  private readonly listeners = new Set<() => void>();
  private seen: Snapshot | null = null;

  constructor(private readonly ports: Ports, private readonly draft: string) {
    this.replica = new Replica("", new Entities());
    const rows = ports.locks === null ? null : ports.rows;
    const changes = (): Map<string, string | null> => this.written.changes(this.replica, draft, this.epoch, Math.floor(ports.clock.now()), this.listed);
    this.keeper = new Keeper(rows, changes, () => { this.changed(); });
    this.sender = new Sender(ports, {
      replica: () => this.replica, epoch: () => this.epoch, keep: () => this.keeper.save(), changed: () => { this.changed(); },
      hear: (item) => { this.hearItem(item); }, stop: (why) => { this.stop(why); }, gone: () => { this.logGone(); }, go: () => { this.go(); },
      rename: () => this.rename(), tooLarge: () => { this.tooLarge(); }, idle: () => this.adopt(),
    });
  }

  // -- the store -----------------------------------------------------------------------------------------------------------

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** The same object until something changes. Its view is that of the moment: it is changed by the next edit. */
  readonly snapshot = (): Snapshot => {
    this.seen ??= {
      view: this.replica.view, status: this.status, canEdit: this.canEdit, notices: this.told.list, listed: this.listed,
      canUndo: this.replica.undos.length > 0, canRedo: this.replica.redos.length > 0, kept: this.keeper.keeps,
    };
    return this.seen;
  };

  private get status(): Status {
    if (this.why !== null) return { is: "read_only", why: this.why };
    if (!this.isOpen) return { is: "opening" };
    return this.isFull ? { is: "read_only", why: "full" } : this.sender.status;
  }

  private get canEdit(): boolean {
    return this.isOpen && this.why === null && !this.isFull;
  }

  private get isFull(): boolean {
    let [writes, bytes] = [0, 0];
    for (const part of this.replica.pending) {
      writes += part.gesture.writes.length;
      bytes += sizeOf(part.gesture);
    }
    return writes >= MAX_KEPT_WRITES || bytes >= MAX_KEPT_BYTES;
  }

  private changed(): void {
    this.told.tell(this.replica.notices.splice(0), this.losses);
    this.seen = null;
    for (const listener of this.listeners) listener();
  }

  // -- opening -------------------------------------------------------------------------------------------------------------

  /** Opens the draft and goes on with what this tab had. Rejects where the server is not reached. */
  async start(): Promise<void> {
    this.berth ??= await board(this.ports, this.draft);
    const { kept, keys } = this.berth;
    const opening = await this.ports.wire.open(kept?.seq ?? null);
    this.written.found(keys);
    this.listed = kept?.listed ?? [];
    if (kept !== null && kept.epoch === opening.epoch && opening.items !== null) {
      this.become(revived(this.berth, opening, opening.items), opening);
      return;
    }
    const waiting = [...(kept?.sent?.parts ?? []), ...(kept?.unsent ?? [])];
    this.listed = [...this.listed, ...waiting.map((part) => part.gesture)];
    if (kept !== null) await this.board(await fresh(this.ports));
    this.become(new Replica(this.berth.client, new Entities(opening.state), opening.seq), opening);
  }

  /** After the draft was replaced: opens the one that there is now. What waited stays listed. */
  async reopen(): Promise<void> {
    const opening = await this.ports.wire.open(null);
    await this.board(await fresh(this.ports));
    this.become(new Replica(this.berth?.client ?? "", new Entities(opening.state), opening.seq), opening);
  }

  private async board(berth: Berth): Promise<void> {
    const former = this.berth;
    this.berth = berth;
    this.replica.client = berth.client; // the rows move with the next save
    await this.keeper.save();
    former?.release();
  }

  private become(replica: Replica, opening: Opening): void {
    replica.refuses = (asked) => (asked.writes.length > MAX_INTENT_WRITES || sizeOf(asked) > MAX_INTENT_BYTES ? "gesture_too_large" : null);
    this.replica = replica;
    this.epoch = opening.epoch;
    this.losses = new Losses();
    this.isOpen = true;
    this.why = null;
    this.ports.tab.remember(replica.client);
    this.sender.opened();
    this.changed();
    void this.keeper.save();
  }

  // -- editing -------------------------------------------------------------------------------------------------------------

  /** Does what a person asks. False where it is refused or does nothing; then a notice or the status says why. */
  edit(asked: Gesture, how: Editing = {}): boolean {
    const first = !this.replica.unsent.some((part) => part.typed);
    return this.act(() => {
      const done = this.replica.edit(plainGesture(asked), how);
      if (done && how.typed === true) this.sender.typed(first);
      return done;
    });
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
    this.changed();
    if (done) {
      void this.keeper.save();
      this.sender.pump();
    }
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

  // -- what a person answers -----------------------------------------------------------------------------------------------

  dismiss(id: number): void {
    this.told.dismiss(id);
    this.changed();
  }

  /** Brings back what others removed, and does what was lost with it, as one action. */
  restore(id: number): boolean {
    const told = this.told.find(id);
    if (told?.restore == null) return false;
    const back = told.restore;
    const done = this.act(() => {
      const came = this.replica.edit(back);
      return this.replica.edit(gesture(told.lost.writes), { join: came }) || came;
    });
    if (done) this.dismiss(id);
    return done;
  }

  /** Undoes or redoes what was refused because it was changed since, over that change. */
  overwrite(id: number): boolean {
    const told = this.told.find(id);
    if (told?.code !== "changed_since" || told.origin === "edit") return false;
    const entry = (told.origin === "undo" ? this.replica.undos : this.replica.redos).at(-1);
    if (entry === undefined) return false;
    entry.gesture = gesture(entry.gesture.writes);
    const done = told.origin === "undo" ? this.undo() : this.redo();
    if (done) this.dismiss(id);
    return done;
  }

  /** What a listed gesture would do now. */
  wouldDo(listed: Gesture): Expanded {
    return expand(this.replica.view, listed);
  }

  /** Does a listed gesture, without what it demanded of the draft that is gone. */
  apply(listed: Gesture): boolean {
    const done = this.edit(gesture(listed.writes));
    if (done) this.discard(listed);
    return done;
  }

  discard(listed: Gesture): void {
    this.listed = this.listed.filter((one) => one !== listed);
    this.changed();
    void this.keeper.save();
  }

  /** Who changed an entity last, and when, as far as this session saw it. */
  touch(key: string): Touch | null {
    return this.losses.touch(key);
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
    this.sender.close();
    this.berth?.release();
  }

  private hearItem(item: Item): void {
    const { replica } = this;
    replica.hear(item, (next) => {
      this.losses.note(next, replica.confirmed);
      if (next.tag === replica.sent?.tag || next.client === replica.client) return;
      for (const key of taken(replica.undos, next.effects)) {
        const removal = this.losses.removal(key);
        const restore = removal?.back ?? null;
        this.told.add({ code: "taken_along", key, by: next.by, refused: false, origin: "edit", lost: gesture([]), restore });
      }
    });
    if (item.closes !== null) this.lose();
    this.changed();
    void this.keeper.save();
  }

  private stop(why: Why): void {
    if (why === "replaced") this.lose();
    else this.why = why;
    this.changed();
  }

  /** The server takes this client's messages again. */
  private go(): void {
    if (this.why === "role" || this.why === "signed_out") this.why = null;
    this.changed();
  }

  /** What is not committed belongs to a log that is gone: it is listed. */
  private lose(): void {
    this.why = "replaced";
    this.listed = [...this.listed, ...this.replica.abandon().map((part) => part.gesture)];
    this.sender.stop();
    void this.keeper.save();
  }

  private logGone(): void {
    this.lose();
    this.changed();
    this.reopen().catch(() => { this.changed(); }); // not reached: it stays read-only, and a person can open it again
  }

  private async rename(): Promise<void> {
    const berth = await fresh(this.ports);
    this.replica.renamed(berth.client);
    this.ports.tab.remember(berth.client);
    await this.board(berth);
  }

  private tooLarge(): void {
    const { sent } = this.replica;
    const [only] = sent?.parts ?? [];
    if (sent === null || only === undefined) return;
    this.replica.recall();
    if (sent.parts.length > 1) {
      this.sender.fewer(Math.ceil(sent.parts.length / 2));
      return;
    }
    const outcome = { gesture: 0, code: "too_large", key: only.gesture.writes[0]?.[1] ?? "", by: null, refused: true, writes: only.gesture.writes };
    this.replica.notices.push({ outcome, gesture: only.gesture, origin: only.origin, sent: true });
    this.replica.withdraw(only);
  }

  /** With nothing of its own to send, goes on as a client whose tab is gone while its work waits. */
  private async adopt(): Promise<void> {
    const found = await orphan(this.ports, this.draft, this.replica.client);
    if (found?.kept == null) return;
    const opening = await this.ports.wire.open(found.kept.seq).catch(() => null);
    const { replica } = this;
    const isIdle = this.isOpen && this.why === null && replica.pending.length === 0;
    if (opening === null || !isIdle || opening.epoch !== this.epoch || found.kept.epoch !== this.epoch || opening.items === null) {
      found.release(); // it stays for the next time; what has another epoch, for the next tab
      return;
    }
    for (const item of opening.items) this.hearItem(item);
    if (replica.seq !== opening.seq || replica.pending.length > 0) {
      found.release();
      return;
    }
    const former = revived(found, opening, opening.items);
    this.listed = [...this.listed, ...found.kept.listed];
    replica.adopt(former);
    this.written.found(found.keys);
    await this.board(found);
    this.ports.tab.remember(found.client);
    this.changed();
    this.sender.opened();
  }
}

function revived(berth: Berth, opening: Opening, items: readonly Item[]): Replica {
  const { kept } = berth;
  const replica = new Replica(berth.client, new Entities(), kept?.seq ?? 0);
  if (kept !== null) {
    replica.n = kept.n;
    replica.sent = kept.sent;
    replica.unsent = [...kept.unsent];
    replica.undos = [...kept.undos];
    replica.redos = [...kept.redos];
  }
  replica.resume(new Entities(opening.state), items);
  return replica;
}

/** A gesture of a page, its numbers in the form that a draft has. */
function plainGesture(asked: Gesture): Gesture {
  return gestureRead(plain(gestureWritten(asked)));
}
