/** Which rows of a long list are drawn: those in view and a few around them. All rows have one height. */
import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from "react";
import { flushSync } from "react-dom";

export interface Shown {
  readonly from: number;
  readonly to: number; // exclusive
}

const AROUND = 12;

/** The rows that a scrolled box shows. Pure. */
export function rowsIn(top: number, height: number, row: number, count: number): Shown {
  const from = Math.max(0, Math.min(count, Math.floor(top / row)) - AROUND);
  return { from, to: Math.max(from, Math.min(count, Math.ceil((top + height) / row) + AROUND)) };
}

/** Where to scroll so that a row is in view; null where it is. Pure. */
export function revealing(place: number, top: number, height: number, row: number): number | null {
  if (place * row < top) return place * row;
  if ((place + 1) * row > top + height) return (place + 1) * row - height;
  return null;
}

export interface Virtual extends Shown {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly reveal: (place: number) => void;
}

export function useRows(count: number, row: number): Virtual {
  const box = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<Shown>({ from: 0, to: Math.min(count, 60) });
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    let frame = 0;
    const measure = (): void => {
      frame = 0;
      const next = rowsIn(element.scrollTop, element.clientHeight, row, count);
      setShown((old) => old.from === next.from && old.to === next.to ? old : next);
    };
    const soon = (): void => { // within the frame: else a fast scroll paints one without rows
      if (frame === 0) frame = requestAnimationFrame(() => { flushSync(measure); });
    };
    measure();
    element.addEventListener("scroll", soon, { passive: true });
    const sized = new ResizeObserver(soon);
    sized.observe(element);
    return () => {
      cancelAnimationFrame(frame);
      element.removeEventListener("scroll", soon);
      sized.disconnect();
    };
  }, [count, row]);
  const reveal = useCallback((place: number) => {
    const element = box.current;
    if (element === null) return;
    const top = revealing(place, element.scrollTop, element.clientHeight, row);
    if (top !== null) element.scrollTop = top;
  }, [row]);
  return { box, reveal, from: Math.min(shown.from, count), to: Math.min(shown.to, count) };
}
