/** Holds new runs back while the pointer is over the list, so that no row moves under it. */
import { useState } from "react";
import { placeOf, type Head } from "./merging.ts";

export interface Holding {
  readonly rows: readonly Head[]; // those that are shown
  readonly fresh: number; // how many runs are newer than those that were seen
  readonly over: (isOver: boolean) => void;
  readonly scrolled: (isAtTop: boolean) => void;
  readonly show: () => void;
}

/** The rows that are shown, and how many came after the newest that was seen. Pure. */
export function held(all: readonly Head[], seen: Head | null, isOver: boolean): Pick<Holding, "rows" | "fresh"> {
  const fresh = seen === null ? 0 : placeOf(all, seen);
  return { rows: isOver && fresh > 0 ? all.slice(fresh) : all, fresh };
}

export function useHolding(all: readonly Head[]): Holding {
  const [seen, setSeen] = useState<Head | null>(null);
  const [isOver, setIsOver] = useState(false);
  const [isAtTop, setIsAtTop] = useState(true);
  const first = all[0];
  const isSeen = seen === null || (!isOver && isAtTop);
  if (first !== undefined && isSeen && first.id !== seen?.id) setSeen(first); // during rendering: no frame shows the former
  return { ...held(all, seen, isOver), over: setIsOver, scrolled: setIsAtTop, show: () => { setSeen(first ?? null); } };
}
