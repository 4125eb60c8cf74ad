/** The test run that is shown over the canvas: who runs it, how it stands, the way to its page. */
import { useSyncExternalStore, type ReactElement } from "react";
import { follow, hrefOf, runPath } from "../ui/addresses.ts";
import { lasting } from "../ui/words/formats.ts";
import { Icon } from "../ui/icons.tsx";
import { nameOf } from "../wire/names.ts";
import { inOwnZone } from "../ui/words/instants.ts";
import { Status, wordOf } from "../ui/status.tsx";
import type { Room } from "../wire/room.ts";
import type { TestRuns } from "./store.ts";

export function TestBar({ room, tests }: { readonly room: Room; readonly tests: TestRuns }): ReactElement | null {
  const { tested, look } = useSyncExternalStore(tests.subscribe, tests.snapshot);
  const seq = useSyncExternalStore(room.session.subscribe, () => room.session.replica.seq);
  if (tested === null) return null;
  const path = runPath(tested.id);
  const head = look?.head ?? null;
  const by = nameOf(tested.by);
  return (
    <section className="testbar" aria-label="The last test run">
      <span role="status" className="testbar-status">{head === null ? <span className="quiet">Test run</span> : <Status status={head.status}>{`Test run ${head.status === "paused" ? inOwnZone(head.summary) : wordOf(head.status)}`}</Status>}</span>
      <span className="quiet cut">{[by === "" ? "" : `by ${by}`, head !== null && look?.ended === true ? lasting(look.lasted) : "", seq > tested.seq ? "edited since" : ""].filter(Boolean).join(" · ")}</span>
      <a href={hrefOf(path)} onClick={follow(path)}>Open run</a>
      <button className="tool" type="button" aria-label="Hide the test run" title="Hide the test run" onClick={() => { tests.hide(); }}><Icon mark="close" size={14} /></button>
      {head?.error === null || head === null ? null : <p className="testbar-error"><code>{head.error.code}</code> {head.error.message}</p>}
    </section>
  );
}
