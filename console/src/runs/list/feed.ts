/**
 * The runs of a filter, as an external store. Pages are read ahead of what is in view, so that no row is ever blank; the newest page
 * and the pages in view that have runs in progress are read again every few seconds.
 */
import { requestPlain } from "../../wire/api.ts";
import { serverNow } from "../../wire/clock.ts";
import { isEnded } from "../../wire/statuses.ts";
import { toQuery, type Filters } from "./filters.ts";
import { extended, merged, type Head, type RunPage } from "./merging.ts";

const PAGE = 200;
const AHEAD = 800; // rows behind the view
const LIVE_MS = 3_000;
const MAX_EMPTY = 25; // pages of a search in a row that found nothing, before a person is asked to go on: 50,000 runs

export interface Feed {
  readonly rows: readonly Head[];
  readonly whole: boolean; // there are no more
  readonly loading: boolean;
  readonly stopped: boolean; // a search that has read much and found nothing
  readonly error: unknown;
  readonly at: number; // when the newest page was read
}

const NOTHING: Feed = { rows: [], whole: false, loading: true, stopped: false, error: null, at: 0 };

export class RunFeed {
  private now: Feed = NOTHING;
  private readonly listeners = new Set<() => void>();
  private readonly leaving = new AbortController();
  private readonly query: string;
  private cursor: string | null = null;
  private wanted = 0;
  private busy = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private bounds: { readonly cursor: string | null; readonly first: string | null }[] = [];
  private view: readonly [from: number, to: number] = [0, 0];

  constructor(filters: Filters) {
    this.query = toQuery(filters, serverNow()).toString();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => { this.listeners.delete(listener); };
  };

  readonly snapshot = (): Feed => this.now;

  open(): void {
    void this.again();
    document.addEventListener("visibilitychange", this.onVisible);
  }

  close(): void {
    this.leaving.abort();
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.onVisible);
  }

  /** The rows in view; those behind them are read ahead. */
  look(from: number, to: number): void {
    this.view = [from, to];
    this.wanted = to + AHEAD;
    void this.fill();
  }

  /** Reads on after a search that has stopped. */
  goOn(): void {
    this.set({ stopped: false });
    void this.fill();
  }

  /** Begins anew: also after an error. */
  async again(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    clearTimeout(this.timer);
    try {
      const page = await this.page(null);
      this.bounds = [{ cursor: null, first: null }];
      this.cursor = page.cursor;
      this.set({ rows: page.runs, whole: page.cursor === null, loading: page.runs.length === 0 && page.cursor !== null, stopped: false, error: null, at: serverNow() });
    } catch (error) {
      this.failed(error);
    } finally {
      this.busy = false;
    }
    await this.fill();
    this.later();
  }

  private async fill(): Promise<void> {
    if (this.busy || this.leaving.signal.aborted) return;
    this.busy = true;
    let empty = 0;
    try {
      while (!this.now.whole && !this.now.stopped && this.now.error === null && this.now.rows.length < Math.max(this.wanted, 1) && this.cursor !== null) {
        const asked = this.cursor;
        const page = await this.page(asked);
        empty = page.runs.length === 0 ? empty + 1 : 0;
        if (page.runs.length > 0) this.bounds.push({ cursor: asked, first: page.runs[0]?.id ?? null });
        this.cursor = page.cursor;
        const rows = extended(this.now.rows, page);
        this.set({ rows, whole: page.cursor === null, loading: rows.length === 0 && page.cursor !== null && empty < MAX_EMPTY, stopped: empty >= MAX_EMPTY });
      }
    } catch (error) {
      this.failed(error);
    } finally {
      this.busy = false;
    }
  }

  /** Reads the newest page, and the one in view where something goes on in it. */
  private async refresh(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      const first = await this.page(null);
      const rows = merged(this.now.rows, first, 0);
      if (rows === null || (this.cursor === null && first.cursor !== null && this.now.rows.length === 0)) {
        this.bounds = [{ cursor: null, first: null }];
        this.cursor = first.cursor;
        this.set({ rows: first.runs, whole: first.cursor === null, error: null, at: serverNow() });
      } else {
        this.set({ rows, error: null, at: serverNow() });
        await this.refreshView();
      }
    } catch (error) {
      this.failed(error);
    } finally {
      this.busy = false;
    }
    void this.fill();
  }

  private async refreshView(): Promise<void> {
    const [from, to] = this.view;
    const moving = this.now.rows.findIndex((row, place) => place >= Math.max(from, PAGE) && place < to && !isEnded(row.status));
    if (moving < 0) return;
    const starts = new Map(this.now.rows.map((row, place) => [row.id, place]));
    const bound = this.bounds.findLast(({ first }) => first !== null && (starts.get(first) ?? Infinity) <= moving);
    const start = starts.get(bound?.first ?? "");
    if (bound === undefined || start === undefined) return;
    const rows = merged(this.now.rows, await this.page(bound.cursor), start);
    if (rows !== null) this.set({ rows });
  }

  private async page(cursor: string | null): Promise<RunPage> {
    const from = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    return await requestPlain("GET", `/runs?limit=${PAGE}${this.query === "" ? "" : `&${this.query}`}${from}`, undefined, this.leaving.signal) as RunPage;
  }

  private failed(error: unknown): void {
    if (!this.leaving.signal.aborted) this.set({ error, loading: false });
  }

  private readonly onVisible = (): void => {
    if (!document.hidden) this.tick();
  };

  private tick(): void {
    clearTimeout(this.timer);
    if (this.leaving.signal.aborted || document.hidden) return;
    void this.refresh().finally(() => { this.later(); });
  }

  private later(): void {
    clearTimeout(this.timer);
    if (!this.leaving.signal.aborted) this.timer = setTimeout(() => { this.tick(); }, LIVE_MS);
  }

  private set(change: Partial<Feed>): void {
    if (this.leaving.signal.aborted) return;
    this.now = { ...this.now, ...change };
    for (const listener of this.listeners) listener();
  }
}
