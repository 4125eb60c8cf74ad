/** The sequence that a pane shows: it follows the draft once all of this person's work is committed, and not at every key. */
import { useEffect, useState } from "react";
import type { OpenDraft } from "../wire/draft/open_draft.ts";

const STILL_MS = 600;

export function useSettled(openDraft: OpenDraft): number {
  const [seq, setSeq] = useState(openDraft.session.replica.seq);
  useEffect(() => {
    let timer: number | undefined;
    const changed = (): void => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => { if (openDraft.session.replica.pending.length === 0) setSeq(openDraft.session.replica.seq); }, STILL_MS);
    };
    const leave = openDraft.session.subscribe(changed);
    return () => {
      window.clearTimeout(timer);
      leave();
    };
  }, [openDraft]);
  return seq;
}

const WAIT_MS = 8_000;

/** Sends what waits, and resolves with the sequence at which all of it is committed. Rejects where that takes too long. */
export async function settled(openDraft: OpenDraft): Promise<number> {
  const { session } = openDraft;
  session.flush();
  if (session.replica.pending.length === 0) return session.replica.seq;
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      window.clearTimeout(timer);
      leave();
    };
    const leave = session.subscribe(() => {
      if (session.replica.pending.length > 0) return;
      stop();
      resolve();
    });
    const timer = window.setTimeout(() => {
      stop();
      reject(new Error("Some of your edits are not saved yet. They are kept; try again when they are."));
    }, WAIT_MS);
  });
  return session.replica.seq;
}
