/** The notes as React Flow takes them, below the edges and the blocks. What has not changed is the same object as before. */
import type { Look } from "../desk.ts";
import { lies, type Area } from "../view/area.ts";
import type { Drags } from "../view/nodes.ts";
import type { NoteNode } from "./card.tsx";
import type { Note } from "./notes.ts";

const BELOW = -1;
const NONE: NoteNode[] = [];

/** The id of a note's node: blocks are named by their tails alone. */
export const nodeId = (tail: string): string => `note/${tail}`;
/** The tail of the note that a node stands for; null for a block's. */
export const noteOfNode = (id: string): string | null => (id.startsWith("note/") ? id.slice("note/".length) : null);

export class NoteNodes {
  private former = new Map<string, { readonly node: NoteNode; readonly from: readonly unknown[] }>();
  private nodes: NoteNode[] = NONE;

  of(look: Pick<Look, "notes" | "chosen" | "writing" | "draft">, drags: Drags, area: Area | null): NoteNode[] {
    if (area === null || look.notes.size === 0) return NONE;
    const next = new Map<string, { node: NoteNode; from: readonly unknown[] }>();
    for (const note of look.notes.values()) {
      const selected = look.chosen.has(note.tail);
      const drag = drags.get(nodeId(note.tail));
      if (!selected && drag === undefined && !lies({ ...note, left: note.x, top: note.y }, area)) continue;
      const from = [note, selected, look.writing === note.tail, look.draft.canEdit, drag];
      const held = this.former.get(note.tail);
      next.set(note.tail, held !== undefined && held.from.every((one, place) => one === from[place]) ? held : { node: nodeOf(note, look, drag), from });
    }
    this.former = next;
    const made = [...next.values()].map((one) => one.node);
    if (made.length !== this.nodes.length || made.some((node, place) => node !== this.nodes[place])) this.nodes = made;
    return this.nodes;
  }
}

function nodeOf(note: Note, look: Pick<Look, "chosen" | "writing" | "draft">, drag: { readonly x: number; readonly y: number } | undefined): NoteNode {
  return {
    id: nodeId(note.tail), type: "note", position: drag ?? { x: note.x, y: note.y }, width: note.width, height: note.height, zIndex: BELOW,
    selected: look.chosen.has(note.tail), connectable: false, data: { note, writing: look.writing === note.tail, canEdit: look.draft.canEdit },
  };
}
