/** Sends a message to a run, or to the runs of a key. A message that is sent again, since no answer came, is delivered once. */
import { runPath } from "../ui/addresses.ts";
import type { Value } from "../editing/values/encoding.ts";
import { isList, textAt } from "../editing/values/values.ts";
import { requestWritten } from "../wire/api.ts";
import { jsonOf } from "../wire/exact.ts";

/** `keep` is a duration, an empty text for that of the workflow; `starts`: a run is started where none has the key. */
export type Receiver = { readonly run: string } | { readonly workflow: string; readonly key: string; readonly keep: string; readonly starts: boolean };

export interface Delivered {
  readonly runs: readonly string[];
  readonly started: string; // the run that was started for it; empty without one
  readonly keptUntil: string; // an instant; empty where it is not kept
}

/** Where a message goes. */
export function pathOf(to: Receiver, name: string): string {
  if ("run" in to) return `${runPath(to.run)}/messages/${encodeURIComponent(name)}`;
  const query = new URLSearchParams({ key: to.key, ...(to.starts ? { start: "true" } : to.keep === "" ? {} : { keep: to.keep }) });
  return `/workflows/${encodeURIComponent(to.workflow)}/messages/${encodeURIComponent(name)}?${query.toString()}`;
}

/** Sends what a person writes. The same message has the same id until it was taken; another one has another. */
export class Sender {
  private last = { sent: "", id: "" };

  async send(to: Receiver, name: string, data: Value): Promise<Delivered> {
    const [path, body] = [pathOf(to, name), jsonOf(data)];
    const sent = `${path} ${body}`;
    if (sent !== this.last.sent) this.last = { sent, id: `msg_${crypto.randomUUID().replaceAll("-", "")}` };
    const answer = await requestWritten("POST", path, body, { "idempotency-key": this.last.id });
    this.last = { sent: "", id: "" };
    const runs = answer.get("delivered");
    return { runs: (isList(runs) ? runs : []).filter((one) => typeof one === "string"), started: textAt(answer, "started"), keptUntil: textAt(answer, "kept_until") };
  }
}
