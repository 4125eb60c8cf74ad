/** Shows a note in the inspector. */
import type { ReactElement } from "react";
import { Icon } from "../../ui/icons.tsx";
import { run } from "../commands.ts";
import type { Desk, Look } from "../desk.ts";
import { changeNote, COLOURS, type Note } from "./notes.ts";
import { NoteText } from "./text.tsx";

const NAMES = { yellow: "Yellow", green: "Green", blue: "Blue", pink: "Pink", gray: "Gray" } as const;

export function OfNote({ desk, look, note }: { readonly desk: Desk; readonly look: Look; readonly note: Note }): ReactElement {
  const { canEdit } = look.draft;
  return (
    <>
      <div className="inspector-head">
        <Icon mark="note" />
        <b>Note</b>
        <span className="head-gap" />
        <button className="tool" type="button" title="Duplicate (⌘ D)" aria-label="Duplicate" disabled={!canEdit} onClick={() => { run(desk, "duplicate"); }}><Icon mark="copy" /></button>
        <button className="tool" type="button" title="Delete (Del)" aria-label="Delete" disabled={!canEdit} onClick={() => { run(desk, "delete"); }}><Icon mark="trash" /></button>
        <button className="tool inspector-close" type="button" aria-label="Close" onClick={() => { desk.change({ open: false }); }}><Icon mark="close" /></button>
      </div>
      <div className="inspector-body note-panel">
        <NoteText key={look.writing === note.tail ? "writing" : "reading"} desk={desk} note={note} label="Text" canEdit={canEdit} focus={look.writing === note.tail && desk.viewer === null} className="field" left={() => { if (desk.viewer === null) desk.change({ writing: null }); }} />
        <fieldset className="note-colours" disabled={!canEdit}>
          <legend className="label">Colour</legend>
          {COLOURS.map((colour) => (
            <label key={colour} title={NAMES[colour]} data-colour={colour}>
              <input type="radio" name="note-colour" value={colour} checked={note.colour === colour} onChange={() => { desk.edit(changeNote(look.notes, note.tail, { colour })); }} />
              <span className="hidden">{NAMES[colour]}</span>
            </label>
          ))}
        </fieldset>
        <p className="hint">Notes are kept with the draft and its versions. They are no part of the document, and a run does not see them.</p>
      </div>
    </>
  );
}
