/** A note on the canvas: a text that is typed in place, with a corner that is dragged. */
import "./notes.css";
import type { Node, NodeProps } from "@xyflow/react";
import { createContext, memo, useContext, useRef, useState, type PointerEvent, type ReactElement } from "react";
import type { Desk } from "../desk.ts";
import { changeNote, LEAST_HEIGHT, LEAST_WIDTH, type Note } from "./notes.ts";
import { NoteText } from "./text.tsx";

export interface NoteData extends Record<string, unknown> {
  readonly note: Note;
  readonly writing: boolean;
  readonly canEdit: boolean;
}

export type NoteNode = Node<NoteData, "note">;

/** Set by the canvas: the cards are drawn by React Flow, which hands them data only. */
export const NoteDesk = createContext<Desk | null>(null);

const GRID = 4;

export const NoteCard = memo(function NoteCard({ data: { note, writing, canEdit }, selected }: NodeProps<NoteNode>): ReactElement | null {
  const desk = useContext(NoteDesk);
  if (desk === null) return null;
  return (
    <div className={selected ? "note selected" : "note"} data-colour={note.colour}>
      {writing && canEdit ? <NoteText desk={desk} note={note} label="Note" canEdit focus className="nodrag nopan nowheel" left={() => { desk.change({ writing: null }); }} />
        : <p className={note.text.trim() === "" ? "quiet" : ""}>{note.text.trim() === "" ? "Double-click to write" : note.text}</p>}
      {selected && canEdit ? <Corner desk={desk} note={note} /> : null}
    </div>
  );
});

/** While it is dragged the card has the size in the page; the draft hears of it when it is dropped. */
function Corner({ desk, note }: { readonly desk: Desk; readonly note: Note }): ReactElement {
  const from = useRef<{ readonly x: number; readonly y: number; readonly scale: number } | null>(null);
  const [size, setSize] = useState<readonly [number, number] | null>(null);
  const sized = (event: PointerEvent<HTMLElement>): readonly [number, number] | null => {
    const begun = from.current;
    if (begun === null) return null;
    const grown = (length: number, by: number, least: number): number => Math.max(least, Math.round((length + by / begun.scale) / GRID) * GRID);
    return [grown(note.width, event.clientX - begun.x, LEAST_WIDTH), grown(note.height, event.clientY - begun.y, LEAST_HEIGHT)];
  };
  const show = (event: PointerEvent<HTMLElement>): void => {
    const made = sized(event);
    if (made === null) return;
    setSize(made);
    const card = event.currentTarget.closest<HTMLElement>(".note");
    if (card !== null) [card.style.width, card.style.height] = [`${made[0]}px`, `${made[1]}px`];
  };
  const drop = (event: PointerEvent<HTMLElement>): void => {
    const made = sized(event);
    from.current = null;
    setSize(null);
    const card = event.currentTarget.closest<HTMLElement>(".note");
    if (card !== null) [card.style.width, card.style.height] = ["", ""];
    if (made !== null) desk.edit(changeNote(desk.snapshot().notes, note.tail, { w: made[0], h: made[1] }));
  };
  return (
    <span className="note-corner nodrag nopan" title={size === null ? "Drag to resize" : `${size[0]} × ${size[1]}`} aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        const box = event.currentTarget.closest(".note")?.getBoundingClientRect();
        from.current = { x: event.clientX, y: event.clientY, scale: box === undefined ? 1 : box.width / note.width };
      }} onPointerMove={show} onPointerUp={drop} onPointerCancel={drop} />
  );
}
