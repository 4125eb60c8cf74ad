/** A sentence of the server, in which what stands between backticks is code. */
import type { ReactElement } from "react";

export function Prose({ text }: { readonly text: string }): ReactElement {
  return <>{text.split("`").map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part))}</>;
}
