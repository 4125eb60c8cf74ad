/** Who has the console of `stepless dev` open. Each session can be ended. */
import { useEffect, useState, type ReactElement } from "react";
import { Bones, Fault } from "../loading/notices.tsx";
import { When } from "../words/times.tsx";
import { requestPlain } from "../../wire/api.ts";
import type { OneSessionOut, SessionsOut } from "../../wire/contract.ts";

type Session = OneSessionOut;

type Listed = SessionsOut;

const PATH = "/console/sessions";

export function Sessions(): ReactElement {
  const [found, setFound] = useState<readonly Session[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const ask = (method: "GET" | "DELETE", path: string): void => {
    requestPlain(method, path).then((answer) => { setFound((answer as Listed).sessions); setError(null); }, setError);
  };
  useEffect(() => { ask("GET", PATH); }, []);
  if (found === null) return error === null ? <Bones lines={2} label="The sessions are loading" /> : <Fault error={error} />;
  return (
    <section>
      <h3>Sessions</h3>
      {error === null ? null : <Fault error={error} />}
      <ul className="sessions">
        {found.map((session) => (
          <li key={session.id}>
            <span><b>{session.person}</b>{session.guest ? <span className="quiet"> guest</span> : null}{session.own ? <span className="quiet"> this tab</span> : null}<span className="quiet"> since <When at={session.began_at} /></span></span>
            {session.own ? null : <button className="button small" type="button" aria-label={`End the session of ${session.person}`} onClick={() => { ask("DELETE", `${PATH}/${session.id}`); }}>End</button>}
          </li>
        ))}
      </ul>
    </section>
  );
}
