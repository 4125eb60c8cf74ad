/** The list below an expression of what could be meant: a listbox next to its editor, in the same shadow tree. */
import type { Option } from "./completing.ts";

const STYLE = `
  :host { position: relative; display: block; }
  ul { position: absolute; z-index: 9; top: calc(100% + 4px); left: -1px; right: -1px; max-height: 232px; margin: 0; padding: 4px; overflow-y: auto; list-style: none;
    border: 1px solid var(--line); border-radius: var(--corner); background: var(--raised); box-shadow: var(--shadow); font: var(--size-1)/16px var(--sans); }
  ul[hidden] { display: none; }
  li { display: flex; align-items: baseline; gap: 8px; padding: 4px 8px; border-radius: var(--corner-in); color: var(--text); cursor: pointer; }
  li[aria-selected="true"] { background: var(--accent-soft); }
  b { flex: none; max-width: 60%; font: 400 var(--size-1)/16px var(--mono); }
  i { flex: none; color: var(--text-2); font-style: normal; }
  span { flex: 1; min-width: 0; color: var(--text-2); text-align: right; }
  b, i, span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
`;

export class Choices {
  private readonly list = document.createElement("ul");
  private options: readonly Option[] = [];
  private place = 0;

  constructor(root: ShadowRoot, private readonly field: HTMLElement, private readonly take: (option: Option) => void) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
    this.list.id = "choices";
    this.list.hidden = true;
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", "Suggestions");
    this.list.addEventListener("mousedown", (event) => { // before the field loses the focus
      event.preventDefault();
      const row = event.target instanceof Element ? event.target.closest("li") : null;
      const option = row === null ? undefined : this.options[[...this.list.children].indexOf(row)];
      if (option !== undefined) this.take(option);
    });
    root.append(this.list);
  }

  get isOpen(): boolean {
    return !this.list.hidden;
  }

  get chosen(): Option | null {
    return this.isOpen ? this.options[this.place] ?? null : null;
  }

  show(options: readonly Option[]): void {
    this.options = options;
    this.place = 0;
    this.list.hidden = options.length === 0;
    this.list.replaceChildren(...options.map((option, place) => row(option, place)));
    this.mark();
  }

  /** Goes on in the list; whether it is open. */
  move(by: number): boolean {
    if (!this.isOpen) return false;
    const last = this.options.length - 1;
    this.place = Math.abs(by) > 1 ? Math.max(0, Math.min(last, this.place + by)) : (this.place + by + last + 1) % (last + 1);
    this.mark();
    return true;
  }

  close(): void {
    this.list.remove();
  }

  private mark(): void {
    [...this.list.children].forEach((one, place) => { one.setAttribute("aria-selected", String(place === this.place)); });
    const chosen = this.list.children[this.place];
    if (this.isOpen && chosen !== undefined) {
      this.field.setAttribute("aria-activedescendant", chosen.id);
      chosen.scrollIntoView({ block: "nearest" });
    } else this.field.removeAttribute("aria-activedescendant");
  }
}

function row({ label, detail, about }: Option, place: number): HTMLElement {
  const made = document.createElement("li");
  made.id = `choice-${place}`;
  made.setAttribute("role", "option");
  for (const [tag, text] of [["b", label], ["i", detail], ["span", about]] as const) {
    const part = document.createElement(tag);
    part.textContent = text;
    made.append(part);
  }
  made.title = about;
  return made;
}
