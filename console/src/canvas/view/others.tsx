/** The others on the canvas: who they are, and their cursors in their colours. */
import { ViewportPortal, useStore } from "@xyflow/react";
import { useRef, useSyncExternalStore, type ReactElement } from "react";
import type { Person } from "../../wire/draft/people.ts";
import type { OpenDraft } from "../../wire/draft/open_draft.ts";

/** Who is there and what they have selected: the same list while they only move their cursors, which happens many times a second. */
export function usePeople(openDraft: OpenDraft): readonly Person[] {
  const held = useRef<readonly Person[]>([]);
  return useSyncExternalStore(openDraft.people.subscribe, () => {
    const now = openDraft.people.snapshot();
    if (!alike(held.current, now)) held.current = now;
    return held.current;
  });
}

function alike(left: readonly Person[], right: readonly Person[]): boolean {
  return left.length === right.length && left.every((one, place) => {
    const other = right[place];
    return other !== undefined && one.client === other.client && one.name === other.name && one.colour === other.colour && one.selection === other.selection;
  });
}

export function Cursors({ openDraft }: { readonly openDraft: OpenDraft }): ReactElement {
  const people = useSyncExternalStore(openDraft.people.subscribe, openDraft.people.snapshot);
  const zoom = useStore((state) => state.transform[2]);
  return (
    <ViewportPortal>
      {people.map(({ client, name, colour, cursor }) => cursor === null ? null : (
        <div key={client} className="cursor" data-person={colour} style={{ transform: `translate(${cursor.x}px, ${cursor.y}px) scale(${1 / zoom})` }} aria-hidden="true">
          <svg width="16" height="16" viewBox="0 0 16 16"><path d="M2 2l4.600 11.500 1.700-5.200L13.500 6.600 2 2Z" /></svg>
          <span>{name}</span>
        </div>
      ))}
    </ViewportPortal>
  );
}
