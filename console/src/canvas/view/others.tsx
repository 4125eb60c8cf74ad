/** The others on the canvas: their cursors, in their colours. */
import { ViewportPortal, useStore } from "@xyflow/react";
import { useSyncExternalStore, type ReactElement } from "react";
import type { Person } from "../../wire/people.ts";
import type { Room } from "../../wire/room.ts";

export function usePeople(room: Room): readonly Person[] {
  return useSyncExternalStore(room.people.subscribe, room.people.snapshot);
}

export function Cursors({ people }: { readonly people: readonly Person[] }): ReactElement {
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
