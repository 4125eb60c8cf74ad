/** Reads a resource repeatedly while its page is in view. An error keeps what was read before. */
import { useCallback, useEffect, useState } from "react";
import { requestText } from "../wire/api.ts";
import { plainOf } from "../wire/plain.ts";

export const AGAIN_MS = 10_000;

export interface Polled<T> {
  readonly found: T | null;
  readonly at: number; // when that was read, by this machine's clock
  readonly error: unknown; // of the last reading; null where it succeeded
  readonly again: () => void;
}

export type Reading = (path: string, signal: AbortSignal) => Promise<unknown>;

/** Reads with every digit: schemas of answers have numbers of authors. */
export const readOne: Reading = async (path, signal) => plainOf(await requestText(path, signal));

/** `read` must be the same from call to call, as long as it reads the same. What was read before is shown until another is done. */
export function usePolled<T>(path: string, everyMs = AGAIN_MS, read = readOne): Polled<T> {
  const [state, setState] = useState<{ readonly path: string; readonly found: T | null; readonly at: number; readonly error: unknown }>({ path, found: null, at: 0, error: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const next = (): void => { if (!leaving.signal.aborted) timer = setTimeout(ask, everyMs); };
    const ask = (): void => {
      if (document.hidden) {
        next();
        return;
      }
      read(path, leaving.signal).then(
        (made) => { if (!leaving.signal.aborted) setState({ path, found: made as T, at: Date.now(), error: null }); next(); },
        (error: unknown) => { if (!leaving.signal.aborted) setState((old) => ({ path, found: old.path === path ? old.found : null, at: old.at, error })); next(); },
      );
    };
    ask();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [path, everyMs, read, round]);
  const again = useCallback(() => { setRound((old) => old + 1); }, []);
  return { found: state.path === path ? state.found : null, at: state.at, error: state.path === path ? state.error : null, again };
}
