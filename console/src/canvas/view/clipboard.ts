/** Copy, cut and paste, by the events of the clipboard and by a menu: YAML out, YAML or JSON in, from wherever it comes. */
import { remove } from "../actions/changing.ts";
import { fragment } from "../actions/fragments.ts";
import { paste, settings } from "../actions/pasting.ts";
import { gesture } from "../../editing/gestures.ts";
import type { Desk } from "../desk.ts";
import { foreign } from "../../wire/imports.ts";
import { explained } from "../../wire/api.ts";
import type { Value } from "../../inspector/values.ts";

type Yaml = typeof import("../../inspector/yaml.ts");

/**
 * The reader and writer of YAML is loaded when the page is idle. An event of the clipboard that comes earlier waits for it:
 * what is pasted is known at once, and what is copied is written to the clipboard when it can be.
 */
export class Clipboard {
  private yaml: Yaml | null = null;

  constructor(private readonly desk: Desk) {}

  async load(): Promise<Yaml> {
    return (this.yaml ??= await import("../../inspector/yaml.ts"));
  }

  copy(event: ClipboardEvent, cuts: boolean): void {
    const { selected } = this.desk.snapshot();
    if (selected.size === 0 || event.clipboardData === null) return;
    event.preventDefault();
    if (this.yaml === null) {
      void this.write(cuts);
      return;
    }
    event.clipboardData.setData("text/plain", this.printed(this.yaml));
    this.copied(cuts);
  }

  /** Writes what is selected to the clipboard; what was not written is not cut. */
  async write(cuts: boolean): Promise<void> {
    try {
      await navigator.clipboard.writeText(this.printed(await this.load()));
      this.copied(cuts);
    } catch (error) {
      if (!(error instanceof DOMException || error instanceof TypeError)) throw error; // without a secure address there is no clipboard
      this.desk.remark("The browser does not let this page write to the clipboard: copy with the key.");
    }
  }

  /** Pastes what the clipboard has, where the browser lets the page read it. */
  async read(): Promise<void> {
    try {
      await this.pasted(await navigator.clipboard.readText());
    } catch (error) {
      if (!(error instanceof DOMException || error instanceof TypeError)) throw error; // without a secure address there is no clipboard
      this.desk.remark("The browser does not let this page read the clipboard: paste with the key.");
    }
  }

  /** Pastes into the body of what is selected. What is no fragment is said to be none. */
  paste(event: ClipboardEvent): void {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.trim() === "" || !this.desk.snapshot().draft.canEdit) return;
    event.preventDefault();
    void this.pasted(text);
  }

  private printed(yaml: Yaml): string {
    const { graph, selected, draft } = this.desk.snapshot();
    return yaml.print(fragment(draft.view, graph, selected));
  }

  private copied(cuts: boolean): void {
    const { graph, selected, draft } = this.desk.snapshot();
    if (cuts && draft.canEdit) this.desk.edit(remove(graph, selected));
  }

  /** Adds what a text has: a fragment, a document, or an export that the server converts. */
  async pasted(text: string): Promise<void> {
    const { graph } = this.desk.snapshot();
    const parent = graph.blocks.get(this.desk.current ?? "")?.parent ?? null;
    const yaml = await this.load();
    try {
      const value = yaml.read(text);
      const name = foreign(value);
      if (name === null) this.take(value, parent);
      else {
        const { converted } = await import("../../wire/imports.ts");
        const { document, findings } = await converted(value);
        if (this.take(document, parent)) this.desk.remark(saidOf(name, findings));
      }
    } catch (error) {
      this.desk.remark(error instanceof yaml.Unreadable ? `What was pasted is neither YAML nor JSON: ${error.message}` : `It was not pasted. ${explained(error).why} ${explained(error).mend}`);
    }
  }

  private take(value: Value, parent: string | null): boolean {
    const made = paste(this.desk.view, this.desk.kinds, value, parent, this.desk.fresh);
    const begun = this.desk.snapshot().graph.blocks.size === 0 ? settings(this.desk.view, value, this.desk.fresh) : [];
    if (made === null) this.desk.remark("What was pasted has no nodes: expected YAML or JSON with `nodes`, or an export of Sim or n8n.");
    else if (this.desk.edit(gesture([...begun, ...made.gesture.writes]))) this.desk.select(made.tails, made.tails.length === 1);
    else return false;
    return made !== null;
  }
}

function saidOf(name: string, findings: readonly string[]): string {
  if (findings.length === 0) return `Converted from ${name}: everything was.`;
  const [first = ""] = findings;
  return `Converted from ${name}. ${findings.length === 1 ? first : `${findings.length} things are not as they were there: ${first}`}`;
}
