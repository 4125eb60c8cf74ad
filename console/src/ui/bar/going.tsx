/** From any page to another, by typing; and the keys of the pages. */
import type { ReactElement } from "react";
import { APPROVALS, ERRORS, go, runPath, WORKFLOWS, workflowPath } from "../addresses.ts";
import { KeyList, type Listed } from "../picking/keys.tsx";
import type { Choice } from "../picking/matching.ts";
import { Picker } from "../picking/picker.tsx";
import { useWorkflows } from "../workflow_ids.ts";

const PAGES: readonly Choice[] = [
  { key: WORKFLOWS, title: "Workflows", more: "", mark: null }, { key: "/", title: "Runs", more: "", mark: null },
  { key: APPROVALS, title: "Approvals", more: "", mark: null }, { key: ERRORS, title: "Errors", more: "", mark: null },
];
const RUN = /^run_[0-9a-z]+$/i;

export function Going({ close }: { readonly close: () => void }): ReactElement {
  const workflows = useWorkflows().map((id): Choice => ({ key: workflowPath(id), title: id, more: "workflow", mark: null }));
  return <Picker title="Go to a page, a workflow, or a run by its id" empty="No results." choices={[...PAGES, ...workflows]} close={close}
    other={(typed) => (RUN.test(typed) ? { key: runPath(typed), title: typed, more: "run", mark: null } : null)} choose={({ key }) => { close(); go(key); }} />;
}

const LISTED: Listed = [
  ["Everywhere", [["⌘ K", "go to a page, a workflow, a run"], ["?", "this list"]]],
  ["Runs", [["J, K", "next run, previous run"], ["Enter", "open it"], ["X", "choose it"], ["/", "search"]]],
  ["A run", [["←, →, ↑, ↓", "move through the graph"], ["Enter", "open the node"], ["[, ]", "previous, next node by start time"], ["Esc", "close the panel"], ["1", "fit all"], ["+, -", "zoom"]]],
];

export function PageKeys({ close }: { readonly close: () => void }): ReactElement {
  return <KeyList listed={LISTED} close={close} />;
}
