/** The view of a person: told to the others as it changes, and followed by those who want to see what this person sees. */
import { getViewportForBounds, useReactFlow, useStoreApi } from "@xyflow/react";
import { useEffect, type ReactElement } from "react";
import type { Person } from "../../wire/draft/people.ts";
import type { OpenDraft } from "../../wire/draft/open_draft.ts";
import type { Desk, Look } from "../desk.ts";

const LEAST_ZOOM = 0.02;
const MOST_ZOOM = 2;

/** While a person follows another one, nothing is told of the own view: two who follow each other would zoom out for ever. */
export function useFollowing(desk: Desk, openDraft: OpenDraft, following: string | null): void {
  const flow = useReactFlow();
  const store = useStoreApi();
  useEffect(() => {
    if (following !== null) return;
    let told: unknown = null;
    const tell = (): void => {
      const { transform, width, height } = store.getState();
      if (transform === told || width === 0) return;
      told = transform;
      const [x, y, zoom] = transform;
      openDraft.line.at({ view: { x: -x / zoom, y: -y / zoom, width: width / zoom, height: height / zoom } });
    };
    tell();
    return store.subscribe(tell);
  }, [openDraft, store, following]);
  useEffect(() => () => { openDraft.line.at({ view: null }); }, [openDraft]); // others can follow only a person who looks at the canvas
  useEffect(() => {
    if (following === null) return;
    let shown: unknown = null;
    const show = (): void => {
      const person = openDraft.people.list.find((one) => one.client === following);
      if (person === undefined) desk.change({ following: null });
      else if (person.view !== null && person.view !== shown) {
        shown = person.view;
        const { width, height } = store.getState();
        void flow.setViewport(getViewportForBounds(person.view, width, height, LEAST_ZOOM, MOST_ZOOM, 0));
      }
    };
    show();
    return openDraft.people.subscribe(show);
  }, [desk, flow, openDraft, store, following]);
}

export function Following({ desk, look, people }: { readonly desk: Desk; readonly look: Look; readonly people: readonly Person[] }): ReactElement | null {
  const person = people.find((one) => one.client === look.following);
  if (person === undefined) return null;
  return (
    <div className="following" data-person={person.colour}>
      <p role="status">Following {person.name} <button type="button" onClick={() => { desk.change({ following: null }); }}>Stop <kbd>Esc</kbd></button></p>
    </div>
  );
}
