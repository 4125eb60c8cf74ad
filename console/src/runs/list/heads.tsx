/** The names of the columns of the list of runs, and the list while it loads: rows of the height of those that come. */
import type { ReactElement } from "react";

const WAITING_ROWS = 40; // more than a window shows
const CELLS = ["tick", "state", "name", "details", "id", "number", "number cost", "number when"] as const;

export function Heads(): ReactElement {
  return (
    <div className="row heads" role="row" aria-rowindex={1}>
      <span role="columnheader"><span className="hidden">Choose</span></span><span role="columnheader">Status</span><span role="columnheader">Workflow</span>
      <span role="columnheader">Details</span><span role="columnheader">Run</span><span role="columnheader" className="number">Duration</span>
      <span role="columnheader" className="number cost">Cost</span><span role="columnheader" className="number">Started</span>
    </div>
  );
}

export function WaitingRows({ small }: { readonly small: boolean }): ReactElement {
  return (
    <div className={small ? "rows cards waiting-rows" : "rows waiting-rows"} role="status" aria-label="The runs are loading">
      <div aria-hidden="true">
        {small ? null : <Heads />}
        {Array.from({ length: WAITING_ROWS }, (_, row) => <div key={row} className="row">{CELLS.map((cell) => <span key={cell} className={cell}><i /></span>)}</div>)}
      </div>
    </div>
  );
}
