/** Collects the editors that are written in CodeMirror: loaded when the first of them is shown. */
export { default as Expression } from "../../inspector/forms/expression.tsx";
export { default as TextPane } from "./pane.tsx";
