/** The head of the editor: what is open, whether it is saved, who is there, the views, and what is done with the whole draft. */
import { useEffect, useSyncExternalStore, type KeyboardEvent, type ReactElement } from "react";
import { words, type Status } from "../../editing/client/status.ts";
import { textAt } from "../../editing/values/values.ts";
import type { Saving } from "../../panes/saving.tsx";
import { draftPath, follow, go, hrefOf, WORKFLOWS } from "../../ui/addresses.ts";
import { counted } from "../../ui/words/formats.ts";
import { Icon } from "../../ui/icons.tsx";
import { toggleTheme, useShownTheme } from "../../ui/theme/switching.ts";
import type { Person } from "../../wire/draft/people.ts";
import type { OpenDraft } from "../../wire/draft/open_draft.ts";
import { whyNot, type Comparison } from "../../wire/draft/comparison.ts";
import { run } from "../commands.ts";
import type { Desk, Look } from "../desk.ts";
import { keyNames } from "../../ui/words/keynames.ts";
import { usePeople } from "../view/others.tsx";

const TABS = { canvas: "Canvas", outline: "Outline", yaml: "YAML", diff: "Diff", history: "History" } as const;

export type Tab = keyof typeof TABS;

export function isTab(name: string | null): name is Tab {
  return name !== null && Object.hasOwn(TABS, name);
}

export function Header({ desk, look, openDraft, tab, tabs, saving }: {
  readonly desk: Desk; readonly look: Look; readonly openDraft: OpenDraft; readonly tab: Tab; readonly tabs: readonly Tab[]; readonly saving: Saving;
}): ReactElement {
  const { draft } = look;
  const doc = draft.view.get("doc");
  const name = doc === undefined ? "" : textAt(doc, "name") || textAt(doc, "id");
  useEffect(() => { document.title = `${name || openDraft.draft} · Stepless`; }, [name, openDraft.draft]);
  const theme = useShownTheme();
  const people = usePeople(openDraft);
  const comparison = useSyncExternalStore(openDraft.subscribe, () => openDraft.comparison);
  const edits = useSyncExternalStore(openDraft.session.subscribe, () => openDraft.session.replica.seq);
  return (
    <header className="head">
      <a className="head-home" href={hrefOf(WORKFLOWS)} onClick={follow(WORKFLOWS)} aria-label="All workflows"><Icon mark="back" /></a>
      <h1 className="cut" title={name}>{name || openDraft.draft}</h1>
      <button type="button" className="head-base quiet cut" title="About this draft" aria-haspopup="dialog" onClick={() => { run(desk, "about"); }}>{comparison.base === "" ? "draft" : `draft of ${comparison.base}`} · {counted(edits, "edit")}</button>
      <Saved status={draft.status} retry={() => { openDraft.session.tryNow(); }} />
      <Tabs openDraft={openDraft} tab={tab} tabs={tabs} />
      <span className="head-gap" />
      <People people={people} following={look.following} follow={tab === "canvas" ? (client) => { desk.change({ following: client }); } : null} />
      <div className="head-tools">
        {tab === "outline" ? <button className="tool" type="button" title="Add a node (A)" aria-label="Add a node" disabled={!draft.canEdit} onClick={() => { run(desk, "add"); }}><Icon mark="plus" /></button> : null}
        <button className="tool" type="button" title={keyNames("Undo (⌘ Z)")} aria-label="Undo" disabled={!draft.canUndo || !draft.canEdit} onClick={() => { run(desk, "undo"); }}><Icon mark="undo" /></button>
        <button className="tool" type="button" title={keyNames("Redo (⇧ ⌘ Z)")} aria-label="Redo" disabled={!draft.canRedo || !draft.canEdit} onClick={() => { run(desk, "redo"); }}><Icon mark="redo" /></button>
        <button className="tool" type="button" title={keyNames("Find a node (⌘ F)")} aria-label="Find a node" onClick={() => { run(desk, "search"); }}><Icon mark="search" /></button>
        <button className="tool" type="button" title="Keys (?)" aria-label="Keys" onClick={() => { run(desk, "keys"); }}><Icon mark="keys" /></button>
        <button className="tool" type="button" title={theme === "dark" ? "Light" : "Dark"} aria-label={theme === "dark" ? "Light" : "Dark"} onClick={toggleTheme}><Icon mark={theme === "dark" ? "sun" : "moon"} /></button>
      </div>
      {look.made === null ? <Acts comparison={comparison} saving={saving} canTest={draft.canEdit} test={() => { run(desk, "test"); }} /> : null}
      <span className={saving.failed ? "head-said fault" : "head-said hidden"} role="status">{saving.said}</span>
    </header>
  );
}

function Acts({ comparison, saving, canTest, test }: { readonly comparison: Comparison; readonly saving: Saving; readonly canTest: boolean; readonly test: () => void }): ReactElement {
  const { conflicts, canSave, fileDiffers, file, mayPublish, mayRun } = comparison;
  const title = fileDiffers ? `${file ?? "The file"} was changed by another program: its changes come into the draft first` : `Save to ${file ?? "the file"} (${keyNames("⌘ S")})`;
  const [notPublished, notTested] = [whyNot(comparison), canTest && !mayRun ? "Test runs need the role run" : ""];
  const why = [notPublished, notTested].filter(Boolean).join(" · ");
  return (
    <div className="head-acts">
      {why === "" ? null : <span className="head-why quiet cut" id="head-why" title={why}>{why}</span>}
      {conflicts === 0 ? null : <button className="button small danger" type="button" onClick={saving.solve}>{conflicts} {conflicts === 1 ? "conflict" : "conflicts"}</button>}
      <button className="button small" type="button" title={notTested || keyNames("Test run (⌘ Enter)")} disabled={!canTest || !mayRun} onClick={test}><Icon mark="manual" size={14} />Test run</button>
      {canSave ? <button className="button small" type="button" title={notPublished || title} aria-describedby="head-why" disabled={saving.isBusy || !mayPublish} onClick={saving.save}>{saving.isBusy ? "Saving…" : "Save"}</button> : null}
      <button className="button small first" type="button" title={notPublished || undefined} aria-describedby="head-why" disabled={!mayPublish} onClick={saving.publish}>Publish…</button>
    </div>
  );
}

/** Each view has an address. Arrows walk the tabs, Enter opens one. */
function Tabs({ openDraft, tab, tabs }: { readonly openDraft: OpenDraft; readonly tab: Tab; readonly tabs: readonly Tab[] }): ReactElement {
  const open = (one: Tab): void => {
    const query = new URLSearchParams(location.search);
    if (one === tabs[0]) query.delete("view");
    else query.set("view", one);
    const text = query.toString();
    go(`${draftPath(openDraft.draft)}${text === "" ? "" : `?${text}`}`);
  };
  const walk = (event: KeyboardEvent<HTMLDivElement>): void => {
    const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };
    const all = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]")];
    const step = Object.hasOwn(steps, event.key) ? steps[event.key] : undefined;
    const place = all.findIndex((one) => one === document.activeElement);
    if (step === undefined || place < 0) return;
    event.preventDefault();
    all[(place + step + all.length) % all.length]?.focus();
  };
  return (
    <div className="head-tabs" role="tablist" aria-label="Views" onKeyDown={walk}>
      {tabs.map((one) => (
        <button key={one} type="button" role="tab" tabIndex={tab === one ? 0 : -1} aria-selected={tab === one} aria-controls="stage" onClick={() => { open(one); }}>{TABS[one]}</button>
      ))}
    </div>
  );
}

function Saved({ status, retry }: { readonly status: Status; readonly retry: () => void }): ReactElement {
  return (
    <span className={`head-saved ${status.is}`} role="status" title={words(status)}>
      {status.is === "saved" ? <Icon mark="check" size={14} /> : <i className="dot" />}
      <span className="cut">{words(status)}</span>
      {status.is === "offline" ? <button className="button small" type="button" onClick={retry}>Try now</button> : null}
    </span>
  );
}

const MOST = 4;

/** A click follows a person: the canvas shows what they see. */
function People({ people, following, follow }: {
  readonly people: readonly Person[]; readonly following: string | null; readonly follow: ((client: string | null) => void) | null;
}): ReactElement | null {
  if (people.length === 0) return null;
  return (
    <ul className="head-people" aria-label="Also here">
      {people.slice(0, MOST).map(({ client, colour, name }) => (
        <li key={client} data-person={colour} title={name}>
          {follow === null ? <>{initial(name)}<span className="hidden">{name}</span></> : (
            <button type="button" title={`Follow ${name}`} aria-pressed={following === client} onClick={() => { follow(following === client ? null : client); }}><span aria-hidden="true">{initial(name)}</span><span className="hidden">Follow {name}</span></button>
          )}
        </li>
      ))}
      {people.length > MOST ? <li>+{people.length - MOST}</li> : null}
    </ul>
  );
}

function initial(name: string): string | undefined {
  return Array.from(name)[0]?.toUpperCase();
}
