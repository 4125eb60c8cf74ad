/**
 * Where a person is in the list of runs: how far it is scrolled, and which run is active. It is kept with the entry of the browser's
 * history, so that Back comes to the same place, and a link to the list begins at its top.
 */
import { useEffect, useRef, useState, type RefObject } from "react";
import type { Head } from "./merging.ts";

interface Place {
  readonly top: number;
  readonly active: string;
}

const PAUSE_MS = 100;

function placeNow(): Place | null {
  const held: unknown = history.state;
  if (typeof held !== "object" || held === null || !("top" in held) || !("active" in held)) return null;
  return typeof held.top === "number" && typeof held.active === "string" ? { top: held.top, active: held.active } : null;
}

/** `height` is that of a row; `look` has rows read on, up to one of them. */
export function usePlace(box: RefObject<HTMLElement | null>, rows: readonly Head[], whole: boolean, active: number, height: number, look: (from: number, to: number) => void, setActive: (place: number) => void): void {
  const [former] = useState(placeNow);
  const isBack = useRef(former === null); // there, as far as it can be
  const now = useRef("");
  now.current = rows[active]?.id ?? "";
  useEffect(() => {
    const element = box.current;
    if (isBack.current || former === null || element === null) return;
    const row = Math.floor(former.top / height);
    const end = row + Math.ceil(element.clientHeight / height);
    if (rows.length < end && !whole) {
      look(row, end);
      return;
    }
    const place = rows.findIndex(({ id }) => id === former.active);
    if (place >= 0 && place !== active) {
      setActive(place); // which scrolls to its row: the list is scrolled back after that
      return;
    }
    isBack.current = true;
    element.scrollTop = former.top;
  }, [box, former, rows, whole, active, height, look, setActive]);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const keep = (): void => { if (isBack.current) history.replaceState({ top: element.scrollTop, active: now.current } satisfies Place, ""); };
    const soon = (): void => {
      clearTimeout(timer);
      timer = setTimeout(keep, PAUSE_MS);
    };
    keep();
    element.addEventListener("scroll", soon, { passive: true });
    return () => {
      clearTimeout(timer);
      element.removeEventListener("scroll", soon);
    };
  }, [box, active]);
}
