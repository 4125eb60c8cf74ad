/** What a person sees first who was invited: colleagues see the name that they give here. */
import { useEffect, useState, type ReactElement } from "react";

const MOST = 200;

export function Joining({ join }: { readonly join: (name: string) => void }): ReactElement {
  const [name, setName] = useState("");
  useEffect(() => { document.title = "Join · Stepless"; }, []);
  return (
    <main className="notice">
      <h1>You are invited to this console.</h1>
      <form onSubmit={(event) => { event.preventDefault(); if (name.trim() !== "") join(name.trim()); }}>
        <p><label htmlFor="own-name">Your name, as your colleagues will see it</label></p>
        <p className="joining">
          <input id="own-name" className="field" value={name} maxLength={MOST} autoFocus autoComplete="name" onChange={(event) => { setName(event.target.value); }} />
          <button className="button first" type="submit" disabled={name.trim() === ""}>Join</button>
        </p>
      </form>
    </main>
  );
}
