/** The inbox of open questions, answered in place, and who decided what. */
import "./inbox.css";
import { useCallback, useEffect, useMemo, useState, type ReactElement } from "react";
import { APPROVALS, follow, go, hrefOf, runPath, useAddress } from "../ui/addresses.ts";
import { Bar } from "../ui/bar/bar.tsx";
import { counted } from "../ui/words/formats.ts";
import { Bones, Failed, Fault, Stale } from "../ui/loading/notices.tsx";
import { verbOf } from "../ui/forms/answer_fields.ts";
import { When } from "../ui/words/times.tsx";
import { useWorkflows } from "../ui/workflow_ids.ts";
import { requestPlain } from "../wire/api.ts";
import { serverNow } from "../wire/clock.ts";
import type { DecisionsOut } from "../wire/contract.ts";
import { setTally } from "../wire/tallies.ts";
import { Question } from "./answer.tsx";
import type { Approval } from "./answer_form.tsx";
import { AGAIN_MS, readOne, usePolled } from "./polling.ts";
import { useKeys } from "./keys.ts";
import { addressOf, apart, askedOf, keyOf, merged, pathAfter, pathOf, type Asked, type Open } from "./questions.ts";
import { Together } from "./together.tsx";

const EXAMPLE = `manager:
  type: approval
  after: score
  with:
    message: Refund <order.body.amount>?
    approvers: [ada@example.com]
    timeout: 2d`;
const DUES = [["0s", "Overdue"], ["24h", "Due in 24 hours"], ["7d", "Due in 7 days"]] as const;
const DECIDED = `${APPROVALS}?show=decided`;

export default function Approvals(): ReactElement {
  const { query } = useAddress();
  const [decided, asked] = [query.get("show") === "decided", askedOf(query)];
  useEffect(() => { document.title = "Approvals · Stepless"; }, []);
  return (
    <div className="page">
      <Bar at="approvals" />
      <main className="inbox">
        <div className="page-title"><h1>Approvals</h1>
          <nav className="inbox-views" aria-label="Approvals">
            <a href={hrefOf(APPROVALS)} onClick={follow(APPROVALS)} aria-current={decided ? undefined : "page"}>Open</a>
            <a href={hrefOf(DECIDED)} onClick={follow(DECIDED)} aria-current={decided ? "page" : undefined}>Decided</a>
          </nav>
        </div>
        {decided ? <Decisions /> : <><Filters asked={asked} /><Questions key={addressOf(asked)} asked={asked} /></>}
      </main>
    </div>
  );
}

/** The first pages of the open questions, as often as a person has asked for more. Many are read less often. */
function usePages(path: string, pages: number): ReturnType<typeof usePolled<Open>> {
  const read = useCallback(async (first: string, signal: AbortSignal): Promise<Open> => {
    let found = await readOne(first, signal) as Open;
    for (let page = 1; page < pages && found.cursor !== null; page += 1) found = merged(found, await readOne(pathAfter(first, found.cursor), signal) as Open);
    return { ...found, pages };
  }, [pages]);
  return usePolled<Open>(path, AGAIN_MS * pages, read);
}

function Filters({ asked }: { readonly asked: Asked }): ReactElement {
  const workflows = useWorkflows();
  const set = (change: Partial<Asked>): void => { go(APPROVALS + addressOf({ ...asked, ...change })); };
  const known = asked.workflow === "" || workflows.includes(asked.workflow) ? workflows : [asked.workflow, ...workflows];
  const dues = DUES.some(([due]) => due === asked.due) || asked.due === "" ? DUES : [[asked.due, `Due in ${asked.due}`] as const, ...DUES];
  return (
    <search className="inbox-filters" aria-label="Filters">
      <select className={asked.workflow === "" ? "field" : "field set"} aria-label="Workflow" value={asked.workflow} onChange={(event) => { set({ workflow: event.target.value }); }}>
        <option value="">Any workflow</option>{known.map((id) => <option key={id} value={id}>{id}</option>)}</select>
      <select className={asked.due === "" ? "field" : "field set"} aria-label="Due" value={asked.due} onChange={(event) => { set({ due: event.target.value }); }}>
        <option value="">Any deadline</option>{dues.map(([due, said]) => <option key={due} value={due}>{said}</option>)}</select>
      <button className={asked.mine ? "button small set" : "button small"} type="button" aria-pressed={asked.mine} onClick={() => { set({ mine: !asked.mine }); }}>Assigned to me</button>
    </search>
  );
}

/** Which questions are unfolded, and which are chosen. One that is alone is unfolded when it is first seen. */
function useMarked(open: readonly Approval[] | null): { readonly opened: ReadonlySet<string>; readonly chosen: ReadonlySet<string>; readonly unfold: (key: string) => void; readonly choose: (key: string) => void; readonly clear: () => void } {
  const [opened, setOpened] = useState<ReadonlySet<string> | null>(null);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [only] = open ?? [];
  if (opened === null && open !== null) setOpened(new Set(open.length === 1 && only !== undefined ? [keyOf(only)] : []));
  return {
    opened: opened ?? new Set(), chosen,
    unfold: (key) => { setOpened((old) => toggled(old ?? new Set(), key)); }, choose: (key) => { setChosen((old) => toggled(old, key)); }, clear: () => { setChosen(new Set()); },
  };
}

function toggled(old: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(old);
  if (!next.delete(key)) next.add(key);
  return next;
}

function Questions({ asked }: { readonly asked: Asked }): ReactElement {
  const [pages, setPages] = useState(1);
  const [path] = useState(() => pathOf(asked, serverNow()));
  const { found, at, error, again } = usePages(path, pages);
  const [said, setSaid] = useState("");
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const [together, setTogether] = useState<string | null>(null);
  const isFiltered = addressOf(asked) !== "";
  useEffect(() => { if (found !== null && !isFiltered) setTally("approvals", { count: found.count, more: found.at_least }); }, [found, isFiltered]);
  const open = useMemo(() => (found?.approvals ?? []).filter((one) => !gone.has(keyOf(one))), [found, gone]);
  const { opened, chosen, unfold, choose, clear } = useMarked(found === null ? null : open);
  const picked = open.filter((one) => chosen.has(keyOf(one)));
  const why = apart(picked);
  useKeys(picked.length === 0 ? null : (exit) => { if (why === "") setTogether(exit); }, together !== null);
  if (found === null) return error === null ? <Bones lines={9} label="The questions are loading" /> : <Failed what="Could not load the questions." error={error} again={again} />;
  const left = (keys: readonly string[], text: string): void => {
    setSaid(text);
    setGone(new Set([...gone, ...keys]));
    again();
  };
  return (
    <>
      <p role="status" className="inbox-said">{said}</p>
      {error === null ? null : <Stale error={error} at={at} again={again} />}
      {open.length === 0 && found.cursor === null ? <None isFiltered={isFiltered} /> : (
        <>
          <Chosen count={picked.length} why={why} exits={picked[0]?.exits ?? []} open={setTogether} clear={clear} />
          <ul className="questions" aria-label="Open questions">{open.map((one) => (
            <Question key={keyOf(one)} asked={one} decidingAs={found.deciding_as} isOpen={opened.has(keyOf(one))} isChosen={chosen.has(keyOf(one))}
              onOpen={() => { unfold(keyOf(one)); }} onChoose={() => { choose(keyOf(one)); }} onDecided={(text) => { left([keyOf(one)], text); }} />
          ))}</ul>
        </>
      )}
      <More found={found} shown={open.length} isReading={found.pages < pages && error === null} more={() => { setPages(found.pages + 1); }} />
      {found.unreadable.length > 0 ? <p className="fault">{counted(found.unreadable.length, "run")} cannot be read: {found.unreadable.join(", ")}</p> : null}
      {together === null ? null : <Together questions={picked} first={together} decidingAs={found.deciding_as} onClose={(results) => {
        setTogether(null);
        if (results.length === 0) return;
        clear();
        left(results.map((one) => keyOf(one.asked)), `${counted(results.filter((one) => one.said === "").length, "answer")} recorded.`);
      }} />}
    </>
  );
}

function More({ found, shown, isReading, more }: { readonly found: Open; readonly shown: number; readonly isReading: boolean; readonly more: () => void }): ReactElement | null {
  if (found.cursor === null && !found.at_least) return null;
  return (
    <p className="quiet">{shown.toLocaleString("en")} of {found.at_least ? "at least " : ""}{counted(found.count, "question")} {shown === 1 ? "is" : "are"} shown.
      {found.cursor === null ? null : <> <button className="button small" type="button" disabled={isReading} onClick={more}>{isReading ? "Reading…" : "Show more"}</button></>}</p>
  );
}

function None({ isFiltered }: { readonly isFiltered: boolean }): ReactElement {
  if (isFiltered) return <div className="empty-page"><h2>No matching questions</h2><p>Remove a filter to see more.</p><a className="button small" href={hrefOf(APPROVALS)} onClick={follow(APPROVALS)}>Show all questions</a></div>;
  return (
    <div className="empty-page"><h2>No open questions</h2>
      <p>An <code>approval</code> node asks a person before its run continues. The question is answered here, or with the link that the node sends.</p>
      <pre tabIndex={0} aria-label="An approval node"><code>{EXAMPLE}</code></pre></div>
  );
}

/** What is done with the chosen questions; how keys do it where none is chosen. */
function Chosen({ count, why, exits, open, clear }: { readonly count: number; readonly why: string; readonly exits: readonly string[]; readonly open: (exit: string) => void; readonly clear: () => void }): ReactElement {
  if (count === 0) return <p className="inbox-chosen quiet"><span className="with-keys">Tick several of one node to answer them at once. <kbd>↑</kbd> <kbd>↓</kbd> move, <kbd>Enter</kbd> unfolds, <kbd>x</kbd> ticks, <kbd>a</kbd> approves, <kbd>r</kbd> rejects.</span></p>;
  return (
    <div className="inbox-chosen">
      <b role="status">{counted(count, "question")} chosen</b><button className="button small" type="button" onClick={clear}>Clear selection</button>
      {why === "" ? exits.map((exit) => <button key={exit} className="button small" type="button" onClick={() => { open(exit); }}>{verbOf(exit)}…</button>) : <span className="hint">{why}.</span>}
    </div>
  );
}

function Decisions(): ReactElement {
  const { found, at, error, again } = usePolled<DecisionsOut>("/approvals/decisions");
  const [older, setOlder] = useState<DecisionsOut | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  if (found === null) return error === null ? <Bones lines={9} label="The decisions are loading" /> : <Failed what="Could not load the decisions." error={error} again={again} />;
  const { cursor } = older ?? found;
  const known = new Map([...found.decisions, ...older?.decisions ?? []].map((one) => [`${one.run_id} ${one.pause} ${one.at}`, one]));
  const more = (): void => {
    requestPlain("GET", `/approvals/decisions?cursor=${encodeURIComponent(cursor ?? "")}`).then((answer) => {
      const page = answer as DecisionsOut;
      setOlder({ decisions: [...known.values(), ...page.decisions], cursor: page.cursor });
      setFault(null);
    }, setFault);
  };
  if (known.size === 0 && cursor === null) return <div className="empty-page"><h2>No decisions yet</h2><p>Each decision is listed here for a year: what was decided, by whom and why.</p></div>;
  return (
    <>
      {error === null ? null : <Stale error={error} at={at} again={again} />}
      <ul className="decisions">{[...known].map(([key, one]) => (
        <li key={key}>
          <p><b>{(one.decision ?? "answered").replaceAll("_", " ")}</b> by {one.by ?? "an unnamed person"} <span className="quiet"><When at={one.at} /></span></p>
          <p><a href={hrefOf(runPath(one.run_id))} onClick={follow(runPath(one.run_id))}>{one.workflow ?? one.run_id}</a> <span className="quiet">{one.pause}</span></p>
          {one.comment === null ? null : <p className="quiet">{one.comment}</p>}
        </li>
      ))}</ul>
      {fault === null ? null : <Fault error={fault} />}
      {cursor === null ? null : <p><button className="button small" type="button" onClick={more}>Show more</button></p>}
    </>
  );
}
