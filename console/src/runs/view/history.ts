/** The whole history of a run as a file: one event a line, read page by page. */
import { writeDigits } from "../../editing/json.ts";
import { isList } from "../../editing/values.ts";
import { requestObject } from "../../wire/api.ts";
import { runPath } from "../../ui/addresses.ts";

const REVOKE_MS = 10_000;

/** `say` gets the share that is read. Rejects where a page cannot be had. */
export async function downloadHistory(id: string, last: number, say: (share: number) => void): Promise<void> {
  const lines: string[] = [];
  for (let after = 0; after < last;) {
    const page = await requestObject("GET", `${runPath(id)}/events?limit=500&afterEventId=${after}`);
    const [events, cursor] = [page.get("events"), page.get("cursor")];
    for (const event of isList(events) ? events : []) lines.push(`${writeDigits(event)}\n`);
    if (typeof cursor !== "number" || cursor <= after) break;
    after = cursor;
    say(after / last);
  }
  const url = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${id}.ndjson`;
  link.click();
  setTimeout(() => { URL.revokeObjectURL(url); }, REVOKE_MS);
}
