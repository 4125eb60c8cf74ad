/** The test run that is shown over the canvas: who runs it, how it stands, the way to its page. */
import { useState, useSyncExternalStore, type ReactElement } from "react";
import { messagesOf, nextMessage } from "../messages/receivable.ts";
import type { RunLook } from "../runstate/store.ts";
import { follow, hrefOf, runPath } from "../ui/addresses.ts";
import { lasting } from "../ui/words/formats.ts";
import { Icon } from "../ui/icons.tsx";
import { dialog } from "../ui/loading/part.tsx";
import { nameOf } from "../wire/names.ts";
import { inOwnZone } from "../ui/words/instants.ts";
import { Status, wordOf } from "../ui/status.tsx";
import type { OpenDraft } from "../wire/draft/open_draft.ts";
import type { TestRuns } from "./store.ts";

const SendMessage = dialog(async () => (await import("../messages/dialog.tsx")).default);

export function TestBar({ openDraft, tests }: { readonly openDraft: OpenDraft; readonly tests: TestRuns }): ReactElement | null {
  const { tested, look } = useSyncExternalStore(tests.subscribe, tests.snapshot);
  const seq = useSyncExternalStore(openDraft.session.subscribe, () => openDraft.session.replica.seq);
  if (tested === null) return null;
  const path = runPath(tested.id);
  const head = look?.head ?? null;
  const by = nameOf(tested.by);
  return (
    <section className="testbar" aria-label="The last test run">
      <span role="status" className="testbar-status">{head === null ? <span className="quiet">Test run</span> : <Status status={head.status}>{`Test run ${head.status === "paused" ? inOwnZone(head.summary) : wordOf(head.status)}`}</Status>}</span>
      <span className="quiet cut">{[by === "" ? "" : `by ${by}`, head !== null && look?.ended === true ? lasting(look.lasted) : "", seq > tested.seq ? "edited since" : ""].filter(Boolean).join(" · ")}</span>
      {look === null ? null : <Send id={tested.id} look={look} />}
      <a href={hrefOf(path)} onClick={follow(path)}>Open run</a>
      <button className="tool" type="button" aria-label="Hide the test run" title="Hide the test run" onClick={() => { tests.hide(); }}><Icon mark="close" size={14} /></button>
      {head?.error === null || head === null ? null : <p className="testbar-error"><code>{head.error.code}</code> {head.error.message}</p>}
    </section>
  );
}

/** The way to send a message to the test run, as long as it can receive one. */
function Send({ id, look }: { readonly id: string; readonly look: RunLook }): ReactElement | null {
  const [sends, setSends] = useState(false);
  const { head, ended } = look;
  if (head === null || ended || head.messages.length === 0) return null;
  return (
    <>
      <button className="button small" type="button" onClick={() => { setSends(true); }}>Send a message…</button>
      {sends ? <SendMessage to={{ run: id }} messages={messagesOf(look)} name={nextMessage(head)} close={() => { setSends(false); }} /> : null}
    </>
  );
}
