/** What the editor loads once a draft is open: it is for later than the first edit. */
export { Aligning } from "../menu/aligning.tsx";
export { CanvasMenu } from "../menu/canvas.tsx";
export { Keys } from "./keys_list.tsx";
