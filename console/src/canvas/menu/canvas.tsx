/** The menu of the canvas and of the outline: of what is selected, or of the point where it was opened. */
import type { ReactElement } from "react";
import { createPortal } from "react-dom";
import { draftPath, hrefOf } from "../../ui/addresses.ts";
import { Menu } from "../../ui/menu.tsx";
import { align, distribute, type Axis, type Side } from "../actions/aligning.ts";
import { noteAt, run } from "../commands.ts";
import type { Desk, Look, Question } from "../desk.ts";
import { nameInAddress, queryWithNode } from "../linking.ts";
import { Clipboard } from "../keyboard/clipboard.ts";
import { keyNames } from "../../ui/words/keynames.ts";
import { itemsFor, type Choice } from "./items.ts";

const SIDES: Partial<Record<Choice, Side>> = { alignLeft: "left", alignCentre: "centre", alignTop: "top", alignMiddle: "middle" };
const AXES: Partial<Record<Choice, Axis>> = { distributeAcross: "across", distributeDown: "down" };

export function CanvasMenu({ desk, look, draft, question, close }: {
  readonly desk: Desk; readonly look: Look; readonly draft: string; readonly question: Extract<Question, { is: "menu" }>; readonly close: () => void;
}): ReactElement {
  const sections = itemsFor(look).map((section) => section.map((item) => (item.keys === undefined ? item : { ...item, keys: keyNames(item.keys) })));
  const menu = <Menu label="Actions" x={question.x} y={question.y} sections={sections} close={close} choose={(key) => { close(); act(desk, draft, question, key as Choice); }} />;
  return createPortal(menu, document.getElementById("stage") ?? document.body); // the part of the page that it is about
}

function act(desk: Desk, draft: string, { at }: Extract<Question, { is: "menu" }>, choice: Choice): void {
  const { graph, placed, selected, edges } = desk.snapshot();
  const [side, axis] = [SIDES[choice], AXES[choice]];
  if (side !== undefined) desk.edit(align(desk.view, graph, placed.spots, selected, side));
  else if (axis !== undefined) desk.edit(distribute(desk.view, graph, placed.spots, selected, axis));
  else if (choice === "copy" || choice === "cut") void new Clipboard(desk).write(choice === "cut");
  else if (choice === "paste") void new Clipboard(desk).read();
  else if (choice === "link") void copyLink(desk, draft);
  else if (choice === "note") noteAt(desk, at);
  else if (choice === "insert") desk.change({ question: { is: "add", after: null, at: null } });
  else if (choice === "add" && selected.size === 0 && edges.size === 0) desk.change({ question: { is: "add", after: null, at: at === null ? null : [at.x, at.y] } });
  else if (!isOwn(choice)) run(desk, choice);
}

type Own = "link" | "insert" | "alignLeft" | "alignCentre" | "alignTop" | "alignMiddle" | "distributeAcross" | "distributeDown";

function isOwn(choice: Choice): choice is Own {
  return choice in SIDES || choice in AXES || choice === "link" || choice === "insert";
}

async function copyLink(desk: Desk, draft: string): Promise<void> {
  const name = nameInAddress(desk.snapshot().graph, desk.current ?? "");
  const address = location.origin + hrefOf(`${draftPath(draft)}${queryWithNode("", name)}`);
  try {
    await navigator.clipboard.writeText(address);
    desk.change({ said: "The link is copied." });
  } catch (error) {
    if (!(error instanceof DOMException || error instanceof TypeError)) throw error; // without a secure address there is no clipboard
    desk.remark(address);
  }
}
