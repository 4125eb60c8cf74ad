/** The pinned output of a node, as JSON: typed, or taken from the test run that is shown. */
import "./testruns.css";
import { useEffect, useRef, useState, type ReactElement, type SyntheticEvent } from "react";
import type { Desk, Look } from "../canvas/desk.ts";
import { ERROR } from "../canvas/model/graph.ts";
import { Dialog } from "../ui/dialog.tsx";
import { explained } from "../wire/api.ts";
import { textOf, valueOf } from "../wire/exact.ts";
import { faultOf, pinned, pinOf } from "./pins.ts";
import { outputOf } from "./reading.ts";
import { pathOf, type TestRuns } from "./store.ts";

export default function PinDialog({ desk, look, tests, tail, close }: {
  readonly desk: Desk; readonly look: Look; readonly tests: TestRuns; readonly tail: string; readonly close: () => void;
}): ReactElement | null {
  const block = look.graph.blocks.get(tail);
  const [before] = useState(() => pinOf(look.draft.view, tail));
  const [text, setText] = useState(before === null ? "null" : textOf(before.output));
  const [handle, setHandle] = useState(before?.handle ?? "");
  const [fault, setFault] = useState("");
  const run = tests.snapshot().tested?.id ?? "";
  const take = (): void => {
    setFault("");
    outputOf(run, pathOf(look.graph, tail)).then((found) => {
      if (found === null) setFault("This node has no output in the current test run, or its output is too large to pin.");
      else {
        setText(textOf(found.output));
        setHandle(found.handle);
      }
    }, (error: unknown) => { setFault(explained(error).why); });
  };
  const isAsked = useRef(false);
  useEffect(() => { // a node that has run offers what it has put out
    if (isAsked.current || before !== null || run === "" || tests.of(tail) === undefined) return;
    isAsked.current = true;
    take();
  });
  if (block === undefined) return null;
  const exits = block.exits.filter((exit) => exit !== ERROR);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    try {
      const output = valueOf(text);
      const wrong = faultOf(desk.view, tail, output, desk.fresh);
      if (wrong !== null) {
        setFault(wrong);
        return;
      }
      desk.edit(pinned(desk.view, tail, { output, handle }, desk.fresh));
      close();
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      setFault(`This is not JSON: ${error.message}`);
    }
  };
  return (
    <Dialog title={`Pinned output of ${block.id}`} close={close}>
      <form onSubmit={submit}>
        <div className="dialog-body">
          <p className="quiet">Test runs take this output, and do not call {block.id}. Everyone who edits the draft has it; it is never published.</p>
          <div><label className="label" htmlFor="pin-output">Output</label>
            <textarea id="pin-output" className="field" rows={12} data-first spellCheck={false} value={text} onChange={(event) => { setText(event.target.value); }} /></div>
          {exits.length < 2 ? null : (
            <div><label className="label" htmlFor="pin-exit">Leaves by</label>
              <select id="pin-exit" className="field" value={handle} onChange={(event) => { setHandle(event.target.value); }}><option value="">{exits[0]} (the first)</option>{exits.slice(1).map((exit) => <option key={exit}>{exit}</option>)}</select></div>
          )}
          {run === "" ? null : <button className="button small pin-take" type="button" onClick={take}>Use the output of the test run</button>}
          {fault === "" ? null : <p className="fault" role="alert">{fault}</p>}
        </div>
        <div className="dialog-foot">
          {before === null ? null : <button className="button danger pin-off" type="button" onClick={() => { desk.edit(pinned(desk.view, tail, null, desk.fresh)); close(); }}>Unpin</button>}
          <button className="button" type="button" onClick={close}>Cancel</button>
          <button className="button first" type="submit" disabled={!look.draft.canEdit}>Pin</button>
        </div>
      </form>
    </Dialog>
  );
}
