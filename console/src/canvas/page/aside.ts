/** Collects the parts that the editor loads once a draft is open: they are for later than the first edit. In one chunk, which compresses better than many. */
export { default as Settings, OfWorkflow } from "../../inspector/forms/settings.tsx";
export { default as About } from "../../panes/about.tsx";
export { default as Conflicts } from "../../panes/conflicts.tsx";
export { default as DiffPane } from "../../panes/diff.tsx";
export { default as Files } from "../../panes/files.tsx";
export { default as HistoryPane } from "../../panes/history.tsx";
export { Panes } from "../../panes/panes.tsx";
export { default as Publish } from "../../panes/publish.tsx";
export { default as TestDialog } from "../../testruns/dialog.tsx";
export { default as PinDialog } from "../../testruns/pinning.tsx";
export { Aligning } from "../menu/aligning.tsx";
export { CanvasMenu } from "../menu/canvas.tsx";
export { Keys } from "../keyboard/keys_list.tsx";
