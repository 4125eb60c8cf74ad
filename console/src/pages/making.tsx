/** The button that begins a workflow. Its dialog is loaded when it is asked for. */
import { lazy, Suspense, useState, type ReactElement } from "react";

const Making = lazy(() => import("./making_dialog.tsx"));

export function NewWorkflow({ label = "New workflow" }: { readonly label?: string }): ReactElement {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button className="button first" type="button" onClick={() => { setOpen(true); }}>{label}</button>
      {open ? <Suspense fallback={null}><Making close={() => { setOpen(false); }} /></Suspense> : null}
    </>
  );
}
