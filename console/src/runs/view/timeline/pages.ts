/** The rows of a timeline by their place, read in pages around what is in view. */
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { requestPlain } from "../../../wire/api.ts";
import { runPath } from "../../../ui/addresses.ts";
import type { TimePage, TimeRow } from "../../../runstate/types.ts";

export interface Asked {
  readonly id: string;
  readonly node: string;
  readonly status: string;
  readonly from: number | null;
  readonly to: number | null;
}

interface Found {
  readonly total: number;
  readonly known: boolean;
  readonly error: unknown;
  readonly turn: number; // counts changes
}

const PAGE = 200;

export class TimePages {
  private now: Found = { total: 0, known: false, error: null, turn: 0 };
  private readonly rows = new Map<number, readonly TimeRow[]>();
  private readonly stale = new Set<number>();
  private readonly listeners = new Set<() => void>();
  private readonly leaving = new AbortController();
  private view: readonly [number, number] = [0, 1];
  private busy = false;

  constructor(private readonly asked: Asked) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => { this.listeners.delete(listener); };
  };

  readonly snapshot = (): Found => this.now;

  row(place: number): TimeRow | undefined {
    return this.rows.get(Math.floor(place / PAGE))?.[place % PAGE];
  }

  look(from: number, to: number): void {
    this.view = [from, Math.max(to, from + 1)];
    void this.fill();
  }

  /** The run has changed: pages that are in view are read again, others when they come into view. */
  changed(): void {
    for (const page of this.rows.keys()) this.stale.add(page);
    this.stale.add(0);
    void this.fill();
  }

  again(): void {
    this.set({ error: null });
    void this.fill();
  }

  close(): void {
    this.leaving.abort();
  }

  private wanted(): number | undefined {
    const [first, last] = [Math.floor(this.view[0] / PAGE), Math.floor(this.view[1] / PAGE)];
    const near = Array.from({ length: last - first + 3 }, (_, place) => first + place).map((page) => page === last + 2 ? first - 1 : page);
    return near.find((page) => page >= 0 && (page === 0 || page * PAGE < this.now.total) && (!this.rows.has(page) || this.stale.has(page)));
  }

  private async fill(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      for (let page = this.wanted(); page !== undefined && this.now.error === null && !this.leaving.signal.aborted; page = this.wanted()) {
        const query = new URLSearchParams({ after: String(page * PAGE), limit: String(PAGE) });
        if (this.asked.node !== "") query.set("node", this.asked.node);
        if (this.asked.status !== "") query.set("status", this.asked.status);
        if (this.asked.from !== null) query.set("from_ms", String(this.asked.from));
        if (this.asked.to !== null) query.set("to_ms", String(this.asked.to));
        const found = await requestPlain("GET", `${runPath(this.asked.id)}/timeline?${query.toString()}`, undefined, this.leaving.signal) as TimePage;
        this.rows.set(page, found.rows);
        this.stale.delete(page);
        this.set({ total: found.total, known: true });
      }
    } catch (error) {
      if (!this.leaving.signal.aborted) this.set({ error });
    } finally {
      this.busy = false;
    }
  }

  private set(change: Partial<Found>): void {
    this.now = { ...this.now, ...change, turn: this.now.turn + 1 };
    for (const listener of this.listeners) listener();
  }
}

export function useTimePages(asked: Asked, sequence: number): Found & { readonly source: TimePages } {
  const source = useMemo(() => new TimePages(asked), [asked]);
  useEffect(() => () => { source.close(); }, [source]);
  useEffect(() => { source.changed(); }, [source, sequence]);
  const found = useSyncExternalStore(source.subscribe, source.snapshot);
  return { ...found, source };
}
