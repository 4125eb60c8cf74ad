/** Exports of other tools: recognized here, converted by the server. */
import { isList, isObject, textAt, type JsonObject } from "../editing/values/values.ts";
import { decoded, isMapping, isSequence, type Value } from "../editing/values/encoding.ts";
import { requestWritten } from "./api.ts";
import { jsonOf } from "./exact.ts";

const DEPTH = 3; // of what stands around the blocks

/** The name of the tool that wrote a value; null for a document, a fragment and everything else. */
export function foreign(value: Value): "Sim" | "n8n" | null {
  let inner: Value | undefined = value;
  for (let depth = 0; depth < DEPTH && isMapping(inner); depth += 1) {
    if (isSequence(inner.get("nodes")) && isMapping(inner.get("connections"))) return "n8n";
    if (isMapping(inner.get("blocks")) && isSequence(inner.get("edges"))) return "Sim";
    inner = inner.get("state") ?? inner.get("data");
  }
  return null;
}

/** `findings`: what is not as it was, a sentence each. */
export interface Converted {
  readonly document: Value;
  readonly findings: readonly string[];
}

/** Has an export converted. Rejects with a `Refusal`, as for a tool that the server does not know. */
export async function converted(value: Value): Promise<Converted> {
  const answer = await requestWritten("POST", "/import", `{"tool":${JSON.stringify((foreign(value) ?? "sim").toLowerCase())},"export":${jsonOf(value)}}`);
  return { document: decoded(answer.get("document") ?? null), findings: listed(answer) };
}

function listed(answer: JsonObject): string[] {
  const found = answer.get("findings");
  return (isList(found) ? found : []).filter(isObject).map((one) => `${textAt(one, "message")} ${textAt(one, "mend")}`.trim());
}
