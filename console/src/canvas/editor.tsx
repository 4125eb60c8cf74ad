/** The page of a draft: head, palette, canvas or outline, inspector, findings. */
import "./editor.css";
import { ReactFlowProvider } from "@xyflow/react";
import { lazy, memo, Suspense, useEffect, useState, useSyncExternalStore, type ReactElement } from "react";
import { MAX_DRAFT_BLOCKS } from "../editing/limits.ts";
import { Inspector } from "../inspector/inspector.tsx";
import { SavingQuestions, useSaving } from "../panes/saving.tsx";
import { useAddress } from "../ui/addresses.ts";
import { Bones, Failed } from "../ui/notices.tsx";
import { run } from "./commands.ts";
import type { Look } from "./desk.ts";
import { openDraft, type Opened } from "./opening.ts";
import { Icon } from "../ui/icons.tsx";
import { Findings, Tidings } from "./view/findings.tsx";
import { Flow } from "./view/flow.tsx";
import { Header, isTab, type Tab } from "./view/header.tsx";
import { useKeys } from "./view/keys.ts";
import { Outline } from "./view/outline.tsx";
import { Palette } from "./view/palette.tsx";
import { Questions } from "./view/questions.tsx";
import { seeing } from "./view/seen.ts";

const Canvas = seeing(Flow, ["listed", "question", "renaming", "open", "said"]);
const Rows = seeing(Outline, ["layout", "placed", "listed", "question", "open", "said"]);
const Kinds = memo(Palette);
const Panes = lazy(async () => ({ default: (await import("../panes/panes.tsx")).Panes }));

type State = { readonly is: "opening" } | { readonly is: "open"; readonly opened: Opened } | { readonly is: "failed"; readonly error: unknown };

export default function Editor({ id }: { readonly id: string }): ReactElement {
  const [state, setState] = useState<State>({ is: "opening" });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let opened: Opened | null = null;
    let left = false;
    setState({ is: "opening" });
    openDraft(id).then((made) => {
      opened = made;
      if (left) made.close();
      else setState({ is: "open", opened: made });
    }, (error: unknown) => { if (!left) setState({ is: "failed", error }); });
    return () => {
      left = true;
      opened?.close();
    };
  }, [id, attempt]);
  switch (state.is) {
    case "opening":
      return <div className="editor opening"><header className="head"><h1 className="cut">{id}</h1></header><div className="palette"><Bones lines={12} label="The draft is opening" /></div><main id="stage" /></div>;
    case "failed":
      return <Failed what={`The draft ${id} is not open.`} error={state.error} again={() => { setAttempt(attempt + 1); }} />;
    case "open":
      return <ReactFlowProvider><Bench opened={state.opened} /></ReactFlowProvider>;
  }
}

function Bench({ opened: { desk, room } }: { readonly opened: Opened }): ReactElement {
  const look = useSyncExternalStore(desk.subscribe, desk.snapshot);
  const { query } = useAddress();
  const small = useSmall();
  const saving = useSaving(room);
  const isLarge = useLarge(look);
  const tabs = small || isLarge ? WITHOUT_CANVAS : ALL;
  const asked = query.get("view");
  const tab: Tab = isTab(asked) && tabs.includes(asked) ? asked : (tabs[0] ?? "outline");
  useKeys(desk, saving.save);
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent): void => {
      const { status, kept } = desk.snapshot().draft;
      if (!kept && status.is !== "saved" && status.is !== "opening") event.preventDefault();
    };
    window.addEventListener("beforeunload", warn);
    return () => { window.removeEventListener("beforeunload", warn); };
  }, [desk]);
  const empty = look.graph.blocks.size === 0;
  const inGraph = tab === "canvas" || tab === "outline";
  return (
    <div className={`editor${look.draft.canEdit ? "" : " readonly"}${inGraph ? "" : " whole"}`}>
      <Header desk={desk} look={look} room={room} tab={tab} tabs={tabs} saving={saving} />
      {inGraph ? <Kinds desk={desk} canEdit={look.draft.canEdit} /> : null}
      <main id="stage">
        {tab === "canvas" ? <><Canvas desk={desk} look={look} room={room} /><Tools look={look} act={(action) => { run(desk, action); }} /></>
          : tab === "outline" ? <Rows desk={desk} look={look} />
            : <Suspense fallback={null}><Panes pane={tab} desk={desk} look={look} room={room} save={saving.save} /></Suspense>}
        {empty && inGraph ? <Empty canEdit={look.draft.canEdit} add={() => { run(desk, "add"); }} /> : null}
        <Tidings look={look} room={room} />
      </main>
      {inGraph ? <Inspector desk={desk} look={look} room={room} /> : null}
      <Findings desk={desk} look={look} />
      <Questions desk={desk} look={look} />
      <SavingQuestions desk={desk} look={look} room={room} saving={saving} />
      <p className="hidden" role="status">{look.said}</p>
    </div>
  );
}

function Tools({ look, act }: { readonly look: Look; readonly act: (action: "add" | "fit" | "zoomIn" | "zoomOut" | "tidy") => void }): ReactElement {
  return (
    <div className="tools" role="toolbar" aria-label="Canvas">
      <button className="tool named" type="button" title="Add a node (A)" disabled={!look.draft.canEdit} onClick={() => { act("add"); }}><Icon mark="plus" />Node</button>
      <i aria-hidden="true" />
      <button className="tool" type="button" title="Tidy (T)" aria-label="Tidy" disabled={!look.draft.canEdit || look.graph.places.size === 0} onClick={() => { act("tidy"); }}><Icon mark="layout" /></button>
      <button className="tool" type="button" title="Fit all (1)" aria-label="Fit all" onClick={() => { act("fit"); }}><Icon mark="fit" /></button>
      <i aria-hidden="true" />
      <button className="tool" type="button" title="Zoom out (-)" aria-label="Zoom out" onClick={() => { act("zoomOut"); }}><Icon mark="minus" /></button>
      <button className="tool" type="button" title="Zoom in (+)" aria-label="Zoom in" onClick={() => { act("zoomIn"); }}><Icon mark="plus" /></button>
    </div>
  );
}

function Empty({ canEdit, add }: { readonly canEdit: boolean; readonly add: () => void }): ReactElement {
  return (
    <div className="empty">
      <h2>This draft has no nodes yet</h2>
      <p className="quiet">A workflow begins with a node that starts it: <b>webhook</b>, <b>schedule</b>, <b>event</b> or <b>manual</b>. Drag one here, or press <kbd>A</kbd> and type its name. YAML with <code>nodes</code> can be pasted.</p>
      <button className="button first" type="button" disabled={!canEdit} onClick={add}>Add a node</button>
    </div>
  );
}

const ALL: readonly Tab[] = ["canvas", "outline", "yaml", "diff", "history"];
const WITHOUT_CANVAS: readonly Tab[] = ["outline", "yaml", "diff", "history"];

/** A draft that was opened with more blocks than a canvas draws stays without one. */
function useLarge(look: Look): boolean {
  const [isLarge, setLarge] = useState(look.graph.blocks.size > MAX_DRAFT_BLOCKS);
  if (!isLarge && look.graph.blocks.size > MAX_DRAFT_BLOCKS) setLarge(true);
  return isLarge;
}

const narrow = matchMedia("(max-width: 640px)");

function useSmall(): boolean {
  return useSyncExternalStore((listener) => {
    narrow.addEventListener("change", listener);
    return () => { narrow.removeEventListener("change", listener); };
  }, () => narrow.matches);
}
