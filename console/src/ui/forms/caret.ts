/** Keeps the caret of a field of text where it is while others change the text around it. */
import { useEffect, useLayoutEffect, useRef } from "react";
import { middle } from "../../editing/values/differences.ts";

type Area = HTMLTextAreaElement | HTMLInputElement;

export function useKeptCaret(area: { readonly current: Area | null }, text: string): void {
  const former = useRef(text);
  const caret = useRef<readonly [number, number]>([0, 0]);
  useEffect(() => {
    const field = area.current;
    if (field === null) return;
    const note = (): void => { caret.current = [field.selectionStart ?? 0, field.selectionEnd ?? 0]; };
    const typed = (): void => { // the other event comes later, when fast typing has gone on already
      former.current = field.value;
      note();
    };
    document.addEventListener("selectionchange", note);
    field.addEventListener("input", typed);
    return () => {
      document.removeEventListener("selectionchange", note);
      field.removeEventListener("input", typed);
    };
  }, [area]);
  useLayoutEffect(() => { // before the event that says where the new text has put the caret
    const field = area.current;
    const before = former.current;
    former.current = text;
    if (field === null || document.activeElement !== field || before === text) return;
    if (field.selectionEnd === text.length && caret.current[1] < before.length) {
      const [start, removed, fresh] = middle(before, text);
      const moved = caret.current.map((place) => (place <= start ? place : Math.max(start, place - removed) + fresh.length));
      field.setSelectionRange(moved[0] ?? 0, moved[1] ?? 0);
    }
    caret.current = [field.selectionStart ?? 0, field.selectionEnd ?? 0];
  }, [area, text]);
}
