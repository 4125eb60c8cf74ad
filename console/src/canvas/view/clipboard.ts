/** Copy, cut and paste by the events of the clipboard: YAML out, YAML or JSON in, from wherever it comes. */
import { remove } from "../actions/changing.ts";
import { fragment } from "../actions/fragments.ts";
import { paste } from "../actions/pasting.ts";
import type { Desk } from "../desk.ts";

type Yaml = typeof import("../../inspector/yaml.ts");

/** Loaded when the page is idle: an event of the clipboard does not wait. */
export class Clipboard {
  private yaml: Yaml | null = null;

  constructor(private readonly desk: Desk) {}

  async load(): Promise<void> {
    this.yaml ??= await import("../../inspector/yaml.ts");
  }

  copy(event: ClipboardEvent, cuts: boolean): void {
    const { graph, selected, draft } = this.desk.snapshot();
    if (this.yaml === null || selected.size === 0 || event.clipboardData === null) return;
    event.preventDefault();
    event.clipboardData.setData("text/plain", this.yaml.print(fragment(draft.view, graph, selected)));
    if (cuts && draft.canEdit) this.desk.edit(remove(graph, selected));
  }

  /** Pastes into the body of what is selected. What is no fragment is said to be none. */
  paste(event: ClipboardEvent): void {
    const { graph, draft } = this.desk.snapshot();
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (this.yaml === null || text.trim() === "" || !draft.canEdit) return;
    event.preventDefault();
    const said = this.take(text, graph.blocks.get(this.desk.current ?? "")?.parent ?? null);
    if (said !== null) this.desk.change({ said });
  }

  private take(text: string, parent: string | null): string | null {
    if (this.yaml === null) return null;
    try {
      const made = paste(this.desk.view, this.desk.kinds, this.yaml.read(text), parent, this.desk.fresh);
      if (made === null) return "What was copied has no nodes: expected YAML or JSON with `nodes`.";
      if (this.desk.edit(made.gesture)) this.desk.select(made.tails, made.tails.length === 1);
      return null;
    } catch (error) {
      if (error instanceof this.yaml.Unreadable) return `What was copied is no YAML: ${error.message}`;
      throw error;
    }
  }
}
