/** Copy, cut and paste, by the events of the clipboard and by a menu: YAML out, YAML or JSON in, from wherever it comes. */
import { remove } from "../actions/changing.ts";
import { deletions } from "../notes/notes.ts";
import { operation } from "../../editing/log/operations.ts";
import type { Desk, Look } from "../desk.ts";
import { foreign } from "../../wire/imports.ts";
import { explained } from "../../wire/api.ts";
import type { Value } from "../../editing/values/encoding.ts";

type Carrying = typeof import("./carrying.ts");

/**
 * The reader and writer of YAML is loaded when the page is idle. An event of the clipboard that comes earlier waits for it:
 * what is pasted is known at once, and what is copied is what was selected then, written to the clipboard when it can be. A paste
 * before that takes it, not what the clipboard still has.
 */
export class Clipboard {
  private carrying: Carrying | null = null;
  private writing: Promise<string> | null = null; // what is copied, until the clipboard has it

  constructor(private readonly desk: Desk) {}

  async load(): Promise<Carrying> {
    return (this.carrying ??= await import("./carrying.ts"));
  }

  copy(event: ClipboardEvent, cuts: boolean): void {
    const look = this.desk.snapshot();
    if (look.selected.size + look.chosen.size === 0 || event.clipboardData === null) return;
    event.preventDefault();
    if (this.carrying === null) {
      void this.write(cuts);
      return;
    }
    event.clipboardData.setData("text/plain", printed(this.carrying, look));
    this.copied(look, cuts);
  }

  /** Writes what is selected to the clipboard; what was not written is not cut. */
  async write(cuts: boolean): Promise<void> {
    const look = this.desk.snapshot();
    const writing = this.load().then((carrying) => printed(carrying, look));
    this.writing = writing;
    try {
      await navigator.clipboard.writeText(await writing);
      this.copied(look, cuts);
    } catch (error) {
      if (!(error instanceof DOMException || error instanceof TypeError)) throw error; // without a secure address there is no clipboard
      this.desk.remark("The browser does not let this page write to the clipboard: copy with the key.");
    } finally {
      if (this.writing === writing) this.writing = null;
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
    if (!this.desk.snapshot().draft.canEdit || (text.trim() === "" && this.writing === null)) return;
    event.preventDefault();
    void (this.writing ?? Promise.resolve(text)).then((known) => this.pasted(known));
  }

  private copied({ graph, selected, notes, chosen, draft }: Look, cuts: boolean): void {
    if (cuts && draft.canEdit) this.desk.edit(operation([...(remove(graph, selected)?.writes ?? []), ...deletions(notes, chosen)]));
  }

  /** Adds what a text has: a fragment, a document, or an export that the server converts. */
  async pasted(text: string): Promise<void> {
    const { graph } = this.desk.snapshot();
    const parent = graph.blocks.get(this.desk.current ?? "")?.parent ?? null;
    const carrying = await this.load();
    try {
      const value = carrying.read(text);
      const name = foreign(value);
      if (name === null) this.take(carrying, value, parent);
      else {
        const { converted } = await import("../../wire/imports.ts");
        const { document, findings } = await converted(value);
        if (this.take(carrying, document, parent)) this.desk.remark(saidOf(name, findings));
      }
    } catch (error) {
      this.desk.remark(error instanceof carrying.Unreadable ? `The pasted text is neither YAML nor JSON: ${error.message}` : `Could not paste. ${explained(error).why} ${explained(error).mend}`);
    }
  }

  /** Nodes and notes are one operation. */
  private take({ paste, pasteNotes, settings }: Carrying, value: Value, parent: string | null): boolean {
    const { graph, notes } = this.desk.snapshot();
    const made = paste(this.desk.view, this.desk.kinds, value, parent, this.desk.fresh);
    const beside = pasteNotes(value, notes, this.desk.fresh);
    const begun = graph.blocks.size === 0 && made !== null ? settings(this.desk.view, value, this.desk.fresh) : [];
    const tails = made?.tails ?? [];
    if (tails.length + beside.tails.length === 0) {
      this.desk.remark("The pasted text has no nodes: expected YAML or JSON with `nodes`, or an export of Sim or n8n.");
      return false;
    }
    if (!this.desk.edit(operation([...begun, ...(made?.operation.writes ?? []), ...beside.operation.writes]))) return false;
    this.desk.select(tails, tails.length + beside.tails.length === 1, beside.tails);
    return true;
  }
}

function printed(carrying: Carrying, { graph, selected, notes, chosen, draft }: Look): string {
  return carrying.printed(draft.view, graph, selected, notes, chosen);
}

function saidOf(name: string, findings: readonly string[]): string {
  if (findings.length === 0) return `Converted from ${name} without differences.`;
  const [first = ""] = findings;
  return `Converted from ${name}. ${findings.length === 1 ? first : `${findings.length} differences from the export: ${first}`}`;
}
