/** Buttons that put what is selected in a line, or at even distances. */
import type { ReactElement } from "react";
import { Icon, type Mark } from "../../ui/icons.tsx";
import { align, distribute, type Axis, type Side } from "../actions/aligning.ts";
import type { Desk, Look } from "../desk.ts";

const SIDES: readonly (readonly [Side, string, Mark])[] = [
  ["left", "Align left", "alignLeft"], ["centre", "Align centre", "alignCentre"], ["right", "Align right", "alignRight"],
  ["top", "Align top", "alignTop"], ["middle", "Align middle", "alignMiddle"], ["bottom", "Align bottom", "alignBottom"],
];
const AXES: readonly (readonly [Axis, string, Mark])[] = [["across", "Distribute across", "distributeAcross"], ["down", "Distribute down", "distributeDown"]];

export function Aligning({ desk, look }: { readonly desk: Desk; readonly look: Look }): ReactElement {
  const { graph, placed, selected, draft } = look;
  return (
    <div className="aligning" role="group" aria-label="Align">
      {SIDES.map(([side, name, mark]) => (
        <button key={side} className="tool" type="button" title={name} aria-label={name} disabled={!draft.canEdit} onClick={() => { desk.edit(align(desk.view, graph, placed.spots, selected, side)); }}><Icon mark={mark} /></button>
      ))}
      {AXES.map(([axis, name, mark]) => (
        <button key={axis} className="tool" type="button" title={name} aria-label={name} disabled={!draft.canEdit || selected.size < 3} onClick={() => { desk.edit(distribute(desk.view, graph, placed.spots, selected, axis)); }}><Icon mark={mark} /></button>
      ))}
    </div>
  );
}
