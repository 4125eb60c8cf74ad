/** Bounds of a draft. Those that the server checks too have the names and the values of its own; a test compares them. */

export const MAX_DOCUMENT_DEPTH = 96;
export const MAX_ID_CHARACTERS = 64;
export const MAX_DRAFT_BLOCKS = 5_000;
export const MAX_DRAFT_DEPTH = 24; // containers around a block
export const MAX_INTENT_WRITES = 20_000; // and guards
export const MAX_INTENT_BYTES = 4_000_000;
export const MAX_DECIDED_EFFECTS = 100_000;
export const MAX_DECIDED_CHARACTERS = 8_000_000;
export const MAX_CROSSED_PAIRS = 200_000;
export const MAX_REWRITTEN_PARTS = 400_000_000;
export const MAX_KEY_CHARACTERS = 64;
export const MAX_ORDER_CHARACTERS = 64;
export const MAX_PIN_BYTES = 256_000;
export const MAX_PINS_BYTES = 5_000_000;
export const MAX_JOINED_WRITES = 200;
export const MAX_UNDO = 100;

// Of the client alone.
export const MAX_KEPT_WRITES = 20_000; // of what waits; then the draft is read-only until some of it is committed
export const MAX_KEPT_BYTES = 4_000_000;
export const MAX_RECENT_ITEMS = 1_000; // of the log, for what was made over a former state
export const MAX_NOTICES = 200; // the oldest go first
export const TYPING_PAUSE_MS = 400;
export const TYPING_MAX_MS = 3_000;
export const COALESCE_MS = 25; // typing beside a peer
export const GAP_MS = 250; // an item that comes before those that it follows, until the client asks for them
