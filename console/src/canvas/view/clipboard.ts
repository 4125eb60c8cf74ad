/** Copy, cut and paste by the events of the clipboard: YAML out, YAML or JSON in, from wherever it comes. */
import { remove } from "../actions/changing.ts";
import { fragment } from "../actions/fragments.ts";
import { paste } from "../actions/pasting.ts";
import type { Desk } from "../desk.ts";

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
    const { graph, selected, draft } = this.desk.snapshot();
    if (selected.size === 0 || event.clipboardData === null) return;
    event.preventDefault();
    const copied = fragment(draft.view, graph, selected);
    const cut = (): void => { if (cuts && draft.canEdit) this.desk.edit(remove(graph, selected)); };
    if (this.yaml === null) {
      void this.load().then((yaml) => navigator.clipboard.writeText(yaml.print(copied))).then(cut); // what was not written is not cut
      return;
    }
    event.clipboardData.setData("text/plain", this.yaml.print(copied));
    cut();
  }

  /** Pastes into the body of what is selected. What is no fragment is said to be none. */
  paste(event: ClipboardEvent): void {
    const { graph, draft } = this.desk.snapshot();
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.trim() === "" || !draft.canEdit) return;
    event.preventDefault();
    const parent = graph.blocks.get(this.desk.current ?? "")?.parent ?? null;
    if (this.yaml === null) void this.load().then((yaml) => { this.take(yaml, text, parent); });
    else this.take(this.yaml, text, parent);
  }

  private take(yaml: Yaml, text: string, parent: string | null): void {
    try {
      const made = paste(this.desk.view, this.desk.kinds, yaml.read(text), parent, this.desk.fresh);
      if (made === null) this.desk.change({ said: "What was copied has no nodes: expected YAML or JSON with `nodes`." });
      else if (this.desk.edit(made.gesture)) this.desk.select(made.tails, made.tails.length === 1);
    } catch (error) {
      if (!(error instanceof yaml.Unreadable)) throw error;
      this.desk.change({ said: `What was copied is no YAML: ${error.message}` });
    }
  }
}
