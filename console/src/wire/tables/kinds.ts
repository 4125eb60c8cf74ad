/** What is shown of each kind of node. Generated from engine/stepless/nodes by contract/tables.py: `make contract`. */

/** The kinds by the group of the palette that lists them, both in order. */
export const GROUPS: Readonly<Record<string, string>> = {
  start: "manual webhook schedule event", do: "http function lambda aws code llm workflow send",
  decide: "condition router join loop parallel distributed", wait: "approval callback receive wait",
  shape: "transform set respond end fail",
};

/** The parameters by which people tell a node from others of its kind. */
export const BRIEFS: Readonly<Record<string, string>> = {
  webhook: "method path", schedule: "cron rate", http: "method url", function: "call", lambda: "function", aws: "service action",
  llm: "model", workflow: "workflow", send: "message key to", condition: "cases", router: "routes", loop: "times items while do_while",
  parallel: "branches items", distributed: "items", approval: "message", callback: "message", receive: "message where", wait: "for until",
  transform: "value", set: "variables", respond: "status", fail: "code message",
};

/** The parameter whose keys are exits. */
export const BRANCHES: Readonly<Record<string, string>> = {
  condition: "cases", router: "routes",
};

/** The exits of kinds that have several, in order. */
export const EXITS: Readonly<Record<string, string>> = {
  approval: "approved rejected timeout", callback: "source timeout", receive: "source timeout",
};

/** Marks of 16 px, drawn with one line. */
export const ICONS = {
  manual: "M5 3.2v9.6l8-4.8-8-4.8Z",
  webhook: "M8 9 5.5 4.6a2.4 2.4 0 1 1 4.6-.9M8 9l2.6.1a2.4 2.4 0 1 1-.8 4.3M5.4 9.2 3.9 11a2.4 2.4 0 1 0 4 1.4h2.6",
  schedule: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.8V8l2.4 1.6", event: "M8.8 1.8 3.5 9h4l-.7 5.2L12.5 7h-4l.3-5.2Z",
  http: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM2 8h12M8 2c2.2 2 2.2 10 0 12M8 2c-2.2 2-2.2 10 0 12",
  function: "M10.5 3.2C8.6 2.6 8 3.6 7.8 5l-1 6.4c-.3 1.5-1 2.2-2.6 1.6M4.8 6.8h5.4", lambda: "M4 2.8h2l5 10.4h1.6M7 6.2l-3.6 7",
  aws: "M4.8 12.5a3 3 0 0 1-.4-6 4 4 0 0 1 7.5.9 2.6 2.6 0 0 1-.4 5.1H4.8Z",
  code: "m5 4.5-3.2 3.5L5 11.5M11 4.5l3.2 3.5-3.2 3.5M9.2 3 6.8 13",
  llm: "M7 2.5 8.4 6 12 7.4 8.4 8.8 7 12.4 5.6 8.8 2 7.4 5.6 6 7 2.5ZM12.4 10.5l.6 1.5 1.5.6-1.5.6-.6 1.5-.6-1.5-1.5-.6 1.5-.6.6-1.5Z",
  workflow: "M2 3h4.5v4H2zM9.5 9H14v4H9.5zM6.5 5h3.2c1 0 1.8.8 1.8 1.8V9", send: "M2.5 8 13.5 3 10 13.5 7.5 9zM7.5 9l6-6",
  condition: "M8 1.8 14.2 8 8 14.2 1.8 8 8 1.8Z", router: "M2 8h4l5-4.5h3M6 8l5 4.5h3M6 8h8", join: "M2 3.5h2.5L9 8h5M2 12.5h2.5L9 8",
  loop: "M4 6.2A4.6 4.6 0 0 1 12.3 6M12 9.8A4.6 4.6 0 0 1 3.7 10M12.6 3v3.2H9.4M3.4 13V9.8h3.2",
  parallel: "M2.5 3.5h11M2.5 8h11M2.5 12.5h11", distributed: "M2.5 3h4v4h-4zM9.5 3h4v4h-4zM2.5 9.5h4v4h-4zM9.5 9.5h4v4h-4z",
  approval: "M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 8 8ZM2.5 13.8a5.5 5.5 0 0 1 6.8-3.3M9.5 12.3l1.6 1.5 2.9-3.2",
  callback: "M13.5 5.5h-8a3 3 0 0 0 0 6H8M11 3l2.5 2.5L11 8", receive: "M2 4h12v8.5H2zM2 4.5l6 4.5 6-4.5",
  wait: "M4.5 2h7M4.5 14h7M5.5 2c0 3.5 5 4 5 6s-5 2.5-5 6M10.500 2c0 3.500-5 4-5 6s5 2.500 5 6",
  transform: "M2.500 5h7M7 2.500 9.500 5 7 7.500M13.500 11h-7M9 8.500 6.500 11 9 13.500", set: "M3 5.500h10M3 10.500h10",
  respond: "M13.500 3.500v3a3 3 0 0 1-3 3h-8M5.500 6.500l-3 3 3 3", end: "M3.500 3.500h9v9h-9z",
  fail: "M5.500 2h5L14 5.500v5L10.500 14h-5L2 10.500v-5L5.500 2ZM6 6l4 4M10 6l-4 4",
} as const;
