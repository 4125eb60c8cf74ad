/** The whole history of a run as a file: one event a line, read page by page. */
import { writeDigits } from "../../editing/values/json.ts";
import { isList } from "../../editing/values/values.ts";
import { requestObject } from "../../wire/api.ts";
import { runPath } from "../../ui/addresses.ts";
import { save } from "./large.ts";

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
  save(new Blob(lines, { type: "application/x-ndjson" }), `${id}.ndjson`);
}
