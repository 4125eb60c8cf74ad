/** The panel of a node: how its instances stand, and all that is known of one of them. */
import { useEffect, useState, type ReactElement } from "react";
import { runPath } from "../../../ui/addresses.ts";
import { Icon } from "../../../ui/icons.tsx";
import { Status } from "../../../ui/status.tsx";
import { requestPlain } from "../../../wire/api.ts";
import { nameOf, said, total, turnsOf, turnsSaid } from "../../../runstate/counts.ts";
import { Instance } from "./instance.tsx";
import type { RunLook } from "../../../runstate/store.ts";
import type { PanelProps } from "./props.ts";
import type { NodeSummary, TimePage } from "../../../runstate/types.ts";

export function Panel(props: PanelProps): ReactElement {
  const { look, path, instance, onRerun, onClose } = props;
  const summary = look.nodes.get(path);
  const block = look.graph?.blocks.get(path);
  return (
    <aside className="panel" aria-label={`Node ${nameOf(path)}`}>
      <header className="panel-head">
        <div>
          <h2 className="cut" title={path}>{nameOf(path)}</h2>
          <p className="quiet">{[block?.type ?? "", ...saidOf(summary)].filter(Boolean).join(" · ")}</p>
        </div>
        <span className="head-gap" />
        {look.head?.draft !== null || (path.includes("@") && instance === "") ? null : <button className="button small" type="button" onClick={() => { onRerun(instance === "" ? path : instance); }}>Rerun from here…</button>}
        <button className="tool" type="button" aria-label="Close" title="Close (Esc)" onClick={onClose}><Icon mark="close" /></button>
      </header>
      <div className="panel-body">
        {summary !== undefined && total(summary.counts) > 1 ? <Instances {...props} /> : null}
        {instance === "" ? (summary === undefined ? <p className="quiet">This node has not started in this run.</p> : null) : <Instance key={instance} {...props} />}
      </div>
    </aside>
  );
}

function saidOf(summary: NodeSummary | undefined): readonly string[] {
  if (summary === undefined) return ["not started"];
  return [total(summary.counts) > 1 ? said(summary.counts) : "", summary.turns > 0 ? turnsSaid(summary) : ""];
}

/** The first instance to show: the first that failed, else the first of all. */
export function useFirst(id: string, path: string, look: RunLook): string {
  const [found, setFound] = useState<readonly [path: string, instance: string]>(["", ""]);
  const summary = look.nodes.get(path);
  const failed = summary?.failed[0] ?? "";
  const wanted = path !== "" && summary !== undefined && failed === "";
  useEffect(() => {
    if (!wanted) return;
    let left = false;
    requestPlain("GET", `${runPath(id)}/timeline?node=${encodeURIComponent(path)}&limit=1`).then((page) => {
      const first = (page as TimePage).rows.find((row) => row.path === path);
      if (!left) setFound([path, first?.instance ?? ""]);
    }, () => { if (!left) setFound([path, path.includes("@") ? "" : path]); }); // the reading of the instance says why
    return () => { left = true; };
  }, [id, path, wanted]);
  if (failed !== "") return failed;
  return found[0] === path ? found[1] : path.includes("@") ? "" : path;
}

function Instances({ look, path, instance, onInstance, onTimeline }: PanelProps): ReactElement {
  const summary = look.nodes.get(path);
  const [typed, setTyped] = useState("");
  const failed = summary?.failed ?? [];
  const count = summary?.counts["failed"] ?? 0;
  return (
    <section className="panel-instances" aria-label="Instances">
      {failed.length === 0 ? null : (
        <div><span className="label">{count === 1 ? "Failed instance" : `First of ${count.toLocaleString("en")} failed instances`}</span>
          <ul>{failed.map((one) => <li key={one}><button type="button" className="link" aria-pressed={one === instance} onClick={() => { onInstance(one); }}><Status status="failed">{turnsOf(one) || one}</Status></button></li>)}</ul></div>
      )}
      <form onSubmit={(event) => { event.preventDefault(); if (typed.trim() !== "") onInstance(typed.trim()); }}>
        <label className="label" htmlFor="panel-instance">Instance</label>
        <span className="panel-pick"><input id="panel-instance" className="field" value={typed === "" ? instance : typed} spellCheck={false} onChange={(event) => { setTyped(event.target.value); }} onBlur={() => { setTyped(""); }} />
          <button className="button small" type="button" onClick={() => { onTimeline(path); }}>Show in timeline</button></span>
      </form>
    </section>
  );
}
