/** The page of a draft: head, palette, canvas or outline, inspector, findings. */
import "./editor.css";
import { ReactFlowProvider } from "@xyflow/react";
import { memo, useCallback, useEffect, useMemo, useState, useSyncExternalStore, type ReactElement } from "react";
import { MAX_DRAFT_BLOCKS } from "../editing/tables.ts";
import { Inspector } from "../inspector/inspector.tsx";
import { SavingQuestions, useSaving } from "../panes/saving.tsx";
import "../testruns/bar.css";
import { TestBar } from "../testruns/bar.tsx";
import { TestingContext } from "../testruns/marks.tsx";
import { TestQuestions } from "../testruns/questions.tsx";
import { follow, hrefOf, useAddress, workflowPath } from "../ui/addresses.ts";
import { Bones, Failed } from "../ui/loading/notices.tsx";
import { dialog, part } from "../ui/loading/part.tsx";
import { useSmall } from "../ui/theme/switching.ts";
import { useNodeInAddress } from "./addressing.ts";
import { run } from "./commands.ts";
import type { Desk, Look } from "./desk.ts";
import { openDraft, type Opened } from "./opening.ts";
import { Icon } from "../ui/icons.tsx";
import { Empty } from "./page/empty.tsx";
import { Findings, Tidings } from "./page/findings.tsx";
import { Flow } from "./view/flow.tsx";
import { Header, isTab, type Tab } from "./page/header.tsx";
import { useKeys } from "./keyboard/keys.ts";
import { Outline } from "./page/outline.tsx";
import { Palette } from "./choosing/palette.tsx";
import { Questions } from "./choosing/questions.tsx";
import { seeing } from "./page/seen.ts";
import { Tied } from "./page/tied.tsx";

const Canvas = seeing(Flow, ["listed", "question", "renaming", "open", "said"]);
const Rows = seeing(Outline, ["layout", "placed", "listed", "question", "open", "said"]);
const Kinds = memo(Palette);
const About = dialog(async () => (await import("./page/aside.ts")).About);
const Panes = part(async () => (await import("./page/aside.ts")).Panes);

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
      return <div className="editor opening"><header className="head"><h1 className="cut">{id}</h1><div className="head-tabs" aria-hidden="true" /></header><div className="palette"><Bones lines={12} label="The draft is opening" /></div><main id="stage" /></div>;
    case "failed":
      return <Failed what={`Could not open the draft ${id}.`} error={state.error} again={() => { setAttempt(attempt + 1); }}><a className="button" href={hrefOf(workflowPath(id))} onClick={follow(workflowPath(id))}>Look at the workflow</a></Failed>;
    case "open":
      return <ReactFlowProvider><Bench opened={state.opened} /></ReactFlowProvider>;
  }
}

function Bench({ opened: { desk, openDraft, tests } }: { readonly opened: Opened }): ReactElement {
  const look = useSyncExternalStore(desk.subscribe, desk.snapshot);
  const { query } = useAddress();
  const small = useSmall();
  const saving = useSaving(openDraft);
  const isLarge = useLarge(look);
  const tabs = small || isLarge ? WITHOUT_CANVAS : ALL;
  const asked = query.get("view");
  const tab: Tab = isTab(asked) && tabs.includes(asked) ? asked : (tabs[0] ?? "outline");
  useKeys(desk, useSave(desk, look, saving.save));
  useNodeInAddress(desk, look, openDraft.draft);
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent): void => {
      const { status, kept } = desk.snapshot().draft;
      if (!kept && status.is !== "saved" && status.is !== "opening") event.preventDefault();
    };
    window.addEventListener("beforeunload", warn);
    return () => { window.removeEventListener("beforeunload", warn); };
  }, [desk]);
  const testing = useMemo(() => ({ desk, tests }), [desk, tests]);
  const empty = look.graph.blocks.size === 0 && look.notes.size === 0;
  const inGraph = tab === "canvas" || tab === "outline";
  return (
    <TestingContext value={testing}>
    <div className={classOf(look, inGraph)}>
      <Header desk={desk} look={look} openDraft={openDraft} tab={tab} tabs={tabs} saving={saving} />
      {inGraph ? <Side desk={desk} look={look} /> : null}
      <main id="stage">
        {inGraph ? <TestBar openDraft={openDraft} tests={tests} /> : null}
        {tab === "canvas" ? <><Canvas desk={desk} look={look} openDraft={openDraft} /><Tools look={look} act={(action) => { run(desk, action); }} /></>
          : tab === "outline" ? <Rows desk={desk} look={look} />
            : <Panes pane={tab} desk={desk} look={look} openDraft={openDraft} save={saving.save} />}
        {empty && inGraph ? <Empty desk={desk} canEdit={look.draft.canEdit} /> : null}
        <Tidings desk={desk} look={look} openDraft={openDraft} />
      </main>
      {inGraph ? <Inspector desk={desk} look={look} openDraft={openDraft} /> : null}
      <Findings desk={desk} look={look} />
      <Questions desk={desk} look={look} draft={openDraft.draft} />
      <AboutAsked desk={desk} look={look} openDraft={openDraft} />
      <TestQuestions desk={desk} look={look} openDraft={openDraft} tests={tests} />
      <SavingQuestions desk={desk} look={look} openDraft={openDraft} saving={saving} />
      <p className="hidden" role="status">{look.said}</p>
    </div>
    </TestingContext>
  );
}

function AboutAsked({ desk, look, openDraft }: { readonly desk: Desk; readonly look: Look; readonly openDraft: Opened["openDraft"] }): ReactElement | null {
  if (look.question?.is !== "about") return null;
  return <About openDraft={openDraft} canEdit={look.draft.canEdit} close={() => { desk.change({ question: null }); }} />;
}

function classOf({ draft, made }: Look, inGraph: boolean): string {
  return ["editor", draft.canEdit ? "" : "readonly", inGraph ? "" : "whole", inGraph && made !== null ? "with-source" : ""].filter(Boolean).join(" ");
}

/** The panel next to the graph: what can be added, or the source that the graph was compiled from. */
function Side({ desk, look }: { readonly desk: Desk; readonly look: Look }): ReactElement {
  return look.made === null ? <Kinds desk={desk} canEdit={look.draft.canEdit} /> : <Tied desk={desk} look={look} made={look.made} />;
}

/** A draft that was compiled has no file of its own to be saved to. */
function useSave(desk: Desk, { made }: Look, save: () => void): () => void {
  const flush = useCallback(() => { desk.draft.flush(); }, [desk]);
  return made === null ? save : flush;
}

function Tools({ look, act }: { readonly look: Look; readonly act: (action: "add" | "note" | "fit" | "zoomIn" | "zoomOut" | "tidy") => void }): ReactElement {
  return (
    <div className="tools" role="toolbar" aria-label="Canvas">
      <button className="tool named" type="button" title="Add a node (A)" disabled={!look.draft.canEdit} onClick={() => { act("add"); }}><Icon mark="plus" />Node</button>
      <button className="tool" type="button" title="Add a note (N)" aria-label="Add a note" disabled={!look.draft.canEdit} onClick={() => { act("note"); }}><Icon mark="note" /></button>
      <i aria-hidden="true" />
      <button className="tool" type="button" title="Tidy (T)" aria-label="Tidy" disabled={!look.draft.canEdit || look.graph.places.size === 0} onClick={() => { act("tidy"); }}><Icon mark="layout" /></button>
      <button className="tool" type="button" title="Fit all (1)" aria-label="Fit all" onClick={() => { act("fit"); }}><Icon mark="fit" /></button>
      <i aria-hidden="true" />
      <button className="tool" type="button" title="Zoom out (-)" aria-label="Zoom out" onClick={() => { act("zoomOut"); }}><Icon mark="minus" /></button>
      <button className="tool" type="button" title="Zoom in (+)" aria-label="Zoom in" onClick={() => { act("zoomIn"); }}><Icon mark="plus" /></button>
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
