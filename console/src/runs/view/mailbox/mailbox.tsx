/** The messages of a run: which nodes wait for one, and the mailbox with what came and was not taken. */
import "./mailbox.css";
import { useState, type ReactElement } from "react";
import type { Json } from "../../../editing/values/values.ts";
import type { RunLook } from "../../../runstate/store.ts";
import type { Overview } from "../../../runstate/types.ts";
import { follow, hrefOf, runPath } from "../../../ui/addresses.ts";
import { CopyButton } from "../../../ui/copying.tsx";
import { Bones, Fault } from "../../../ui/loading/notices.tsx";
import { counted, shortId } from "../../../ui/words/formats.ts";
import { inOwnZone } from "../../../ui/words/instants.ts";
import { When } from "../../../ui/words/times.tsx";
import { Status } from "../../../ui/status.tsx";
import { nameOf } from "../../../wire/names.ts";
import { RunValue } from "../value.tsx";
import { awaitedIn, dataOf, RECEIVED, type Awaited } from "./reading.ts";

type Mail = Overview["unread"][number];

export function Mailbox({ id, look, head, onSend, onInstance }: {
  readonly id: string; readonly look: RunLook; readonly head: Overview; readonly onSend: (name: string) => void; readonly onInstance: (instance: string) => void;
}): ReactElement {
  const waiting = awaitedIn(head, look.document);
  const more = head.unread_left_out ?? 0;
  const count = head.unread.length + more;
  const log = `${runPath(id)}?${new URLSearchParams({ tab: "events", type: RECEIVED }).toString()}`;
  return (
    <div className="scrolled mailbox" tabIndex={0} role="group" aria-label="Messages of the run">
      {look.ended ? null : (
        <section aria-label="Waiting for messages">
          <h2>Waiting</h2>
          {waiting.length === 0 ? <p className="quiet">No node waits for a message now. What arrives stays in the mailbox until a node takes it.</p>
            : <ul className="awaited">{waiting.map((one) => <Waiting key={one.instance} one={one} onSend={onSend} onInstance={onInstance} />)}</ul>}
          {(head.pauses_left_out ?? 0) > 0 ? <p className="hint">And {counted(head.pauses_left_out ?? 0, "more pause", "more pauses")}: the timeline has all of them.</p> : null}
        </section>
      )}
      <section aria-label="Unread messages">
        <div className="mailbox-head"><h2>Unread{count === 0 ? "" : ` (${count.toLocaleString("en")})`}</h2><a href={hrefOf(log)} onClick={follow(log)}>All messages in the log</a></div>
        {count === 0 ? <p className="quiet">{look.ended ? "Every message was taken." : "No message is unread."}</p> : (
          <>
            {look.ended ? <p className="quiet">The run ended without taking {count === 1 ? "this message" : "these messages"}.</p> : null}
            <ul className="mails">{head.unread.map((mail) => <Letter key={mail.id} run={id} mail={mail} own={head.key} />)}</ul>
            {more === 0 ? null : <p className="hint">The oldest {head.unread.length.toLocaleString("en")} are shown, {more.toLocaleString("en")} more are unread.</p>}
          </>
        )}
      </section>
    </div>
  );
}

function Waiting({ one: { instance, message, keys, where, since, deadline }, onSend, onInstance }: { readonly one: Awaited; readonly onSend: (name: string) => void; readonly onInstance: (instance: string) => void }): ReactElement {
  return (
    <li>
      <div className="awaited-what">
        <p><Status status="waiting">{message}</Status> <span className="quiet">for </span><button type="button" className="link" onClick={() => { onInstance(instance); }}>{instance}</button></p>
        <p className="quiet"><Keys keys={keys} /><span>since <When at={since} /></span>{deadline === null ? null : <span>until <time dateTime={deadline} title={new Date(deadline).toLocaleString()}>{inOwnZone(deadline)}</time></span>}</p>
        {where === "" ? null : <p className="quiet">where <code>{where}</code></p>}
      </div>
      <button className="button small" type="button" onClick={() => { onSend(message); }}>Send…</button>
    </li>
  );
}

function Keys({ keys }: { readonly keys: readonly string[] }): ReactElement | null {
  return keys.length === 0 ? null : <span>key {keys.map((key, place) => <span key={key}>{place === 0 ? "" : " or "}<code>{key}</code></span>)}</span>;
}

/** A message that no node has taken. Its data are read when it is opened. */
function Letter({ run, mail, own }: { readonly run: string; readonly mail: Mail; readonly own: string | null }): ReactElement {
  const [data, setData] = useState<Json | undefined | null>(null);
  const [state, setState] = useState<"" | "reading" | "read">("");
  const [error, setError] = useState<unknown>(null);
  const read = (): void => {
    setState("reading");
    setError(null);
    dataOf(run, mail.id).then((found) => { setData(found); setState("read"); }, (failed: unknown) => { setError(failed); setState(""); });
  };
  return (
    <li>
      <details onToggle={(event) => { if (event.currentTarget.open && state === "") read(); }}>
        <summary>
          <b className="cut" title={mail.name}>{mail.name}</b>
          <span className="mail-from quiet cut">{mail.by === null ? "" : `from ${nameOf(mail.by)}`}</span>
          <span className="mail-key quiet cut" title={mail.key ?? undefined}>{mail.key === null || mail.key === own ? "" : <>key <code>{mail.key}</code></>}</span>
          <span className="mail-id quiet cut"><code title={mail.id}>{shortId(mail.id)}</code></span>
          <span className="number quiet"><When at={mail.at} /></span>
        </summary>
        <div className="mail-data">
          <p className="quiet"><code>{mail.id}</code><CopyButton text={mail.id} what="the id of the message" /></p>
          {error !== null ? <Fault error={error} again={read} /> : state !== "read" ? <Bones lines={2} label="The data is loading" />
            : data === undefined ? <p className="quiet">It arrived after the last event of the run, so the log does not have its data.</p> : <RunValue run={run} value={data} label="Data" />}
        </div>
      </details>
    </li>
  );
}
