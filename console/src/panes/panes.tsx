/** The views of a draft other than its canvas and its outline. */
import "./panes.css";
import type { ReactElement } from "react";
import type { Desk, Look } from "../canvas/desk.ts";
import { Bones } from "../ui/loading/notices.tsx";
import { part } from "../ui/loading/part.tsx";
import type { OpenDraft } from "../wire/draft/open_draft.ts";
import DiffPane from "./diff.tsx";
import HistoryPane from "./history.tsx";

const TextPane = part(async () => (await import("./text/texts.ts")).TextPane, () => <Bones lines={12} label="The view is loading" />);

export type Pane = "yaml" | "diff" | "history";

export function Panes({ pane, desk, look, openDraft, save }: {
  readonly pane: Pane; readonly desk: Desk; readonly look: Look; readonly openDraft: OpenDraft; readonly save: () => void;
}): ReactElement {
  switch (pane) {
    case "yaml":
      return <TextPane desk={desk} look={look} openDraft={openDraft} save={save} />;
    case "diff":
      return <DiffPane desk={desk} look={look} openDraft={openDraft} />;
    case "history":
      return <HistoryPane look={look} openDraft={openDraft} />;
  }
}
