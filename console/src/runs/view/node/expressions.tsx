/** The expressions of a node as they are written, each with the value that it had in one call, and the conditions on its edges. */
import type { ReactElement } from "react";
import { writeDigits } from "../../../editing/values/json.ts";
import type { Json, JsonObject } from "../../../editing/values/values.ts";
import { nameOf } from "../../../runstate/counts.ts";
import { conditionsOf, toldOf, writtenIn } from "./told.ts";

const MAX_SHOWN = 40;
const MAX_VALUE = 120; // characters; the whole stands in "Called with"

export function Expressions({ document, path, call, note = "" }: { readonly document: JsonObject | null; readonly path: string; readonly call: JsonObject; readonly note?: string }): ReactElement | null {
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
            <dd><code title={text}>{text}</code><span>{value === undefined ? <span className="quiet">not evaluated</span> : <b>{short(value)}</b>}{note === "" ? null : <span className="quiet"> {note}</span>}</span></dd>
          </div>
        ))}
      </dl>
      {told.length > MAX_SHOWN ? <p className="hint">The first {MAX_SHOWN} of {told.length.toLocaleString("en")}.</p> : null}
    </section>
  );
}

/** The conditions on the edges of the exit by which the node left. */
export function Conditions({ record }: { readonly record: JsonObject }): ReactElement | null {
  const conditions = conditionsOf(record);
  if (conditions.length === 0) return null;
  return (
    <section aria-label="Conditions">
      <h3>Conditions of its edges</h3>
      <dl className="told">
        {conditions.slice(0, MAX_SHOWN).map(({ handle, target, written, value, held }, place) => (
          <div key={place}>
            <dt className="cut" title={`to ${target}`}>to {target}{handle === "source" ? "" : ` by ${handle}`}</dt>
            <dd><code title={written}>{written}</code><span><b>{short(value)}</b><span className="quiet"> {held ? "held" : "did not hold"}</span></span></dd>
          </div>
        ))}
      </dl>
      {conditions.length > MAX_SHOWN ? <p className="hint">The first {MAX_SHOWN} of {conditions.length.toLocaleString("en")}.</p> : null}
    </section>
  );
}

function short(value: Json): string {
  const text = writeDigits(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}
