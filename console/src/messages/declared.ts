/** The messages that a document declares, as far as sending one needs them. Nothing in it is trusted to fit. */

/** `schema` is the JSON Schema of the data, null where any data is taken. `cancels`: the message cancels the run. */
export interface Declared {
  readonly name: string;
  readonly schema: unknown;
  readonly cancels: boolean;
}

/** In the order of the document. */
export function declaredIn(document: unknown): Declared[] {
  const [declared, cancelling] = [fieldOf(document, "messages"), fieldOf(document, "cancel_on")];
  if (!isValues(declared)) return [];
  const cancels: readonly unknown[] = Array.isArray(cancelling) ? cancelling : [];
  return Object.entries(declared).map(([name, message]) => ({ name, schema: fieldOf(message, "data") ?? null, cancels: cancels.includes(name) }));
}

function isValues(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fieldOf(value: unknown, name: string): unknown {
  return isValues(value) ? value[name] : undefined;
}
