/** Who is signed in, what they may do, and the way out. */
import "./account.css";
import { useEffect, useState, type ReactElement } from "react";
import { Dialog } from "../dialog.tsx";
import { Bones, Fault } from "../loading/notices.tsx";
import { nameOf } from "../../wire/names.ts";
import { When } from "../words/times.tsx";
import { callerNow, hasToken, type Caller } from "../../wire/api.ts";
import { hasSession, signOut } from "../../wire/login/signing_out.ts";
import { settings } from "../../wire/settings.ts";
import { Sessions } from "./sessions.tsx";

/** Where the person signed in, and whether it ends its own session when they sign out here. */
interface Issuer {
  readonly host: string;
  readonly ends: boolean;
}

const MEANINGS: readonly (readonly [role: Caller["roles"][number], meaning: string])[] = [
  ["read", "see workflows, runs and drafts"], ["run", "start, cancel, hold and rerun runs"], ["edit", "change drafts"],
  ["approve", "answer the questions of runs"], ["admin", "publish, and manage keys"],
];

export function Account({ close }: { readonly close: () => void }): ReactElement {
  const [caller, setCaller] = useState<Caller | null>(null);
  const [issuer, setIssuer] = useState<Issuer>({ host: "", ends: false });
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let left = false;
    Promise.all([callerNow(), settings()]).then(([found, { login }]) => {
      if (left) return;
      setCaller(found);
      setIssuer(login === null ? { host: "", ends: false } : { host: new URL(login.authorize).host, ends: login.endSession !== "" });
    }, (failed: unknown) => { if (!left) setError(failed); });
    return () => { left = true; };
  }, []);
  const leave = (): void => {
    signOut().then((to) => {
      if (to === "") location.reload(); // nothing that was read stays in memory
      else location.assign(to);
    }, setError);
  };
  return (
    <Dialog title="Account" close={close}>
      <div className="dialog-body">{error === null ? caller === null ? <Bones lines={4} label="The account is loading" /> : <Details caller={caller} issuer={issuer} /> : <Fault error={error} />}</div>
      <div className="dialog-foot">
        {hasToken() ? <button className="button" type="button" onClick={leave}>Sign out</button> : null}
        <button className="button first" type="button" data-first onClick={close}>Close</button>
      </div>
    </Dialog>
  );
}

function Details({ caller: { caller, roles, ends_at: end }, issuer }: { readonly caller: Caller; readonly issuer: Issuer }): ReactElement {
  return (
    <>
      <p>Signed in as <b title={caller}>{nameOf(caller)}</b>{end === null ? "." : <>; it ends <When at={end} />.</>}</p>
      <dl className="account">
        {MEANINGS.map(([role, meaning]) => (
          <div key={role} className={roles.includes(role) ? "" : "quiet"}><dt>{role}</dt><dd>{roles.includes(role) ? meaning : `no: you cannot ${meaning}`}</dd></div>
        ))}
      </dl>
      {hasSession() ? <Sessions /> : null}
      <p className="hint">Sign out removes what you typed from this browser; edits that were not sent are lost.{issuer.host === "" ? null : issuer.ends ? <> It also ends your session at <b>{issuer.host}</b>.</> : <> Your session at <b>{issuer.host}</b> goes on: on a machine that others use, sign out there, too.</>}</p>
    </>
  );
}
