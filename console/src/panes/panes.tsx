/** The views of a draft besides its canvas and its outline. */
import "./panes.css";
import { lazy, Suspense, type ReactElement } from "react";
import type { Desk, Look } from "../canvas/desk.ts";
import { Bones } from "../ui/notices.tsx";
import type { Room } from "../wire/room.ts";
import DiffPane from "./diff.tsx";
import HistoryPane from "./history.tsx";

const TextPane = lazy(async () => ({ default: (await import("./text/texts.ts")).TextPane }));

export type Pane = "yaml" | "diff" | "history";

export function Panes({ pane, desk, look, room, save }: {
  readonly pane: Pane; readonly desk: Desk; readonly look: Look; readonly room: Room; readonly save: () => void;
}): ReactElement {
  return (
    <Suspense fallback={<Bones lines={12} label="The view is loading" />}>
      {pane === "yaml" ? <TextPane desk={desk} look={look} room={room} save={save} /> : pane === "diff" ? <DiffPane desk={desk} look={look} room={room} /> : <HistoryPane look={look} room={room} />}
    </Suspense>
  );
}
