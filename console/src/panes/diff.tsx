/** What the draft changes: by node or by line, against its base or against a version. */
import { useEffect, useState, type ReactElement } from "react";
import type { Desk, Look } from "../canvas/desk.ts";
import type { Json } from "../editing/values.ts";
import { draftPath, follow, go, hrefOf, useAddress } from "../ui/addresses.ts";
import { Icon, markOf, type Mark } from "../ui/icons.tsx";
import { Bones, Failed } from "../ui/notices.tsx";
import { sources, withoutLines, withoutSource } from "../source/changes.ts";
import { SourceChanges } from "../source/diff.tsx";
import type { Room } from "../wire/room.ts";
import type { Against, Difference, FieldChange, NodeChange } from "../wire/served.ts";
import { Lines } from "./lines.tsx";
import { fieldName, isShort, sumWords, valueText } from "./saying.ts";
import { useSettled } from "./settled.ts";

const MAX_VERSIONS = 100; // in the list: older ones have an address, too

export default function DiffPane({ desk, look, room }: { readonly desk: Desk; readonly look: Look; readonly room: Room }): ReactElement {
  const { query } = useAddress();
  const asked = Number(query.get("against"));
  const against: Against = Number.isSafeInteger(asked) && asked > 0 ? asked : "base";
  const byLine = query.get("by") === "line";
  const [attempt, setAttempt] = useState(0);
  const seq = useSettled(room);
  const [found, setFound] = useState<{ readonly against: Against; readonly made: Difference } | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let left = false;
    room.routes.difference(against).then((made) => {
      if (left) return;
      setFound({ against, made });
      setError(null);
    }, (failed: unknown) => { if (!left) setError(failed); });
    return () => { left = true; };
  }, [room, against, seq, attempt]);
  const to = (next: Against, line: boolean): string => {
    const parts = new URLSearchParams({ view: "diff", ...(next === "base" ? {} : { against: String(next) }), ...(line ? { by: "line" } : {}) });
    return `${draftPath(room.draft)}?${parts.toString()}`;
  };
  if (error !== null) return <Failed what="The differences are not shown." error={error} again={() => { setError(null); setAttempt(attempt + 1); }} />;
  const made = found?.against === against ? found.made : null;
  return (
    <section className="pane" aria-label="Differences">
      <div className="pane-bar">
        <label className="pane-against">Against
          <select className="field" value={against} onChange={(event) => { go(to(event.target.value === "base" ? "base" : Number(event.target.value), byLine)); }}>
            <option value="base">{room.standing.base === "" ? "the base" : `the base, ${room.standing.base}`}</option>
            {versionsOf(room, against).map((number) => <option key={number} value={number}>v{number}</option>)}
          </select>
        </label>
        <nav className="pane-ways" aria-label="Differences">
          {[false, true].map((line) => (
            <a key={String(line)} href={hrefOf(to(against, line))} onClick={follow(to(against, line))} {...(line === byLine ? { "aria-current": "page" as const } : {})}>{line ? "By line" : "By node"}</a>
          ))}
        </nav>
        <span className="head-gap" />
        {made === null ? null : <span className="quiet cut" role="status">{sumWords(made.nodes, made.document.length) || "No node differs"}</span>}
      </div>
      <div className="pane-body">
        {made === null ? <Bones lines={12} label="The differences are loading" /> : byLine ? <ByLine made={made} /> : <Nodes desk={desk} look={look} room={room} made={made} />}
      </div>
    </section>
  );
}

function versionsOf(room: Room, shown: Against): number[] {
  const newest = room.standing.newest ?? 0;
  const made = Array.from({ length: Math.min(newest, MAX_VERSIONS) }, (_, place) => newest - place);
  return shown === "base" || made.includes(shown) ? made : [...made, shown];
}

// -- by node ---------------------------------------------------------------------------------------------------------------------

const MARKS: Readonly<Record<string, Mark>> = { added: "plus", removed: "minus" };

function Nodes({ desk, look, room, made }: { readonly desk: Desk; readonly look: Look; readonly room: Room; readonly made: Difference }): ReactElement {
  const source = sources(look.made, made.document);
  const [fields, nodes] = [withoutSource(made.document), withoutLines(made.nodes)];
  const first = source.before?.source === source.after?.source ? null : <SourceChanges before={source.before} after={source.after} />;
  if (nodes.length === 0 && fields.length === 0) {
    return first ?? <Nothing against={made.against} moved={made.lines.some((line) => line.op === "+" || line.op === "-")} />;
  }
  return (
    <>{first}<ul className="changes">
      {fields.length === 0 ? null : <li className="change"><h2><Icon mark="workflow" /> Workflow</h2><Fields fields={fields} /></li>}
      {nodes.map((node) => {
        const tail = node.key.slice(node.key.indexOf("/") + 1);
        const block = look.graph.blocks.get(tail);
        const path = draftPath(room.draft);
        return (
          <li key={`${node.key} ${node.path.join("/")}`} className={`change ${node.change}`}>
            <h2>
              <Icon mark={MARKS[node.change] ?? (block === undefined ? "set" : markOf(block.type))} />
              <span>{node.path.slice(0, -1).map((id) => <span key={id} className="quiet">{id} › </span>)}
                {block === undefined ? nameOf(node) : <a href={hrefOf(path)} onClick={(event) => { desk.select([tail], true); follow(path)(event); }}>{nameOf(node)}</a>}
              </span>
              <span className="change-word">{node.formerId === "" ? node.change : `renamed from ${node.formerId}`}</span>
            </h2>
            <Fields fields={node.fields} />
          </li>
        );
      })}
    </ul></>
  );
}

function nameOf(node: NodeChange): string {
  return node.path.at(-1) ?? node.key;
}

function ByLine({ made }: { readonly made: Difference }): ReactElement {
  return made.lines.some((line) => line.op === "+" || line.op === "-") ? <Lines lines={made.lines} /> : <Nothing against={made.against} moved={false} />;
}

function Nothing({ against, moved }: { readonly against: string; readonly moved: boolean }): ReactElement {
  return (
    <div className="pane-empty">
      <h2>{moved ? "Only the text differs" : "Nothing differs"}</h2>
      <p className="quiet">{moved ? "Comments, blank lines or places changed: see them by line." : against === "nothing" ? "The draft is empty, and nothing is published yet." : `The draft is as ${against} is.`}</p>
    </div>
  );
}

function Fields({ fields }: { readonly fields: readonly FieldChange[] }): ReactElement | null {
  if (fields.length === 0) return null;
  return (
    <dl className="fields">
      {fields.map((field) => (
        <div key={field.path.join("\u0000")}>
          <dt className="cut" title={field.path.join(".")}>{fieldName(field.path)}</dt>
          <dd>
            {field.before === undefined ? null : <ValueOf value={field.before} word="before" />}
            {field.after === undefined ? null : <ValueOf value={field.after} word="now" />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function ValueOf({ value, word }: { readonly value: Json; readonly word: "before" | "now" }): ReactElement {
  const text = valueText(value);
  return <pre className={`value ${word === "before" ? "went" : "came"}${isShort(text) ? "" : " long"}`}><span className="hidden">{word}: </span>{text === "" ? <span className="quiet">empty</span> : text}</pre>;
}
