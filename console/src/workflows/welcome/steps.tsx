/** The first five steps on a new server. Each ticks itself off once it is done. */
import "./welcome.css";
import { useEffect, useState, type ReactElement } from "react";
import { APPROVALS, draftPath, follow, hrefOf, workflowPath } from "../../ui/addresses.ts";
import { useDrafts } from "../../ui/drafts.ts";
import { Icon } from "../../ui/icons.tsx";
import { doneSteps, keepSteps, keptSteps, STEPS, type Step } from "./done.ts";
import type { Fleet } from "../reading.ts";

const WORDS: Readonly<Record<Step, string>> = { begin: "Begin a workflow", test: "Test it", publish: "Publish it", run: "Start a run", decide: "Answer an approval" };

/** Where a step is done; null where it is done on this page, or cannot be done yet. */
function pathOf(step: Step, { listed, drafts }: Fleet): string | null {
  const [draft, workflow] = [drafts[0]?.workflow, listed[0]?.workflow];
  if (step === "decide") return APPROVALS;
  if (step === "run") return workflow === undefined ? null : workflowPath(workflow, "start");
  return step === "begin" || draft === undefined ? null : draftPath(draft);
}

export function Steps({ found }: { readonly found: Fleet }): ReactElement | null {
  const [done, setDone] = useState(() => keptSteps());
  const hasDrafts = useDrafts();
  const isHidden = !hasDrafts || done === null || done.size === STEPS.length;
  useEffect(() => {
    if (isHidden) return;
    let left = false;
    void doneSteps(found, done).then((now) => {
      if (left || now.size === done.size) return;
      keepSteps(now);
      setDone(now);
    });
    return () => { left = true; };
  }, [found, done, isHidden]);
  if (isHidden) return null;
  return (
    <section className="steps" aria-label="First steps">
      <div className="steps-head"><h2>First steps, {done.size} of {STEPS.length}</h2><button className="button small" type="button" onClick={() => { keepSteps(null); setDone(null); }}>Hide</button></div>
      <ol>{STEPS.map((step) => {
        const path = done.has(step) ? null : pathOf(step, found);
        return <li key={step} className={done.has(step) ? "done" : ""}>{done.has(step) ? <Icon mark="check" size={14} /> : <i />}{path === null ? WORDS[step] : <a href={hrefOf(path)} onClick={follow(path)}>{WORDS[step]}</a>}{done.has(step) ? <span className="hidden"> done</span> : null}</li>;
      })}</ol>
    </section>
  );
}
