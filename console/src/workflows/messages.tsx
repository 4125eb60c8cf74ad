/** The messages of a workflow: who may send them, by which address or event, for which run, and what takes them. */
import { useState, type ReactElement } from "react";
import { readJson } from "../editing/values/json.ts";
import { CopyButton } from "../ui/copying.tsx";
import { Commands } from "../ui/commands.tsx";
import { Icon } from "../ui/icons.tsx";
import { JsonView } from "../ui/json.tsx";
import { dialog } from "../ui/loading/part.tsx";
import { writtenOf } from "../wire/exact.ts";
import { isValues, keyOf, messagesOf, sampleOf, type Message } from "./document.ts";
import { KeyedRuns } from "./keyed.tsx";
import { HookAddress, Proof, Try } from "./webhooks.tsx";

const SendMessage = dialog(async () => (await import("../messages/dialog.tsx")).default);
const CONFLICTS: Readonly<Record<string, string>> = {
  join: "A start whose key a live run has returns that run.", refuse: "A start whose key a live run has is refused.",
  replace: "A start whose key a live run has cancels that run, and begins when it has ended.",
};
const EXAMPLE = `key: <input.id>
messages:
  payment: {data: {type: object, required: [amount]}}
nodes:
  order: {type: manual}
  paid: {type: receive, after: order, with: {message: payment}}`;

export function Messages({ workflow, document }: { readonly workflow: string; readonly document: unknown }): ReactElement {
  const [sends, setSends] = useState<string | null>(null); // the message to send
  const messages = messagesOf(document);
  const keyed = keyOf(document);
  return (
    <>
      {keyed === null ? null : <Keys workflow={workflow} keyed={keyed} />}
      {messages.length === 0 ? (
        <div className="empty-page"><h2>Runs of this workflow receive no messages</h2>
          <p>Declare a message, and add a node of the kind <code>receive</code> that waits for it.</p>
          <pre tabIndex={0} aria-label="Example"><code>{EXAMPLE}</code></pre></div>
      ) : (
        <section aria-label="Messages">
          <ul className="hooks">{messages.map((one) => <Line key={one.name} workflow={workflow} message={one} send={() => { setSends(one.name); }} />)}</ul>
        </section>
      )}
      {sends === null ? null : <SendMessage to={{ workflow }} messages={messages.filter(({ name }) => name === sends)} name={sends} close={() => { setSends(null); }} />}
    </>
  );
}

/** How runs are named, and the runs of one key. */
function Keys({ workflow, keyed: { key, onConflict } }: { readonly workflow: string; readonly keyed: { readonly key: string; readonly onConflict: string } }): ReactElement {
  return (
    <section aria-label="Key" className="keyed">
      <div className="workflow-line"><h2>Key</h2><code>{key}</code></div>
      <p className="quiet">It names a run: at most one live run has a key. {CONFLICTS[onConflict] ?? ""}</p>
      <KeyedRuns workflow={workflow} />
    </section>
  );
}

function Line({ workflow, message, send }: { readonly workflow: string; readonly message: Message; readonly send: () => void }): ReactElement {
  const { name, schema, hook, cancels, takers, keep } = message;
  const [tries, setTries] = useState(false);
  const sample = schema === null ? "" : ` -d '${JSON.stringify(sampleOf(schema))}'`;
  return (
    <li className="hook message">
      <div className="schedule-head"><h2><Icon mark="receive" /> {name}</h2><span className="head-gap" />
        <span className="schedule-do">{hook === null ? null : <button className="button small" type="button" aria-expanded={tries} onClick={() => { setTries(!tries); }}>Try the webhook</button>}
          <button className="button small" type="button" onClick={send}>Send…</button></span></div>
      <p className="quiet">{cancels ? "It cancels the run." : takers.length === 0 ? "No node takes it." : <>Taken by {takers.map((one, place) => <span key={one}>{place === 0 ? "" : ", "}<code>{one}</code></span>)}.</>} {keep === "" ? "It is refused if no run answers to its key." : <>It waits {keep} for a run that answers to its key.</>}</p>
      <Sources message={message} />
      {tries && hook !== null ? <Try hook={hook} effect="This delivers a real message." /> : null}
      {isValues(schema) ? <JsonView value={readJson(JSON.stringify(schema))} label={`Schema of ${name}`} /> : <p className="quiet">It has no schema: any data is taken.</p>}
      <Commands of={[[`stepless send ${workflow} ${name} --key KEY${sample}`, "from a shell"]]} />
    </li>
  );
}

/** From where it comes besides the API, as a list of terms. */
function Sources({ message: { hook, event, where, key, map } }: { readonly message: Message }): ReactElement | null {
  if (hook === null && event === null) return null;
  return (
    <dl className="sources">
      {hook === null ? null : <><dt>Webhook</dt><dd><HookAddress hook={hook} /><p className="hint"><Proof hook={hook} /></p></dd></>}
      {event === null ? null : <><dt>Event</dt><dd><Code text={writtenOf(event)} what="the pattern" /></dd></>}
      {where === "" ? null : <><dt>Only if</dt><dd><Code text={where} what="the condition" /></dd></>}
      {key === "" ? null : <><dt>For the key</dt><dd><Code text={key} what="the key" /></dd></>}
      {map === null ? null : <><dt>Data</dt><dd><Code text={writtenOf(map)} what="the data" /></dd></>}
    </dl>
  );
}

function Code({ text, what }: { readonly text: string; readonly what: string }): ReactElement {
  return <span className="source-code"><code>{text}</code><CopyButton text={text} what={what} /></span>;
}
