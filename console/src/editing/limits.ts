/** Bounds of the client alone. Those by which the server decides too are in `tables`. */

export const MAX_KEPT_WRITES = 20_000; // of what waits; then the draft is read-only until some of it is committed
export const MAX_KEPT_BYTES = 4_000_000;
export const MAX_RECENT_ITEMS = 1_000; // of the log, for what was made over a former state
export const MAX_NOTICES = 200; // the oldest go first
export const TYPING_PAUSE_MS = 400;
export const TYPING_MAX_MS = 3_000;
export const COALESCE_MS = 25; // typing while a peer types
export const GAP_MS = 250; // an item that comes before those that it follows, until the client asks for them
export const MAX_JOINED_WRITES = 200; // of the operations that one request takes along
export const MAX_UNDO = 100; // actions of one person in one tab
