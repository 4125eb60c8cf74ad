/** A node and its test runs, in the inspector: run to it, run from it, pin it; and how it stands in the test run that is shown. */
import "./testruns.css";
import { useEffect, useState, useSyncExternalStore, type ReactElement } from "react";
import { run } from "../canvas/commands.ts";
import type { Desk, Look } from "../canvas/desk.ts";
import type { Block } from "../canvas/model/graph.ts";
import { loudest, pathOf as nodeOf } from "../runstate/counts.ts";
import { isObject, textAt, type JsonObject } from "../editing/values/values.ts";
import { follow, hrefOf, runPath } from "../ui/addresses.ts";
import { Icon } from "../ui/icons.tsx";
import { JsonView } from "../ui/json.tsx";
import { Status } from "../ui/status.tsx";
import { explained } from "../wire/api.ts";
import { about } from "./marks.tsx";
import { recordOf } from "./reading.ts";
import { pathOf, type TestRuns } from "./store.ts";

export default function NodeTests({ desk, look, block, tests }: { readonly desk: Desk; readonly look: Look; readonly block: Block; readonly tests: TestRuns }): ReactElement {
  const { tested } = useSyncExternalStore(tests.subscribe, tests.snapshot);
  const summary = useSyncExternalStore(tests.subscribe, () => tests.of(block.tail));
  const { canEdit, view } = look.draft;
  const isPinned = view.has(`pin/${block.tail}`);
  const isInside = block.parent !== null;
  const path = pathOf(look.graph, block.tail);
  const first = summary === undefined ? "" : summary.failed[0] ?? (path.includes("@") ? "" : path);
  return (
    <section className="node-tests" aria-label="Test run of this node">
      <h2 className="label">Test run</h2>
      <div className="inspector-row">
        {isInside ? null : <button className="button small" type="button" title="Run to here (R)" disabled={!canEdit} onClick={() => { run(desk, "testTo"); }}>Run to here</button>}
        {isInside ? null : <button className="button small" type="button" title="Run from here (⇧ R)" disabled={!canEdit} onClick={() => { run(desk, "testFrom"); }}>Run from here</button>}
        <button className="button small" type="button" title="Pin (P)" disabled={!canEdit} onClick={() => { run(desk, "pin"); }}><Icon mark="pin" size={14} />{isPinned ? "Edit the pin" : "Pin output"}</button>
      </div>
      {summary === undefined || tested === null ? null : (
        <>
          <p className="node-tests-status"><Status status={loudest(summary.counts)}>{about(summary)}</Status> <a href={hrefOf(`${runPath(tested.id)}?node=${encodeURIComponent(path)}`)} onClick={follow(`${runPath(tested.id)}?node=${encodeURIComponent(path)}`)}>in the run</a></p>
          {first === "" ? null : <Values key={`${tested.id} ${first}`} id={tested.id} instance={first} stands={JSON.stringify(summary.counts)} />}
        </>
      )}
    </section>
  );
}

function Values({ id, instance, stands }: { readonly id: string; readonly instance: string; readonly stands: string }): ReactElement | null {
  const [record, setRecord] = useState<JsonObject | null>(null);
  const [fault, setFault] = useState("");
  useEffect(() => {
    let left = false;
    recordOf(id, instance).then((found) => { if (!left) setRecord(found); }, (error: unknown) => { if (!left) setFault(explained(error).why); });
    return () => { left = true; };
  }, [id, instance, stands]);
  if (fault !== "") return <p className="fault" role="alert">{fault}</p>;
  if (record === null) return null;
  const error = record.get("error");
  return (
    <>
      {nodeOf(instance) === instance ? null : <p className="hint">{instance}</p>}
      {isObject(error) ? <p className="node-tests-error"><code>{textAt(error, "code")}</code> {textAt(error, "message")}</p> : null}
      <JsonView value={record.get("inputs") ?? null} label="Input" />
      {record.get("status") === "completed" ? <JsonView value={record.get("output") ?? null} label="Output" /> : null}
    </>
  );
}
