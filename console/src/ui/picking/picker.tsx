/** A list to choose from by typing, over the page: kinds, nodes, commands, pages. */
import "./picker.css";
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent, type ReactElement } from "react";
import { Icon } from "../icons.tsx";
import { Prose } from "../words/prose.tsx";
import { matching, type Choice } from "./matching.ts";

/** `other`: a choice that what is typed itself makes. */
export function Picker({ title, choices, empty, choose, close, other }: {
  readonly title: string; readonly choices: readonly Choice[]; readonly empty: string;
  readonly choose: (choice: Choice) => void; readonly close: () => void; readonly other?: (typed: string) => Choice | null;
}): ReactElement {
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useId();
  const [typed, setTyped] = useState("");
  const [place, setPlace] = useState(0);
  const found = useMemo(() => {
    const made = other?.(typed.trim()) ?? null;
    return made === null ? matching(choices, typed) : [made];
  }, [choices, typed, other]);
  const active = Math.min(place, found.length - 1);
  useEffect(() => {
    const shown = dialog.current;
    const former = document.activeElement;
    shown?.showModal();
    return () => {
      shown?.close();
      if (document.activeElement !== document.body) return;
      const next = former instanceof HTMLElement && former.isConnected && former !== document.body ? former : document.querySelector<HTMLElement>("[data-keys]");
      next?.focus({ preventScroll: true }); // a dialog that is removed takes the focus with it
    };
  }, []);
  useEffect(() => { document.getElementById(`${list}-${active}`)?.scrollIntoView({ block: "nearest" }); }, [active, list]);
  const pressed = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const choice = found[active];
    if (step !== 0) {
      event.preventDefault();
      setPlace(Math.max(0, Math.min(found.length - 1, active + step)));
    } else if (event.key === "Enter" && choice !== undefined) {
      event.preventDefault();
      choose(choice);
    }
  };
  return (
    <dialog ref={dialog} className="picker" aria-label={title} onCancel={close} onClick={(event) => { if (event.target === dialog.current) close(); }}>
      <div className="picker-box">
        <input autoFocus role="combobox" aria-expanded="true" aria-controls={list} aria-label={title} placeholder={title} value={typed} spellCheck={false}
          {...(found.length > 0 ? { "aria-activedescendant": `${list}-${active}` } : {})}
          onChange={(event) => { setTyped(event.target.value); setPlace(0); }} onKeyDown={pressed} />
        <ul id={list} role="listbox" aria-label={title}>
          {found.map((choice, row) => (
            <li key={choice.key} id={`${list}-${row}`} role="option" aria-selected={row === active} onPointerMove={() => { setPlace(row); }} onClick={() => { choose(choice); }}>
              {choice.mark === null ? null : <Icon mark={choice.mark} />}
              <span className="cut">{choice.title}</span>
              <span className="cut quiet"><Prose text={choice.more} /></span>
              {choice.keys === undefined ? null : <kbd>{choice.keys}</kbd>}
            </li>
          ))}
        </ul>
        {found.length === 0 ? <p className="hint" role="status">{empty}</p> : null}
      </div>
    </dialog>
  );
}
