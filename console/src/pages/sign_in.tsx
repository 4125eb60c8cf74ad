/** Shows the sign-in page: a button to the issuer, or a field for a key or a token. */
import { useEffect, useState, type ReactElement, type SyntheticEvent } from "react";
import { Brand } from "../ui/icons.tsx";
import { Failed } from "../ui/loading/notices.tsx";
import { hasToken, keepToken, wasTaken } from "../wire/api.ts";
import { sentence } from "../wire/sentences.ts";
import { begin } from "../wire/login/login.ts";
import { settings, type Login, type Settings } from "../wire/settings.ts";

const MOST = 4_000;

/** `why`: what the server said when it refused the token of this tab. */
export function SignIn({ enter, why }: { readonly enter: () => void; readonly why: string }): ReactElement | null {
  const [found, setFound] = useState<Settings | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let left = false;
    settings().then((made) => { if (!left) setFound(made); }, (failed: unknown) => { if (!left) setError(failed); });
    return () => { left = true; };
  }, [attempt]);
  useEffect(() => { document.title = "Sign in · Stepless"; }, []);
  if (error !== null) return <Failed what="Could not load the sign-in page." error={error} again={() => { setError(null); setAttempt(attempt + 1); }} />;
  if (found === null) return null;
  const isRefused = hasToken() && !wasTaken();
  const what = found.login === null ? "key or token" : "sign-in";
  return (
    <main className="gate">
      <Brand size={32} />
      <h1>{isRefused ? `The server rejected this ${what}` : hasToken() ? "Your sign-in has ended" : "Sign in to Stepless"}</h1>
      {isRefused ? <p role="alert">{found.login === null ? "It is mistyped, was revoked or has expired." : sentence(why)}</p> : null}
      {found.login === null ? <WithKey enter={enter} /> : <WithIssuer login={found.login} failed={setError} />}
      {hasToken() ? <p className="hint">Unsent edits are kept in this tab, and sent once you have signed in.</p> : null}
    </main>
  );
}

function WithIssuer({ login, failed }: { readonly login: Login; readonly failed: (error: unknown) => void }): ReactElement {
  const leave = (): void => {
    begin(login, location.pathname + location.search).then((address) => { location.assign(address); }, failed);
  };
  return (
    <>
      <p className="quiet">You sign in at <b>{new URL(login.authorize).host}</b>.</p>
      <button className="button first" type="button" onClick={leave} autoFocus>Sign in</button>
    </>
  );
}

function WithKey({ enter }: { readonly enter: () => void }): ReactElement {
  const [key, setKey] = useState("");
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    keepToken(key.trim());
    enter();
  };
  return (
    <form onSubmit={submit}>
      <p className="quiet">Enter an API key or a token. With <code>stepless dev</code>, open the address that it prints.</p>
      <div>
        <label className="label" htmlFor="own-key">API key or token</label>
        <input id="own-key" className="field" type="password" value={key} maxLength={MOST} autoFocus autoComplete="off" spellCheck={false} onChange={(event) => { setKey(event.target.value); }} />
        <p className="hint">It is kept until this tab is closed.</p>
      </div>
      <button className="button first" type="submit" disabled={key.trim() === ""}>Sign in</button>
    </form>
  );
}
