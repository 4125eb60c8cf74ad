/** Which menu a right click, a long press or the key of the menu opens: it is of what lies under the pointer, or of what is selected. */
import type { MouseEvent } from "react";
import type { Point } from "../../wire/draft/people.ts";
import type { Desk } from "../desk.ts";
import { nodeId, noteOfNode } from "../notes/nodes.ts";

/** `at`: the point of the canvas under the pointer; null in the outline. */
export function openMenu(desk: Desk, event: MouseEvent<HTMLElement>, at: Point | null): void {
  const { target } = event;
  if (!(target instanceof Element) || target.closest("textarea, input") !== null) return;
  event.preventDefault();
  choose(desk, target);
  desk.change({ question: { is: "menu", x: event.clientX, y: event.clientY, at } });
}

/** By the key of the menu. */
export function openMenuByKey(desk: Desk): void {
  const root = document.querySelector<HTMLElement>("[data-keys]");
  if (root === null) return;
  const [x, y] = cornerOf(desk, root);
  desk.change({ question: { is: "menu", x, y, at: null } });
}

/** Selects what is under the pointer, unless it is selected already. */
function choose(desk: Desk, target: Element): void {
  const { selected, chosen, edges } = desk.snapshot();
  const node = target.closest(".react-flow__node")?.getAttribute("data-id") ?? target.closest(".outline-row")?.id.replace(/^row-/, "") ?? null;
  const wire = target.closest(".react-flow__edge")?.getAttribute("data-id") ?? null;
  if (node !== null) {
    const note = noteOfNode(node);
    if (note === null ? !selected.has(node) : !chosen.has(note)) desk.select(note === null ? [node] : [], false, note === null ? [] : [note]);
  } else if (wire !== null) {
    if (!edges.has(wire)) {
      desk.select([]);
      desk.change({ edges: new Set([wire]) });
    }
  } else if (target.closest(".react-flow__nodesselection") === null) desk.select([]);
}

function cornerOf(desk: Desk, root: HTMLElement): readonly [number, number] {
  const { selected, chosen } = desk.snapshot();
  const [node] = [...selected, ...[...chosen].map(nodeId)];
  const name = CSS.escape(node ?? "");
  const element = node === undefined ? null : root.querySelector(`.react-flow__node[data-id="${name}"], [id="row-${name}"]`);
  const box = (element ?? root).getBoundingClientRect();
  return element === null ? [box.left + 16, box.top + 64] : [box.left + 16, box.bottom - 4];
}
