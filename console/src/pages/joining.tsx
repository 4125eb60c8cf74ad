/** Welcomes a person who was invited: colleagues see the name that they give here. */
import { useEffect, useState, type ReactElement } from "react";
import { Brand } from "../ui/icons.tsx";

const MOST = 200;

/** `refused` says why the name that was given is not taken; empty at first. */
export function Joining({ join, refused = "" }: { readonly join: (name: string) => void; readonly refused?: string }): ReactElement {
  const [name, setName] = useState("");
  useEffect(() => { document.title = "Join · Stepless"; }, []);
  return (
    <main className="gate">
      <Brand size={32} />
      <h1>Join this console</h1>
      <form onSubmit={(event) => { event.preventDefault(); if (name.trim() !== "") join(name.trim()); }}>
        <p className="quiet">Colleagues see your name at your cursor, in the history and with each version.</p>
        <div>
          <label className="label" htmlFor="own-name">Your name</label>
          <input id="own-name" className="field" value={name} maxLength={MOST} autoFocus autoComplete="name" onChange={(event) => { setName(event.target.value); }} />
          <p className="fault" role="alert">{refused}</p>
        </div>
        <button className="button first" type="submit" disabled={name.trim() === ""}>Join</button>
      </form>
    </main>
  );
}
