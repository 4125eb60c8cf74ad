/** The inbox of open questions, answered in place, and who decided what. */
import "./inbox.css";
import { useCallback, useEffect, useState, type ReactElement } from "react";
import { APPROVALS, follow, hrefOf, runPath, useAddress } from "../ui/addresses.ts";
import { Bar } from "../ui/bar/bar.tsx";
import { counted } from "../ui/words/formats.ts";
import { Bones, Failed, Fault, Stale } from "../ui/loading/notices.tsx";
import { When } from "../ui/words/times.tsx";
import { requestPlain } from "../wire/api.ts";
import type { DecisionsOut } from "../wire/contract.ts";
import { setTally } from "../wire/tallies.ts";
import { Answer } from "./answer.tsx";
import { AGAIN_MS, readOne, usePolled } from "./polling.ts";
import { keyOf, merged, pathAfter, type Open } from "./questions.ts";

const EXAMPLE = `manager:
  type: approval
  after: score
  with:
    message: Refund <order.body.amount>?
    approvers: [ada@example.com]
    timeout: 2d`;
const DECIDED = `${APPROVALS}?show=decided`;

export default function Approvals(): ReactElement {
  const decided = useAddress().query.get("show") === "decided";
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
        {decided ? <Decisions /> : <Questions />}
      </main>
    </div>
  );
}

/** The first pages of the open questions, as often as a person has asked for more. Many are read less often. */
function usePages(pages: number): ReturnType<typeof usePolled<Open>> {
  const read = useCallback(async (path: string, signal: AbortSignal): Promise<Open> => {
    let found = await readOne(path, signal) as Open;
    for (let page = 1; page < pages && found.cursor !== null; page += 1) found = merged(found, await readOne(pathAfter(path, found.cursor), signal) as Open);
    return { ...found, pages };
  }, [pages]);
  return usePolled<Open>("/approvals", AGAIN_MS * pages, read);
}

function Questions(): ReactElement {
  const [pages, setPages] = useState(1);
  const { found, at, error, again } = usePages(pages);
  const [said, setSaid] = useState("");
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => { if (found !== null) setTally("approvals", { count: found.count, more: found.at_least }); }, [found]);
  if (found === null) return error === null ? <Bones lines={9} label="The questions are loading" /> : <Failed what="Could not load the questions." error={error} again={again} />;
  const open = found.approvals.filter((one) => !gone.has(keyOf(one)));
  return (
    <>
      <p role="status" className="inbox-said">{said}</p>
      {error === null ? null : <Stale error={error} at={at} again={again} />}
      {open.length === 0 && found.cursor === null ? (
        <div className="empty-page"><h2>No open questions</h2>
          <p>An <code>approval</code> node asks a person before its run continues. The question is answered here, or with the link that the node sends.</p>
          <pre tabIndex={0} aria-label="An approval node"><code>{EXAMPLE}</code></pre></div>
      ) : open.map((one) => <Answer key={keyOf(one)} asked={one} decidingAs={found.deciding_as} onDecided={(text) => { setSaid(text); setGone(new Set(gone).add(keyOf(one))); again(); }} />)}
      {found.cursor === null && !found.at_least ? null : (
        <p className="quiet">{open.length.toLocaleString("en")} of {found.at_least ? "at least " : ""}{counted(found.count, "question")} {open.length === 1 ? "is" : "are"} shown.
          {found.cursor === null ? null : <> <button className="button small" type="button" disabled={found.pages < pages && error === null} onClick={() => { setPages(found.pages + 1); }}>{found.pages < pages && error === null ? "Reading…" : "Show more"}</button></>}</p>
      )}
      {found.unreadable.length > 0 ? <p className="fault">{counted(found.unreadable.length, "run")} cannot be read: {found.unreadable.join(", ")}</p> : null}
    </>
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
