/** Shows the changes of the draft: by node or by line, against its base or against a version. */
import { useEffect, useState, type ReactElement } from "react";
import type { Desk, Look } from "../canvas/desk.ts";
import { draftPath, follow, go, hrefOf, useAddress } from "../ui/addresses.ts";
import { markOf } from "../ui/icons.tsx";
import { Bones, Failed } from "../ui/loading/notices.tsx";
import { sourceTexts, withoutLines, withoutSource } from "../source/differences/source_lines.ts";
import { SourceChanges } from "../source/differences/source_changes.tsx";
import { titleOf } from "../source/made.ts";
import type { OpenDraft } from "../wire/draft/open_draft.ts";
import type { Against, Difference, LineChange, NodeChange } from "../wire/draft/served.ts";
import { LineChanges, linesDiffer, NodeChanges, type Known } from "../source/differences/changes.tsx";
import { restored } from "./history.tsx";
import { sumWords } from "../source/differences/texts.ts";
import { useSettled } from "./settled.ts";

const MAX_VERSIONS = 100; // in the list: older ones have an address, too

export default function DiffPane({ desk, look, openDraft }: { readonly desk: Desk; readonly look: Look; readonly openDraft: OpenDraft }): ReactElement {
  const { query } = useAddress();
  const asked = Number(query.get("against"));
  const against: Against = Number.isSafeInteger(asked) && asked > 0 ? asked : "base";
  const byLine = query.get("by") === "line";
  const [attempt, setAttempt] = useState(0);
  const seq = useSettled(openDraft);
  const [found, setFound] = useState<{ readonly against: Against; readonly made: Difference } | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let left = false;
    openDraft.routes.difference(against).then((made) => {
      if (left) return;
      setFound({ against, made });
      setError(null);
    }, (failed: unknown) => { if (!left) setError(failed); });
    return () => { left = true; };
  }, [openDraft, against, seq, attempt]);
  const to = (next: Against, line: boolean): string => {
    const parts = new URLSearchParams({ view: "diff", ...(next === "base" ? {} : { against: String(next) }), ...(line ? { by: "line" } : {}) });
    return `${draftPath(openDraft.draft)}?${parts.toString()}`;
  };
  if (error !== null) return <Failed what="Could not load the differences." error={error} again={() => { setError(null); setAttempt(attempt + 1); }} />;
  const made = found?.against === against ? found.made : null;
  return (
    <section className="pane" aria-label="Differences">
      <div className="pane-bar">
        <label className="pane-against">Against
          <select className="field" value={against} onChange={(event) => { go(to(event.target.value === "base" ? "base" : Number(event.target.value), byLine)); }}>
            <option value="base">{openDraft.comparison.base === "" ? "the base" : `the base, ${openDraft.comparison.base}`}</option>
            {versionsOf(openDraft, against).map((number) => <option key={number} value={number}>v{number}</option>)}
          </select>
        </label>
        <nav className="pane-ways" aria-label="Differences">
          {[false, true].map((line) => (
            <a key={String(line)} href={hrefOf(to(against, line))} onClick={follow(to(against, line))} {...(line === byLine ? { "aria-current": "page" as const } : {})}>{line ? "By line" : "By node"}</a>
          ))}
        </nav>
        <span className="head-gap" />
        {against === "base" ? null : <button className="button small" type="button" disabled={!look.draft.canEdit} onClick={() => { restored(openDraft, { version: against }).catch(setError); }}>Restore v{against}</button>}
        {made === null ? null : <span className="quiet cut" role="status">{sumWords(made.nodes, made.document.length) || "No node changed"}</span>}
      </div>
      <div className="pane-body">
        {made === null ? <Bones lines={12} label="The differences are loading" /> : byLine ? <Lines lines={made.lines} against={made.against} /> : <Nodes desk={desk} look={look} openDraft={openDraft} made={made} />}
      </div>
    </section>
  );
}

function versionsOf(openDraft: OpenDraft, shown: Against): number[] {
  const newest = openDraft.comparison.newest ?? 0;
  const made = Array.from({ length: Math.min(newest, MAX_VERSIONS) }, (_, place) => newest - place);
  return shown === "base" || made.includes(shown) ? made : [...made, shown];
}

function Nodes({ desk, look, openDraft, made }: { readonly desk: Desk; readonly look: Look; readonly openDraft: OpenDraft; readonly made: Difference }): ReactElement {
  const texts = sourceTexts(made.document);
  const [fields, nodes] = [withoutSource(made.document), withoutLines(made.nodes)];
  const first = texts === null ? null : <SourceChanges texts={texts} title={look.made === null ? "Source" : titleOf(look.made)} />;
  if (nodes.length === 0 && fields.length === 0) return first ?? <Nothing against={made.against} moved={linesDiffer(made.lines)} />;
  const path = draftPath(openDraft.draft);
  const knownOf = (node: NodeChange): Known | null => {
    const tail = node.key.slice(node.key.indexOf("/") + 1);
    const block = look.graph.blocks.get(tail);
    return block === undefined ? null : { mark: markOf(block.type), href: hrefOf(path), open: (event) => { desk.select([tail], true); follow(path)(event); } };
  };
  return <>{first}<NodeChanges nodes={nodes} document={fields} knownOf={knownOf} /></>;
}

function Lines({ lines, against }: { readonly lines: readonly LineChange[]; readonly against: string }): ReactElement {
  return linesDiffer(lines) ? <LineChanges lines={lines} /> : <Nothing against={against} moved={false} />;
}

function Nothing({ against, moved }: { readonly against: string; readonly moved: boolean }): ReactElement {
  return (
    <div className="pane-empty">
      <h2>{moved ? "Only the text differs" : "No differences"}</h2>
      <p className="quiet">{moved ? "Comments, blank lines or places changed: see them by line." : against === "nothing" ? "The draft is empty, and nothing is published yet." : `The draft matches ${against}.`}</p>
    </div>
  );
}
