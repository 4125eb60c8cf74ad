/** The text of a note as it is typed: kept whole when others type in it too. */
import { useRef, type ReactElement } from "react";
import { useKeptCaret } from "../../ui/forms/caret.ts";
import type { Desk } from "../desk.ts";
import { MAX_NOTE_CHARACTERS, typeNote, type Note } from "./notes.ts";

const PAUSE_MS = 400; // typing without a pause is one action to undo

export function NoteText({ desk, note, label, canEdit, focus, className, left }: {
  readonly desk: Desk; readonly note: Note; readonly label: string; readonly canEdit: boolean; readonly focus: boolean; readonly className: string; readonly left: () => void;
}): ReactElement {
  const area = useRef<HTMLTextAreaElement>(null);
  const last = useRef(0);
  useKeptCaret(area, note.text);
  return (
    <textarea ref={area} className={className} aria-label={label} value={note.text} readOnly={!canEdit} maxLength={MAX_NOTE_CHARACTERS} autoFocus={focus} placeholder="Write a note"
      onFocus={(event) => { event.target.setSelectionRange(note.text.length, note.text.length); }}
      onChange={(event) => {
        const now = performance.now();
        desk.edit(typeNote(desk.view, note.tail, event.target.value), { typed: true, join: now - last.current < PAUSE_MS });
        last.current = now;
      }}
      onBlur={() => { desk.draft.flush(); left(); }}
      onKeyDown={(event) => {
        if (event.key === "Escape") document.querySelector<HTMLElement>("[data-keys]")?.focus();
        else if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "z") {
          event.preventDefault();
          if (event.shiftKey) desk.redo();
          else desk.undo();
        }
      }} />
  );
}
