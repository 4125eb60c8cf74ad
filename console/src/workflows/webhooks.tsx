/** The webhooks of a workflow: their addresses, and a request that is signed in this page as the sender would sign it. */
import { useId, useRef, useState, type ReactElement, type SyntheticEvent } from "react";
import { readJson } from "../editing/values/json.ts";
import { follow, hrefOf, runPath } from "../ui/addresses.ts";
import { CopyButton } from "../ui/copying.tsx";
import { lasting, shortId } from "../ui/words/formats.ts";
import { Icon } from "../ui/icons.tsx";
import { JsonView } from "../ui/json.tsx";
import { SCHEMES } from "../wire/tables/schemes.ts";
import { isKnown, sampleOf, type Hook, type Scheme } from "./document.ts";
import { send, type Answer } from "./sending.ts";
import { canSign } from "./signing.ts";

const WORDS: Readonly<Partial<Record<Scheme, string>>> = {
  none: "open to everyone who knows the address", bearer: "a bearer token", hmac: "a signature, HMAC-SHA256 of the time and the body", other: "a signature",
};

function wordsOf(scheme: Scheme): string {
  return WORDS[scheme] ?? (isKnown(scheme) ? `a ${SCHEMES[scheme].sender} signature` : "");
}

export function Webhooks({ workflow, hooks }: { readonly workflow: string; readonly hooks: readonly Hook[] }): ReactElement {
  if (hooks.length === 0) {
    return (
      <div className="empty-page"><h2>No webhook starts this workflow</h2>
        <p>Add a node of the kind <code>webhook</code>, and publish the workflow. Its secret stays in the environment.</p>
        <pre tabIndex={0} aria-label="Example"><code>{`order: {type: webhook, with: {path: /${workflow}, auth: {hmac: "\${SHOP_SECRET}"}}}`}</code></pre></div>
    );
  }
  return <ul className="hooks">{hooks.map((hook) => <Line key={hook.id} hook={hook} />)}</ul>;
}

function Line({ hook }: { readonly hook: Hook }): ReactElement {
  const [tries, setTries] = useState(false);
  return (
    <li className="hook">
      <div className="schedule-head"><h2><Icon mark="webhook" /> {hook.id}</h2><span className="head-gap" /><button className="button small" type="button" aria-expanded={tries} onClick={() => { setTries(!tries); }}>Try it</button></div>
      <HookAddress hook={hook} />
      <p className="quiet"><Proof hook={hook} /> {hook.waits ? "The response is that of the run." : "It responds at once, before the run ends."}</p>
      {hook.schema === null || tries ? null : <JsonView value={readJson(JSON.stringify(hook.schema))} label="Schema of the body" />}
      {tries ? <Try hook={hook} effect="This starts a real run." /> : null}
    </li>
  );
}

function addressOf(hook: Hook): string {
  return `${location.origin}/hooks${hook.path}`;
}

/** The whole address, to copy. */
export function HookAddress({ hook }: { readonly hook: Hook }): ReactElement {
  return <p className="hook-address"><span className="word">{hook.methods.join(", ")}</span><code>{addressOf(hook)}</code><CopyButton text={addressOf(hook)} what="the address" /></p>;
}

/** How a sender proves who they are. */
export function Proof({ hook }: { readonly hook: Hook }): ReactElement {
  return <>Authentication: {wordsOf(hook.scheme)}{hook.scheme === "other" && hook.sender !== "hmac" ? <> as <code>{hook.sender}</code> makes it</> : null}{hook.header === "" ? "" : <>, in <code>{hook.header}</code></>}{hook.secret === "" ? "" : <>, with the secret <code>{hook.secret}</code></>}.</>;
}

/** `effect` says what a request does. */
export function Try({ hook, effect }: { readonly hook: Hook; readonly effect: string }): ReactElement {
  const id = useId();
  const secret = useRef<HTMLInputElement>(null); // it is in no state, so nothing keeps it
  const [method, setMethod] = useState(hook.methods[0] ?? "POST");
  const [query, setQuery] = useState("");
  const [body, setBody] = useState(() => JSON.stringify(hook.schema === null ? {} : sampleOf(hook.schema), null, 2));
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState("");
  const [answer, setAnswer] = useState<Answer | null>(null);
  const bodiless = method === "GET" || method === "HEAD";
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    const given = secret.current?.value ?? "";
    if (hook.scheme !== "none" && given === "") {
      setFault(`Type the ${hook.scheme === "bearer" ? "token" : "secret"} first.`);
      secret.current?.focus();
      return;
    }
    setBusy(true);
    setFault("");
    send(hook, { address: addressOf(hook), method, query, body: bodiless ? "" : body, secret: given }).then(setAnswer, (error: unknown) => {
      setFault(error instanceof SyntaxError ? error.message : "Could not reach the server.");
    }).finally(() => { setBusy(false); });
  };
  if (hook.scheme === "other") return <p className="hint">This page does not support this signature scheme. On the command line: <code>{`stepless hooks try ${hook.path}`}</code></p>;
  const isSigned = hook.scheme !== "none" && hook.scheme !== "bearer";
  if (isSigned && !canSign()) return <p className="fault">This page cannot sign: browsers allow it only over HTTPS and on localhost.</p>;
  return (
    <form className="try" onSubmit={submit} aria-label={`Try ${hook.id}`}>
      <div className="try-line">
        {hook.methods.length < 2 ? null : <label><span className="label">Method</span><select className="field" value={method} onChange={(event) => { setMethod(event.target.value); }}>{hook.methods.map((one) => <option key={one}>{one}</option>)}</select></label>}
        <label><span className="label">Query</span><input className="field" value={query} placeholder="a=1&b=2" spellCheck={false} autoComplete="off" onChange={(event) => { setQuery(event.target.value); }} /></label>
        {hook.scheme === "none" ? null : (
          <div><label className="label" htmlFor={`${id}-secret`}>{hook.scheme === "bearer" ? "Token" : "Secret"}{hook.secret === "" ? "" : ` (${hook.secret})`}</label>
            <input id={`${id}-secret`} ref={secret} className="field" type="password" autoComplete="off" spellCheck={false} aria-describedby={`${id}-kept`} />
            <p id={`${id}-kept`} className="hint">{isSigned ? "Neither stored nor sent: only the signature is sent." : "Sent to this webhook only, and not stored."}</p></div>
        )}
      </div>
      {bodiless ? null : <label><span className="label">Body</span><textarea className="field" rows={Math.min(16, Math.max(4, body.split("\n").length))} spellCheck={false} value={body} onChange={(event) => { setBody(event.target.value); }} /></label>}
      <p className="fault" role="alert">{fault}</p>
      <div><button className="button first" type="submit" disabled={busy}>{busy ? "Sending…" : isSigned ? "Sign and send" : "Send"}</button> <span className="hint">{effect}</span></div>
      {answer === null ? null : <Answered answer={answer} />}
    </form>
  );
}

function Answered({ answer }: { readonly answer: Answer }): ReactElement {
  return (
    <div className="try-answer" role="status">
      <p><b className={answer.status < 400 ? "good" : "bad"}>{answer.status}</b> <span className="quiet">after {lasting(answer.lasted_ms)}</span>{answer.run === null ? null : <> · <a href={hrefOf(runPath(answer.run))} onClick={follow(runPath(answer.run))} title={answer.run}>run <code>{shortId(answer.run)}</code></a></>}</p>
      {answer.sent.length === 0 ? null : <p className="hint">Sent {answer.sent.map(([name, value]) => <code key={name}>{name}: {value}</code>)}</p>}
      {answer.json === undefined ? answer.text === "" ? <p className="quiet">The answer has no body.</p> : <pre tabIndex={0} aria-label="Answer"><code>{answer.text}</code></pre> : <JsonView value={answer.json} label="Answer" />}
    </div>
  );
}
