/** The kinds of nodes, to click or to drag onto the canvas. */
import { useMemo, useState, type ReactElement } from "react";
import { Icon, markOf } from "../../ui/icons.tsx";
import { addBeside } from "../commands.ts";
import type { Desk } from "../desk.ts";
import { grouped } from "../model/kinds.ts";

export const KIND_TYPE = "application/x-stepless-kind";

export function Palette({ desk, canEdit }: { readonly desk: Desk; readonly canEdit: boolean }): ReactElement {
  const [typed, setTyped] = useState("");
  const groups = useMemo(() => grouped(desk.kinds), [desk]);
  const found = groups
    .map((group) => ({ ...group, kinds: group.kinds.filter((kind) => kind.name.toLowerCase().includes(typed.trim().toLowerCase())) }))
    .filter((group) => group.kinds.length > 0);
  return (
    <nav className="palette" aria-label="Kinds of nodes">
      <input className="field" type="search" placeholder="Find a kind" aria-label="Find a kind" value={typed} onChange={(event) => { setTyped(event.target.value); }}
        onKeyDown={(event) => {
          const first = found[0]?.kinds[0];
          if (event.key === "Enter" && first !== undefined && canEdit) addBeside(desk, first.name);
        }} />
      {found.map((group) => (
        <section key={group.title}>
          <h2>{group.title}</h2>
          <ul>
            {group.kinds.map((kind) => (
              <li key={kind.name}>
                <button type="button" draggable={canEdit} disabled={!canEdit} title={kind.summary} onClick={() => { addBeside(desk, kind.name); }}
                  onDragStart={(event) => {
                    event.dataTransfer.setData(KIND_TYPE, kind.name);
                    event.dataTransfer.effectAllowed = "copy";
                  }}>
                  <Icon mark={markOf(kind.name)} /><span className="cut">{kind.name}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {found.length === 0 ? <p className="hint">No matching kinds.</p> : null}
    </nav>
  );
}
