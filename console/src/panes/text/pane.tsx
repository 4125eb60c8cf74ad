/** The draft as the text of its author: typed in, checked after a pause, and followed while others change the draft. */
import { useEffect, useRef, useState, useSyncExternalStore, type ReactElement } from "react";
import type { Desk, Look } from "../../canvas/desk.ts";
import { Icon } from "../../ui/icons.tsx";
import { Bones } from "../../ui/loading/notices.tsx";
import type { OpenDraft } from "../../wire/draft/open_draft.ts";
import { TextEditor } from "../../source/text/editor.ts";
import { keepingOf } from "./keeping.ts";
import type { Manuscript, Writing } from "./writing.ts";

export default function TextPane({ desk, look, openDraft, save }: { readonly desk: Desk; readonly look: Look; readonly openDraft: OpenDraft; readonly save: () => void }): ReactElement {
  const keeping = keepingOf(openDraft);
  const { manuscript } = keeping;
  const writing = useSyncExternalStore(manuscript.subscribe, manuscript.snapshot);
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<TextEditor>(null);
  const isRead = writing.is !== "reading";
  const { canEdit } = look.draft;

  useEffect(() => {
    manuscript.reopen();
    return () => { manuscript.flush(); };
  }, [manuscript]);
  useEffect(() => {
    if (host.current === null || !isRead) return;
    const made = new TextEditor({
      host: host.current, text: manuscript.text, label: keeping.format === "json" ? "Workflow as JSON" : "Workflow as YAML", canEdit: desk.snapshot().draft.canEdit,
      typed: (changes) => { manuscript.typed(changes); },
      step: (by) => { if (by === "undo") desk.undo(); else desk.redo(); },
      save: () => {
        manuscript.flush();
        save();
      },
      focused: (there) => {
        openDraft.line.at({ field: there ? "text" : null });
        if (!there) manuscript.flush();
      },
    });
    editor.current = made;
    manuscript.arrive = (changes) => { made.arrive(changes); };
    return () => {
      manuscript.arrive = () => undefined;
      editor.current = null;
      made.close();
    };
  }, [desk, isRead, keeping, manuscript, openDraft, save]);
  useEffect(() => { editor.current?.allow(canEdit); }, [canEdit, isRead]);
  useEffect(() => { editor.current?.mark(writing.fault?.line ?? null); }, [writing.fault, isRead]);
  useEffect(() => { if (writing.is === "same" || writing.is === "saving") editor.current?.forget(); }, [writing.is]);

  return (
    <section className="text-pane" aria-label={keeping.format === "json" ? "JSON" : "YAML"}>
      <Bar openDraft={openDraft} canEdit={canEdit} writing={writing} />
      {isRead ? <div ref={host} className="text-host" /> : writing.problem === null ? <Bones lines={16} label="The text is loading" /> : null}
      <Foot writing={writing} manuscript={manuscript} goTo={(line, column) => { editor.current?.goTo(line, column); }} />
    </section>
  );
}

const WORDS: Readonly<Record<Writing["is"], string>> = {
  reading: "Loading", same: "The draft has this text", typing: "Not checked yet", checking: "Checking", saving: "Saving", faulty: "Not in the draft yet",
};

function Bar({ openDraft, canEdit, writing }: { readonly openDraft: OpenDraft; readonly canEdit: boolean; readonly writing: Writing }): ReactElement {
  const [said, setSaid] = useState("");
  const keeping = keepingOf(openDraft);
  const copy = (): void => {
    navigator.clipboard.writeText(keeping.served).then(() => { setSaid("Copied"); }, () => { setSaid("The browser did not allow it: select the text, and copy it."); });
  };
  return (
    <div className="pane-bar">
      <span className={`text-state ${writing.is}`} role="status">{writing.is === "same" ? <Icon mark="check" size={14} /> : <i className="dot" />}{WORDS[writing.is]}</span>
      <span className="head-gap" />
      <span className="quiet" role="status">{said}</span>
      {canEdit ? (
        <>
          <button className="button small" type="button" disabled={writing.is === "reading"} onClick={copy}>Copy</button>
          <button className="button small" type="button" disabled={writing.is === "reading"} onClick={() => { download(`${openDraft.draft}.${keeping.format}`, keeping.served); }}>Download</button>
        </>
      ) : null}
    </div>
  );
}

function Foot({ writing, manuscript, goTo }: { readonly writing: Writing; readonly manuscript: Manuscript; readonly goTo: (line: number, column: number | null) => void }): ReactElement | null {
  const { fault, problem } = writing;
  if (fault === null && problem === null) return null;
  return (
    <div className="pane-fault" role="alert">
      <Icon mark={fault === null ? "warning" : "error"} size={14} />
      {fault === null ? <span>{problem} Retrying automatically.</span> : (
        <>
          <span>{fault.line === null ? "" : <b>Line {fault.line}{fault.column === null ? "" : `, column ${fault.column}`}: </b>}{fault.message} <span className="quiet">{fault.mend}</span></span>
          {fault.line === null ? null : <button className="button small" type="button" onClick={() => { goTo(fault.line ?? 1, fault.column); }}>Show</button>}
          <button className="button small" type="button" onClick={() => { manuscript.discard(); }}>Discard what was typed</button>
        </>
      )}
    </div>
  );
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
