/** The expressions of a node as they are written, each with the value that it had in one call. */
import type { ReactElement } from "react";
import { writeDigits } from "../../../editing/json.ts";
import type { Json, JsonObject } from "../../../editing/values.ts";
import { nameOf } from "../counts.ts";
import { toldOf, writtenIn } from "./told.ts";

const MAX_SHOWN = 40;
const MAX_VALUE = 120; // characters; the whole stands in "Called with"

export function Expressions({ document, path, call }: { readonly document: JsonObject | null; readonly path: string; readonly call: JsonObject }): ReactElement | null {
  const written = document === null ? null : writtenIn(document, path);
  const told = written === null ? [] : toldOf(written, call);
  if (told.length === 0) return null;
  return (
    <section aria-label={`Expressions of ${nameOf(path)}`}>
      <h3>Expressions</h3>
      <dl className="told">
        {told.slice(0, MAX_SHOWN).map(({ place, written: text, value }) => (
          <div key={place}>
            <dt className="cut" title={place}>{place}</dt>
            <dd><code title={text}>{text}</code><span>{value === undefined ? <span className="quiet">not evaluated</span> : <b>{short(value)}</b>}</span></dd>
          </div>
        ))}
      </dl>
      {told.length > MAX_SHOWN ? <p className="hint">The first {MAX_SHOWN} of {told.length.toLocaleString("en")}.</p> : null}
    </section>
  );
}

function short(value: Json): string {
  const text = writeDigits(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}
