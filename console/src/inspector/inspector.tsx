/** The inspector: name, kind, parameters and settings of a node, its edges, and what is wrong with it. */
import { memo, useContext, useState, type ReactElement } from "react";
import { remove, rename, changeKind } from "../canvas/actions/changing.ts";
import { nameFault } from "../canvas/actions/adding.ts";
import { run } from "../canvas/commands.ts";
import type { Desk, Look } from "../canvas/desk.ts";
import { SOURCE, wiresAt, type Block, type Graph, type Wire } from "../canvas/model/graph.ts";
import { grouped } from "../canvas/model/kinds.ts";
import { keyNames } from "../ui/words/keynames.ts";
import { OfNote } from "../canvas/notes/panel.tsx";
import { at, isObject, textAt, type Json, type JsonObject } from "../editing/values/values.ts";
import { TestingContext } from "../testruns/marks.tsx";
import NodeTests from "../testruns/node.tsx";
import { Icon, markOf } from "../ui/icons.tsx";
import { part } from "../ui/loading/part.tsx";
import { nameOf } from "../wire/names.ts";
import { ago } from "../ui/words/times.tsx";
import { serverNow } from "../wire/clock.ts";
import type { OpenDraft } from "../wire/draft/open_draft.ts";
import { Parameters, useAsYaml } from "./parameters.tsx";
import { Prose } from "../ui/words/prose.tsx";
import { Settings, WorkflowSettings } from "./settings.tsx";

const Aligning = part(async () => (await import("../canvas/page/aside.ts")).Aligning);

const NONE: ReadonlySet<string> = new Set();
const OF_A_BODY: ReadonlySet<string> = new Set(["body", "rest"]);
const NO_DOC: JsonObject = new Map();

export function Inspector({ desk, look, openDraft }: { readonly desk: Desk; readonly look: Look; readonly openDraft: OpenDraft }): ReactElement {
  const { current } = desk;
  const block = current === null ? undefined : look.graph.blocks.get(current);
  const note = look.notes.get(desk.note ?? "");
  return (
    <aside className={look.open ? "inspector open" : "inspector"} aria-label="Inspector">
      {note !== undefined ? <OfNote key={note.tail} desk={desk} look={look} note={note} /> : block !== undefined ? <OfBlock key={block.tail} desk={desk} look={look} block={block} openDraft={openDraft} />
        : look.selected.size > 1 ? <OfMany desk={desk} look={look} /> : look.edges.size > 0 ? <OfEdges desk={desk} look={look} /> : <OfDraft desk={desk} look={look} openDraft={openDraft} />}
    </aside>
  );
}

function OfBlock({ desk, look, block, openDraft }: { readonly desk: Desk; readonly look: Look; readonly block: Block; readonly openDraft: OpenDraft }): ReactElement {
  const { canEdit } = look.draft;
  const kind = desk.kinds.get(block.type);
  const entity = look.draft.view.get(`block/${block.tail}`);
  const subflow = look.draft.view.get(`subflow/${block.tail}`);
  const [key, path, hidden] = block.container && subflow !== undefined
    ? [`subflow/${block.tail}`, [], OF_A_BODY] as const : [`block/${block.tail}`, ["with"], NONE] as const;
  const value: Json | undefined = subflow !== undefined && block.container ? subflow : at(entity, ["with"]);
  const [asYaml, choose] = useAsYaml();
  return (
    <>
      <div className="inspector-head">
        <Icon mark={markOf(block.type)} />
        <b className="cut" title={lastChange(openDraft, key, `block/${block.tail}`)}>{block.id}</b>
        <span className="head-gap" />
        <button className="tool" type="button" title={keyNames("Duplicate (⌘ D)")} aria-label="Duplicate" disabled={!canEdit} onClick={() => { run(desk, "duplicate"); }}><Icon mark="copy" /></button>
        <button className="tool" type="button" title="Delete (Del)" aria-label="Delete" disabled={!canEdit} onClick={() => { run(desk, "delete"); }}><Icon mark="trash" /></button>
        <button className="tool inspector-close" type="button" aria-label="Close" onClick={() => { desk.change({ open: false }); }}><Icon mark="close" /></button>
      </div>
      <div className="inspector-body">
        <div className="pair">
          <Name desk={desk} block={block} canEdit={canEdit} asked={look.renaming === block.tail} />
          <div>
            <label className="label" htmlFor="kind">Kind</label>
            <select id="kind" className="field" value={block.type} disabled={!canEdit} onChange={(event) => { desk.edit(changeKind(desk.view, block.tail, event.target.value)); }}>
              {kind === undefined ? <option value={block.type}>{block.type || "(none)"}</option> : null}
              {grouped(desk.kinds).map((group) => (
                <optgroup key={group.title} label={group.title}>{group.kinds.map((one) => <option key={one.name}>{one.name}</option>)}</optgroup>
              ))}
            </select>
          </div>
        </div>
        {kind === undefined ? <p className="hint">Unknown kind. Its parameters are kept unchanged.</p> : <p className="hint inspector-about"><Prose text={kind.summary} /></p>}
        <Parameters desk={desk} look={look} block={block} kind={kind} value={value} place={{ key, path, hidden }} openDraft={openDraft} asYaml={asYaml} choose={choose} />
        <Tests desk={desk} look={look} block={block} />
        <Edges desk={desk} graph={look.graph} block={block} canEdit={canEdit} />
        <Settings desk={desk} look={look} openDraft={openDraft} block={block} kind={kind} asYaml={asYaml} choose={choose} />
      </div>
    </>
  );
}

function Tests(of: { readonly desk: Desk; readonly look: Look; readonly block: Block }): ReactElement | null {
  const testing = useContext(TestingContext);
  return testing === null ? null : <NodeTests {...of} tests={testing.tests} />;
}

/** Who changed one of these entities last, and when, as far as this tab has seen it. */
function lastChange(openDraft: OpenDraft, ...keys: string[]): string | undefined {
  const [last] = keys.flatMap((key) => openDraft.session.touch(key) ?? []).sort((left, right) => right.seq - left.seq);
  return last === undefined ? undefined : `Changed by ${nameOf(last.by)} ${ago(last.at, serverNow())}, ${new Date(last.at).toLocaleString()}`;
}

function Name({ desk, block, canEdit, asked }: { readonly desk: Desk; readonly block: Block; readonly canEdit: boolean; readonly asked: boolean }): ReactElement {
  const [typed, setTyped] = useState<string | null>(null);
  const name = typed ?? block.id;
  const fault = typed === null || typed === block.id ? null : nameFault(desk.view, block.parent, block.tail, name);
  const finish = (): void => {
    if (typed !== null && fault === null) desk.edit(rename(desk.view, block.tail, name));
    setTyped(null);
    if (asked) desk.change({ renaming: null });
  };
  return (
    <div>
      <label className="label" htmlFor="name">Name</label>
      <input id="name" className="field" value={name} disabled={!canEdit} spellCheck={false} autoComplete="off" aria-invalid={fault !== null} aria-describedby="name-fault"
        ref={(field) => { if (asked && field !== null && document.activeElement !== field) field.select(); }}
        onChange={(event) => { setTyped(event.target.value); }} onBlur={finish}
        onKeyDown={(event) => {
          if (event.key === "Enter" && fault === null) {
            finish();
            document.querySelector<HTMLElement>("[data-keys]")?.focus();
          } else if (event.key === "Escape") {
            setTyped(null);
            desk.change({ renaming: null });
            document.querySelector<HTMLElement>("[data-keys]")?.focus();
          }
        }} />
      <p id="name-fault" className="fault" role="status">{fault}</p>
    </div>
  );
}

const Edges = memo(function Edges({ desk, graph, block, canEdit }: { readonly desk: Desk; readonly graph: Graph; readonly block: Block; readonly canEdit: boolean }): ReactElement {
  const wires = wiresAt(graph, block.tail);
  const [into, out] = [wires.filter((wire) => wire.target === block.tail), wires.filter((wire) => wire.source === block.tail)];
  const row = (wire: Wire, other: string): ReactElement => (
    <li key={wire.tail}>
      <button type="button" className="cut link" onClick={() => { desk.select([other], true); }}>{graph.blocks.get(other)?.id}</button>
      <span className="quiet cut">{wire.handle === SOURCE ? "" : `${other === wire.source ? "" : "by "}${wire.handle}`}{wire.param === "" ? "" : ` into ${wire.param}`}</span>
      <button className="tool" type="button" aria-label={`Remove the edge ${other === wire.source ? "from" : "to"} ${graph.blocks.get(other)?.id ?? ""}`} disabled={!canEdit}
        onClick={() => { desk.edit(remove(graph, [], [wire.tail])); }}><Icon mark="close" size={12} /></button>
    </li>
  );
  return (
    <div className="edges">
      <h2 className="label">After</h2>
      {into.length === 0 ? <p className="hint">No incoming edges.</p> : <ul>{into.map((wire) => row(wire, wire.source))}</ul>}
      <h2 className="label">Then</h2>
      {out.length === 0 ? <p className="hint">No outgoing edges.</p> : <ul>{out.map((wire) => row(wire, wire.target))}</ul>}
      <button className="button small" type="button" disabled={!canEdit || block.exits.length === 0} onClick={() => { run(desk, "connect"); }}>Connect <kbd>C</kbd></button>
    </div>
  );
});

function OfMany({ desk, look }: { readonly desk: Desk; readonly look: Look }): ReactElement {
  const { canEdit } = look.draft;
  return (
    <>
    <div className="inspector-head"><b>{look.selected.size} nodes{look.chosen.size === 0 ? "" : ` and ${look.chosen.size} ${look.chosen.size === 1 ? "note" : "notes"}`}</b></div>
    <div className="inspector-body">
      <Aligning desk={desk} look={look} />
      <div className="inspector-row">
        <button className="button small" type="button" disabled={!canEdit} onClick={() => { run(desk, "duplicate"); }}>Duplicate</button>
        <button className="button small" type="button" disabled={!canEdit} onClick={() => { run(desk, "disable"); }}>Disable or enable</button>
        <button className="button small" type="button" disabled={!canEdit} onClick={() => { run(desk, "tidy"); }}>Tidy</button>
        <button className="button small danger" type="button" disabled={!canEdit} onClick={() => { run(desk, "delete"); }}>Delete {look.selected.size + look.chosen.size}</button>
      </div>
    </div>
    </>
  );
}

function OfEdges({ desk, look }: { readonly desk: Desk; readonly look: Look }): ReactElement {
  const count = look.edges.size;
  const [only] = count === 1 ? look.edges : [];
  const wire = look.graph.wires.get(only ?? "");
  const name = (tail: string): string => look.graph.blocks.get(tail)?.id ?? "";
  return (
    <>
    <div className="inspector-head"><b className="cut">{wire === undefined ? `${count} edges` : `${name(wire.source)}${wire.handle === SOURCE ? "" : `.${wire.handle}`} to ${name(wire.target)}`}</b></div>
    <div className="inspector-body">
      <p className="hint">Choosing a kind in the palette inserts a node into this edge.</p>
      <button className="button small danger" type="button" disabled={!look.draft.canEdit} onClick={() => { run(desk, "delete"); }}>Delete {count === 1 ? "the edge" : `${count} edges`}</button>
    </div>
    </>
  );
}

function OfDraft({ desk, look, openDraft }: { readonly desk: Desk; readonly look: Look; readonly openDraft: OpenDraft }): ReactElement {
  const found = look.draft.view.get("doc");
  const doc = isObject(found) ? found : NO_DOC;
  const [id, name, about] = [textAt(doc, "id"), textAt(doc, "name"), textAt(doc, "description")];
  return (
    <>
    <div className="inspector-head"><Icon mark="workflow" /><b className="cut" title={name}>{name === "" ? "Workflow" : name}</b>{id === "" ? null : <><span className="head-gap" /><code className="quiet cut" title={id}>{id}</code></>}</div>
    <div className="inspector-body">
      {about === "" ? null : <p className="inspector-said">{about}</p>}
      <p className="hint">Select a node to see its parameters here.</p>
      <WorkflowSettings desk={desk} look={look} openDraft={openDraft} entity={doc} />
    </div>
    </>
  );
}
