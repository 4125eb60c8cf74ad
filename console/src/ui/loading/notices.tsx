/** Shows notices instead of the content of a page: while it loads, where something failed. */
import type { ReactElement, ReactNode } from "react";
import { explained } from "../../wire/api.ts";
import { Prose } from "../words/prose.tsx";

/** `children`: other actions next to *Try again*. */
export function Failed({ what, error, again, children }: { readonly what: string; readonly error: unknown; readonly again?: () => void; readonly children?: ReactNode }): ReactElement {
  const { why, mend } = explained(error);
  return (
    <main className="notice">
      <div role="alert">
        <h1>{what}</h1>
        <p><Prose text={`${why} ${mend}`} /></p>
      </div>
      <p className="notice-do">{again === undefined ? null : <button className="button" type="button" onClick={again}>Try again</button>}{children}</p>
    </main>
  );
}

/** An error next to what is shown, or in place of a part of it. `children`: what is shown nevertheless. */
export function Fault({ error, again, children }: { readonly error: unknown; readonly again?: () => void; readonly children?: ReactNode }): ReactElement {
  const { why, mend } = explained(error);
  return (
    <p className="fault" role="alert">
      <Prose text={`${why} ${mend}`.trim()} />{children}
      {again === undefined ? null : <> <button className="button small" type="button" onClick={again}>Try again</button></>}
    </p>
  );
}

/** Above what was read before and could not be read again: why, and as of when it is. `at`: milliseconds of this machine's clock. */
export function Stale({ error, at, again }: { readonly error: unknown; readonly at: number; readonly again?: () => void }): ReactElement {
  return (
    <p className="stale" role="alert">{explained(error).why} Last updated at {new Date(at).toLocaleTimeString()}.
      {again === undefined ? null : <> <button className="button small" type="button" onClick={again}>Try again</button></>}</p>
  );
}

export function Bones({ lines = 6, label }: { readonly lines?: number; readonly label: string }): ReactElement {
  return (
    <div className="bones" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, line) => <i key={line} />)}
    </div>
  );
}

export function Said({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactElement {
  return <main className="notice"><h1>{title}</h1>{children}</main>;
}
