/** Frames a form: its keys, the people in it, and the errors of its values. */
import "./forms.css";
import { useMemo, type KeyboardEvent, type ReactElement, type ReactNode } from "react";
import type { Desk, Look } from "../../canvas/desk.ts";
import type { Block } from "../../canvas/model/graph.ts";
import type { OpenDraft } from "../../wire/draft/open_draft.ts";
import { Bench } from "./control.ts";
import { Wrong } from "./one.tsx";
import type { Placed } from "./placing.ts";

/** `at`: the key of the entity that the form edits. */
export function Frame({ desk, openDraft, at, label, placed, children }: {
  readonly desk: Desk; readonly openDraft: OpenDraft; readonly at: string; readonly label: string; readonly placed: readonly Placed[]; readonly children: ReactNode;
}): ReactElement {
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === "Escape") document.querySelector<HTMLElement>("[data-keys]")?.focus();
    else if ((event.metaKey || event.ctrlKey) && !event.altKey && event.key.toLowerCase() === "z") {
      event.preventDefault();
      if (event.shiftKey) desk.redo();
      else desk.undo();
    }
  };
  return (
    <Wrong value={placed}>
      <div className="form" role="group" aria-label={label} onKeyDown={pressed} onFocus={() => { openDraft.line.at({ field: at }); }} onBlur={(event) => {
        if (event.currentTarget.contains(event.relatedTarget)) return;
        openDraft.line.at({ field: null });
        desk.draft.flush();
      }}>{children}</div>
    </Wrong>
  );
}

export function useBench(desk: Desk, look: Look, openDraft: OpenDraft, block: Block): Bench {
  const { canEdit } = look.draft;
  return useMemo(() => new Bench(desk, openDraft, `block/${block.tail}`, canEdit), [desk, openDraft, block.tail, canEdit]);
}
