/** The form that begins the draft of a new workflow. */
import { useState, type ReactElement, type SyntheticEvent } from "react";
import type { Json } from "../editing/values.ts";
import { draftPath, go } from "../ui/addresses.ts";
import { explained, Refusal, requestObject } from "../wire/api.ts";

const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export function NewDraft(): ReactElement {
  const [id, setId] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  const make = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (!ID.test(id)) {
      setFault("An id has letters, digits, _ and -, and at most 64 characters.");
      return;
    }
    requestObject("POST", draftPath(id), new Map<string, Json>([["from", "empty"]])).then(
      () => { go(draftPath(id)); },
      (error: unknown) => { setFault(error instanceof Refusal && error.status === 409 ? "There is a draft of this workflow already." : explained(error).why); },
    );
  };
  return (
    <form className="page-new" onSubmit={make}>
      <label className="hidden" htmlFor="new-id">Id of a new workflow</label>
      <input id="new-id" className="field" placeholder="id of a new workflow" value={id} spellCheck={false} autoComplete="off" aria-invalid={fault !== null} aria-describedby="new-fault"
        onChange={(event) => { setId(event.target.value); setFault(null); }} />
      <button className="button first" type="submit" disabled={id === ""}>New workflow</button>
      <p id="new-fault" className="fault" role="status">{fault}</p>
    </form>
  );
}
