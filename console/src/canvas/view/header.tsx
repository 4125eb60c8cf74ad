/** The head of the editor: what is open, whether it is saved, who is there, and the views. */
import type { ReactElement } from "react";
import { words, type Status } from "../../editing/client/status.ts";
import { isObject, textAt } from "../../editing/values.ts";
import { draftPath, follow, go, hrefOf } from "../../ui/addresses.ts";
import { Icon } from "../../ui/icons.tsx";
import { toggleTheme, useShownTheme } from "../../ui/switching.ts";
import type { Person } from "../../wire/people.ts";
import type { Room } from "../../wire/room.ts";
import { run } from "../commands.ts";
import type { Desk, Look } from "../desk.ts";
import { usePeople } from "./others.tsx";

export type Tab = "canvas" | "outline";

export function Header({ desk, look, room, tab }: { readonly desk: Desk; readonly look: Look; readonly room: Room; readonly tab: Tab }): ReactElement {
  const { draft } = look;
  const doc = draft.view.get("doc");
  const name = doc === undefined ? "" : textAt(doc, "name") || textAt(doc, "id");
  const theme = useShownTheme();
  const people = usePeople(room);
  return (
    <header className="head">
      <a className="head-home" href={hrefOf("/")} onClick={follow("/")} aria-label="All drafts"><Icon mark="back" /></a>
      <h1 className="cut" title={name}>{name || room.draft}</h1>
      <span className="head-base quiet cut">{baseOf(room)}</span>
      <Saved status={draft.status} retry={() => { room.session.tryNow(); }} />
      <div className="head-tabs" role="tablist" aria-label="Views">
        {(["canvas", "outline"] as const).map((one) => (
          <button key={one} type="button" role="tab" aria-selected={tab === one} aria-controls="stage" onClick={() => { go(`${draftPath(room.draft)}${one === "canvas" ? "" : "?view=outline"}`); }}>
            {one === "canvas" ? "Canvas" : "Outline"}
          </button>
        ))}
      </div>
      <span className="head-gap" />
      <People people={people} />
      <div className="head-tools">
        {tab === "outline" ? <button className="tool" type="button" title="Add a node (A)" aria-label="Add a node" disabled={!draft.canEdit} onClick={() => { run(desk, "add"); }}><Icon mark="plus" /></button> : null}
        <button className="tool" type="button" title="Undo (⌘ Z)" aria-label="Undo" disabled={!draft.canUndo || !draft.canEdit} onClick={() => { run(desk, "undo"); }}><Icon mark="undo" /></button>
        <button className="tool" type="button" title="Redo (⇧ ⌘ Z)" aria-label="Redo" disabled={!draft.canRedo || !draft.canEdit} onClick={() => { run(desk, "redo"); }}><Icon mark="redo" /></button>
        <button className="tool" type="button" title="Find a node (⌘ F)" aria-label="Find a node" onClick={() => { run(desk, "search"); }}><Icon mark="search" /></button>
        <button className="tool" type="button" title="Keys (?)" aria-label="Keys" onClick={() => { run(desk, "keys"); }}><Icon mark="keys" /></button>
        <button className="tool" type="button" title={theme === "dark" ? "Light" : "Dark"} aria-label={theme === "dark" ? "Light" : "Dark"} onClick={toggleTheme}><Icon mark={theme === "dark" ? "sun" : "moon"} /></button>
      </div>
    </header>
  );
}

function Saved({ status, retry }: { readonly status: Status; readonly retry: () => void }): ReactElement {
  return (
    <span className={`head-saved ${status.is}`} role="status">
      {status.is === "saved" ? <Icon mark="check" size={14} /> : <i className="dot" />}
      <span className="cut">{words(status)}</span>
      {status.is === "offline" ? <button className="button small" type="button" onClick={retry}>Try now</button> : null}
    </span>
  );
}

const MOST = 4;

function People({ people }: { readonly people: readonly Person[] }): ReactElement | null {
  if (people.length === 0) return null;
  return (
    <ul className="head-people" aria-label="Also here">
      {people.slice(0, MOST).map((person) => (
        <li key={person.client} data-person={person.colour} title={person.name}>{Array.from(person.name)[0]?.toUpperCase()}<span className="hidden">{person.name}</span></li>
      ))}
      {people.length > MOST ? <li>+{people.length - MOST}</li> : null}
    </ul>
  );
}

/** What the draft is based on: a version, or a file. */
function baseOf(room: Room): string {
  const base = room.head?.base ?? null;
  if (typeof base === "number") return `draft of v${base}`;
  const version = isObject(base) ? base.get("version") : null;
  return typeof version === "number" ? `draft of v${version}` : "draft";
}
