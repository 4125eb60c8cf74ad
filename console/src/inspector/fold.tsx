/** A part of the inspector that folds. It is open where something is set in it, unless it begins shut, and opens by itself where something becomes wrong in it. */
import { useState, type ReactElement, type ReactNode } from "react";

export function Fold({ title, count, isWrong, shut = false, children }: { readonly title: string; readonly count: number; readonly isWrong: boolean; readonly shut?: boolean; readonly children: ReactNode }): ReactElement {
  const [open, setOpen] = useState((count > 0 && !shut) || isWrong);
  const [was, setWas] = useState(isWrong);
  if (was !== isWrong) {
    setWas(isWrong);
    if (isWrong) setOpen(true);
  }
  return (
    <details className="fold" open={open} onToggle={(event) => { if (event.target === event.currentTarget) setOpen(event.currentTarget.open); }}>
      <summary>{title}{count > 0 ? <span className="fold-count"> ({count})</span> : null}</summary>
      {open ? children : null}
    </details>
  );
}
