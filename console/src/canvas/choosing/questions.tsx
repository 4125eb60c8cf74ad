/** The questions that the desk asks over the canvas, each with its choices. */
import type { ReactElement } from "react";
import { markOf } from "../../ui/icons.tsx";
import { dialog } from "../../ui/loading/part.tsx";
import { targets } from "../actions/adding.ts";
import type { Action } from "../actions/keymap.ts";
import { addAt, addBeside, addKind, connectTo, run } from "../commands.ts";
import type { Desk, Look, Question } from "../desk.ts";
import { around, ERROR, SOURCE } from "../model/graph.ts";
import { grouped } from "../model/kinds.ts";
import { walked } from "../model/walking.ts";
import { keyNames } from "../../ui/words/keynames.ts";
import type { Choice } from "../../ui/picking/matching.ts";
import { Picker } from "../../ui/picking/picker.tsx";

const CanvasMenu = dialog(async () => (await import("../page/aside.ts")).CanvasMenu);
const Keys = dialog(async () => (await import("../page/aside.ts")).Keys);

export function Questions({ desk, look, draft }: { readonly desk: Desk; readonly look: Look; readonly draft: string }): ReactElement | null {
  const { question } = look;
  if (question === null) return null;
  const close = (): void => {
    desk.change({ question: null });
    document.querySelector<HTMLElement>("[data-keys]")?.focus();
  };
  const done = (act: () => void): void => {
    close();
    act();
  };
  switch (question.is) {
    case "add":
      return <Picker key="add" title="Add a node" empty="No matching kinds." choices={kindsOf(desk)} close={close}
        choose={({ key }) => { done(() => { addAsked(desk, question, key); }); }} />;
    case "connect":
      return <Connecting key={question.handle} desk={desk} look={look} from={question.from} handle={question.handle} close={close} done={done} />;
    case "search":
      return <Picker key="search" title="Find a node" empty="No matching nodes." choices={nodesOf(look, null)} close={close}
        choose={({ key }) => { done(() => { desk.select([key], true); }); }} />;
    case "commands":
      return <Picker key="commands" title="Commands and nodes" empty="No matching commands or nodes." choices={[...COMMANDS, ...nodesOf(look, null)]} close={close}
        choose={({ key }) => { done(() => { if (key.startsWith("run ")) run(desk, key.slice(4) as Action); else desk.select([key], true); }); }} />;
    case "menu":
      return <CanvasMenu key={`${question.x} ${question.y}`} desk={desk} look={look} draft={draft} question={question} close={close} />;
    case "keys":
      return <Keys close={close} />;
    case "about":
    case "test":
    case "pin":
      return null; // of the page, and of the test runs
  }
}

function addAsked(desk: Desk, question: Extract<Question, { is: "add" }>, kind: string): void {
  const { graph, placed } = desk.snapshot();
  if (question.after === null) {
    if (question.at === null) addBeside(desk, kind);
    else addAt(desk, kind, question.at);
    return;
  }
  const frame = placed.spots.get(graph.blocks.get(question.after[0])?.parent ?? "");
  const place = question.at === null ? {} : { place: [question.at[0] - (frame?.left ?? 0), question.at[1] - (frame?.top ?? 0)] as const };
  addKind(desk, kind, { after: question.after, ...place });
}

/** First the exit, where the block has several of its own; then the node. */
function Connecting({ desk, look, from, handle, close, done }: {
  readonly desk: Desk; readonly look: Look; readonly from: string; readonly handle: string | null; readonly close: () => void; readonly done: (act: () => void) => void;
}): ReactElement | null {
  const block = look.graph.blocks.get(from);
  if (block === undefined) return null;
  const own = block.exits.filter((exit) => exit !== ERROR);
  if (handle === null && own.length > 1) {
    const choices = block.exits.map((exit): Choice => ({ key: exit, title: exit, more: exit === ERROR ? "after the last attempt has failed" : "", mark: null }));
    return <Picker title={`Connect ${block.id}: choose an exit`} empty="No matching exits." choices={choices} close={close}
      choose={({ key }) => { desk.change({ question: { is: "connect", from, handle: key } }); }} />;
  }
  const exit = handle ?? own[0] ?? SOURCE;
  const others: Choice[] = handle === null && block.exits.includes(ERROR) && exit !== ERROR
    ? [{ key: "", title: "From the exit error …", more: "on failure", mark: null }] : [];
  return <Picker title={`Connect ${block.id}${exit === SOURCE ? "" : `.${exit}`} to`} empty="No matching nodes in this body." close={close}
    choices={[...nodesOf(look, new Set(targets(desk.view, from))), ...others]}
    choose={({ key }) => {
      if (key === "") desk.change({ question: { is: "connect", from, handle: ERROR } });
      else done(() => { connectTo(desk, from, exit, key); });
    }} />;
}

function kindsOf(desk: Desk): Choice[] {
  return grouped(desk.kinds).flatMap((group) => group.kinds).map((kind) => ({ key: kind.name, title: kind.name, more: kind.summary, mark: markOf(kind.name) }));
}

function nodesOf(look: Look, only: ReadonlySet<string> | null): Choice[] {
  return walked(look.graph).flatMap(({ tail }) => {
    const block = look.graph.blocks.get(tail);
    if (block === undefined || (only !== null && (block.entry || !only.has(tail)))) return [];
    const inside = around(look.graph, tail).map((above) => look.graph.blocks.get(above)?.id ?? "").reverse();
    return [{ key: tail, title: block.id, more: [block.type, ...inside.map((id) => `in ${id}`)].join(" "), mark: markOf(block.type) }];
  });
}

const COMMANDS: readonly Choice[] = ([
  ["add", "Add a node", "A"], ["note", "Add a note", "N"], ["connect", "Connect the selected node", "C"], ["search", "Find a node", "⌘ F"], ["rename", "Rename the selected node", "F2"],
  ["duplicate", "Duplicate what is selected", "⌘ D"], ["delete", "Delete what is selected", "Del"], ["disable", "Disable or enable what is selected", "D"],
  ["test", "Test run", "⌘ Enter"], ["testTo", "Run to the selected node", "R"], ["testFrom", "Run from the selected node", "⇧ R"], ["pin", "Pin the output of the selected node", "P"],
  ["tidy", "Reset position", "T"], ["selectAll", "Select all", "⌘ A"], ["undo", "Undo", "⌘ Z"], ["redo", "Redo", "⇧ ⌘ Z"],
  ["about", "About this draft: who opened it, the published version, duplicate", ""], ["fit", "Fit all", "1"], ["reset", "Size 100 %", "0"], ["keys", "List the keys", "?"],
] as const).map(([action, title, keys]) => ({ key: `run ${action}`, title, more: "", mark: null, keys: keyNames(keys) }));
