/** Reads from a document what the pages of its workflow show: where runs start, and the webhooks. Nothing in it is trusted to fit. */
import { GROUPS } from "../wire/tables/kinds.ts";
import { SCHEMES } from "../wire/tables/schemes.ts";

export type Values = Readonly<Record<string, unknown>>;

export interface Entry {
  readonly id: string;
  readonly kind: string;
  readonly inputs: Values | null; // JSON Schema
}

/** `none` asks for nothing; `bearer` for a token; the others for a signature. `other` is one that this page cannot make. */
export type Scheme = "none" | "bearer" | "other" | keyof typeof SCHEMES;

export interface Hook {
  readonly id: string;
  readonly path: string;
  readonly methods: readonly string[];
  readonly scheme: Scheme;
  readonly sender: string; // the name that the document gives the scheme; empty for `none` and `bearer`
  readonly header: string; // of the signature; empty where there is none
  readonly secret: string; // the name of the secret, where it is one of the environment
  readonly schema: Values | null;
  readonly waits: boolean;
}

const ENTRIES = GROUPS["start"]?.split(" ") ?? [];
const GENERAL = ["algorithm", "encoding", "prefix", "template", "timestamp_header", "id_header"]; // they describe a scheme of the document's own

export function isValues(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function nodesOf(document: unknown): [string, Values][] {
  const nodes = isValues(document) ? document["nodes"] : null;
  if (!isValues(nodes)) return [];
  return Object.entries(nodes).filter((pair): pair is [string, Values] => isValues(pair[1]) && (pair[1]["enabled"] ?? true) === true);
}

/** The nodes that start runs, those started by hand first. */
export function entriesOf(document: unknown): Entry[] {
  const found = nodesOf(document).flatMap(([id, node]): Entry[] => {
    const kind = node["type"];
    return typeof kind === "string" && ENTRIES.includes(kind) ? [{ id, kind, inputs: isValues(node["inputs"]) ? node["inputs"] : null }] : [];
  });
  return [...found.filter(({ kind }) => kind === "manual"), ...found.filter(({ kind }) => kind !== "manual")];
}

export function hooksOf(document: unknown): Hook[] {
  return nodesOf(document).flatMap(([id, node]): Hook[] => {
    const given = node["with"];
    if (node["type"] !== "webhook" || !isValues(given) || typeof given["path"] !== "string") return [];
    const { scheme, sender, header, secret } = authOf(given["auth"]);
    return [{
      id, path: given["path"], methods: methodsOf(given["method"]), scheme, sender, header, secret, schema: isValues(given["schema"]) ? given["schema"] : null,
      waits: given["response"] === "wait",
    }];
  });
}

function methodsOf(given: unknown): string[] {
  const names = (Array.isArray(given) ? given : [given]).filter((one) => typeof one === "string").map((one) => one.toUpperCase());
  return names.length === 0 ? ["POST"] : names;
}

type Auth = Pick<Hook, "scheme" | "sender" | "header" | "secret">;

function authOf(auth: unknown): Auth {
  if (!isValues(auth)) return { scheme: "none", sender: "", header: "", secret: "" };
  const header = (fallback: string): string => (typeof auth["header"] === "string" ? auth["header"] : fallback);
  if ("bearer" in auth) return { scheme: "bearer", sender: "", header: "Authorization", secret: nameOfSecret(auth["bearer"]) };
  const sender = "hmac" in auth ? "hmac" : typeof auth["scheme"] === "string" ? auth["scheme"] : "?";
  const secret = nameOfSecret("hmac" in auth ? auth["hmac"] : auth["secret"]);
  if (!isKnown(sender) || GENERAL.some((name) => name in auth)) return { scheme: "other", sender, header: header(""), secret };
  return { scheme: sender, sender, header: header(SCHEMES[sender].header), secret };
}

export function isKnown(sender: string): sender is keyof typeof SCHEMES {
  return Object.hasOwn(SCHEMES, sender);
}

/** `NAME` of `${NAME}`, of the first where there are several; empty for anything else, which may be the secret itself. */
function nameOfSecret(given: unknown): string {
  const text: unknown = Array.isArray(given) ? given[0] : given;
  return typeof text === "string" ? /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(text)?.[1] ?? "" : "";
}

const MAX_DEPTH = 6;

/** A value that fits a schema roughly, for a person to change: defaults and examples where it has them. */
export function sampleOf(schema: unknown, depth = 0): unknown {
  if (!isValues(schema) || depth > MAX_DEPTH) return null;
  const given = givenIn(schema);
  if (given !== undefined) return given;
  const type: unknown = Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"];
  if (type === "object" || isValues(schema["properties"])) {
    const properties = isValues(schema["properties"]) ? schema["properties"] : {};
    return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, sampleOf(inner, depth + 1)]));
  }
  if (type === "integer" || type === "number") return typeof schema["minimum"] === "number" ? schema["minimum"] : 0;
  return PLAIN.get(type) ?? null;
}

const PLAIN: ReadonlyMap<unknown, unknown> = new Map<unknown, unknown>([["array", []], ["boolean", false], ["string", ""]]);

/** A value that the schema itself names. */
function givenIn(schema: Values): unknown {
  for (const name of ["default", "const"]) if (name in schema) return schema[name];
  for (const name of ["examples", "enum"]) {
    const list = schema[name];
    if (Array.isArray(list) && list.length > 0) return list[0] as unknown;
  }
  return undefined;
}
