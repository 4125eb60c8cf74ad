/** Limits of the server that the pages know of. Generated from engine/stepless/limits.py by contract/tables.py: `make contract`. */

export const MAX_KEYWORDS = 16;
export const MAX_SEARCH_TEXT_CHARACTERS = 200;
export const MAX_SOCKET_MESSAGE_BYTES = 30_000;
export const DRAFT_READ_ITEMS = 1_000;
