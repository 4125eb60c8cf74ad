/**
 * Frames of a socket, as the session and `People` read messages: the word of a message is `t` on the wire and `type` here, an item and
 * what a person does are nested there and flat here.
 */
import { isObject, object, textAt, type Json, type JsonObject } from "../editing/values.ts";

export function framed(message: JsonObject): JsonObject {
  return new Map([...message].map(([name, value]) => [name === "type" ? "t" : name, value]));
}

export function unframed(frame: JsonObject): JsonObject {
  const type = frame.has("t") ? textAt(frame, "t") : textAt(frame, "type");
  const rest = [...frame].filter(([name]) => name !== "t");
  switch (type) {
    case "item": {
      const item = frame.get("item");
      return isObject(item) ? object([["v", 1], ["type", type], ...item]) : new Map([...frame, ["type", type]]);
    }
    case "at":
      return flat(type, frame);
    case "who": {
      const joined = frame.get("joined");
      if (typeof joined !== "boolean") return object([["type", type], ...rest]);
      return object([["v", 1], ["type", type], [joined ? "joined" : "left", flat("who", frame)]]);
    }
    case "welcome": {
      const people = frame.get("people");
      const made = new Map<string, Json>([["type", type], ...rest]);
      if (Array.isArray(people)) made.set("people", (people as readonly Json[]).filter(isObject).map((one) => flat("at", one)));
      return made;
    }
    default:
      return object([["type", type], ...rest]);
  }
}

/** A person with what they do: all of it, since what is left out is over. */
function flat(type: string, one: JsonObject): JsonObject {
  const at = one.get("at");
  if (!isObject(at) && !one.has("person")) return object([["type", type], ...[...one].filter(([name]) => name !== "t")]);
  const name = textAt(one, "person");
  const over: [string, Json][] = isObject(at) ? [["cursor", null], ["selection", []], ["field", null], ["drag", []]] : [];
  const named: [string, Json][] = name === "" ? [] : [["name", name]];
  return object([["type", type], ["client", textAt(one, "client")], ...named, ...over, ...(isObject(at) ? at : [])]);
}
