/** A button that applies the fix of a finding. */
import type { ReactElement } from "react";
import type { Desk } from "../canvas/desk.ts";
import { at, same } from "../editing/values/values.ts";
import type { Finding, Fix } from "../wire/draft/open_draft.ts";
import { Prose } from "../ui/words/prose.tsx";

/** One operation, which undo takes back. It waits for the findings to be read again where what it would replace is another value now. */
export function FixButton({ desk, finding: { fix }, canEdit }: { readonly desk: Desk; readonly finding: Finding; readonly canEdit: boolean }): ReactElement | null {
  if (fix === null || !canEdit) return null;
  return <button type="button" className="button small fix" disabled={!holds(desk, fix)} onClick={() => { desk.edit(fix.operation); }}><Prose text={fix.label} /></button>;
}

function holds(desk: Desk, { operation }: Fix): boolean {
  return operation.guards.every(([key, path, value]) => {
    const entity = desk.view.get(key);
    return same((entity === undefined ? undefined : at(entity, path)) ?? null, value);
  });
}
