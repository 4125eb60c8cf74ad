/** A value of a run as a tree. What is too large for an answer is named with its size, and can be downloaded. */
import { useState, type ReactElement } from "react";
import type { Json } from "../../editing/values/values.ts";
import { JsonView } from "../../ui/json.tsx";
import { explained } from "../../wire/api.ts";
import { apart, downloadValue, type Large } from "./large.ts";

export function RunValue({ run, value, label, reference }: { readonly run: string; readonly value: Json; readonly label: string; readonly reference?: string }): ReactElement {
  const { shown, large } = apart(value);
  return (
    <>
      {shown === undefined ? null : <JsonView value={shown} label={label} {...(reference === undefined ? {} : { reference })} />}
      {large.map(([name, one]) => <TooLarge key={name} run={run} large={one} label={name === "" ? label : `${label}: ${name}`} />)}
    </>
  );
}

function TooLarge({ run, large, label }: { readonly run: string; readonly large: Large; readonly label: string }): ReactElement {
  const [said, setSaid] = useState("");
  const download = (): void => {
    setSaid("Reading… 0 %");
    const name = `${run}-${label.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}.json`;
    downloadValue(run, large, name, (share) => { setSaid(`Reading… ${Math.round(share * 100)} %`); }).then(() => { setSaid(""); }, (error: unknown) => { setSaid(explained(error).why); });
  };
  return (
    <section className="json" aria-label={label}>
      <div className="json-tools"><b>{label}</b><span className="hint">{(large.size / 1_000_000).toFixed(1)} MB</span><span className="head-gap" />
        <button className="button small" type="button" disabled={said.startsWith("Reading")} onClick={download}>Download</button></div>
      <p className="quiet" role="status">{said === "" ? "Too large to display. It starts with:" : said}</p>
      <pre className="large-begins" tabIndex={0} aria-label={`Beginning of ${label}`}>{large.preview}…</pre>
    </section>
  );
}
