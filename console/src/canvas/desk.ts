/**
 * The editor's own state, in addition to the draft's: the graph that is derived from the view, its layout, what is selected, what is asked.
 *
 * An external store. What others do is derived once a frame; what this person does, at once.
 */
import type { Snapshot } from "../editing/client/status.ts";
import { gather } from "../editing/values/gathering.ts";
import type { Operation } from "../editing/log/operations.ts";
import type { Editing } from "../editing/replica/pending.ts";
import { Changes } from "../editing/changes.ts";
import type { JsonObject } from "../editing/values/values.ts";
import type { State } from "../editing/state.ts";
import { MAX_DRAFT_BLOCKS } from "../editing/tables.ts";
import { madeOf, untied } from "./model/tie.ts";
import type { Made } from "../source/made.ts";
import type { Point } from "../wire/draft/people.ts";
import type { Finding } from "../wire/draft/open_draft.ts";
import type { Graph as Asked, Layout } from "./layout/layout.ts";
import { asked, placed, sameQuestion, UNPLACED, type Placed } from "./layout/placing.ts";
import { findingWords, quieted } from "./model/findings.ts";
import { graphOf, NOTHING, wiresAt, type Graph } from "./model/graph.ts";
import { heightOf } from "./model/sizes.ts";
import type { Fresh } from "./model/keys.ts";
import type { Kinds } from "./model/kinds.ts";
import { notesOf, titleOf, type Notes } from "./notes/notes.ts";

/** What the desk needs of a session. */
export interface Draft {
  readonly snapshot: () => Snapshot;
  readonly subscribe: (listener: () => void) => () => void;
  edit(operation: Operation, how?: Editing): boolean;
  undo(): boolean;
  redo(): boolean;
  flush(): void;
}

/**
 * A list that is open over the canvas. `at`: a point of the canvas, where what is added goes; of a menu, `x` and `y` are where it stands in
 * the page.
 */
export type Question =
  | { readonly is: "add"; readonly after: readonly [tail: string, handle: string] | null; readonly at: readonly [x: number, y: number] | null }
  | { readonly is: "connect"; readonly from: string; readonly handle: string | null }
  | { readonly is: "test"; readonly stop: string; readonly from: string } | { readonly is: "pin"; readonly tail: string }
  | { readonly is: "menu"; readonly x: number; readonly y: number; readonly at: Point | null }
  | { readonly is: "search" } | { readonly is: "commands" } | { readonly is: "keys" } | { readonly is: "about" };

/**
 * `edges`, `chosen`: the edges and the notes that are selected. `renaming`: the block whose name is being typed, `writing`: the note whose
 * text is. `open`: the inspector, where it is a sheet. `following`: the client of the
 * person whose view is shown. `said` is announced only; `remark` is shown until the next edit.
 */
export interface Look {
  readonly graph: Graph;
  readonly layout: Layout | null;
  readonly placed: Placed;
  readonly selected: ReadonlySet<string>;
  readonly edges: ReadonlySet<string>;
  readonly notes: Notes;
  readonly chosen: ReadonlySet<string>;
  readonly findings: ReadonlyMap<string, readonly Finding[]>;
  readonly checked: boolean; // whether findings were read yet
  readonly listed: readonly Finding[];
  readonly question: Question | null;
  readonly renaming: string | null;
  readonly writing: string | null;
  readonly following: string | null;
  readonly open: boolean;
  /** The source that the draft was compiled from. Then the draft is read here, and changed there. */
  readonly made: Made | null;
  readonly draft: Snapshot;
  readonly said: string;
  readonly remark: string;
}

/** What the canvas can be asked to show. */
export interface Viewer {
  open(): void;
  fit(): void;
  reset(): void;
  zoom(by: number): void;
  reveal(tail: string): void;
  centre(): Point;
}

type Change = Partial<Pick<Look, "selected" | "edges" | "chosen" | "question" | "renaming" | "writing" | "following" | "open" | "said" | "remark">>;

const NONE: ReadonlySet<string> = new Set();

export class Desk {
  viewer: Viewer | null = null;
  private look: Look;
  private question: Asked | null = null;
  private stale = false;
  private read: readonly Finding[] = [];
  private readonly tried = new Set<string>(); // the blocks that a person has tested or published
  private readonly changes = new Changes();
  private readonly listeners = new Set<() => void>();
  private readonly leave: () => void;

  /** `ask` has a graph laid out, `later` runs something in the next frame. `settings` is the schema of the fields of a workflow other than its nodes. */
  constructor(
    readonly draft: Draft, readonly kinds: Kinds, readonly fresh: Fresh,
    private readonly ask: (graph: Asked) => void, private readonly later: (run: () => void) => void, readonly settings: JsonObject | null = null,
  ) {
    this.look = {
      graph: NOTHING, layout: null, placed: UNPLACED, selected: NONE, edges: NONE, notes: new Map(), chosen: NONE, findings: new Map(), listed: [], checked: false,
      question: null, renaming: null, writing: null, following: null, open: false, made: null, draft: draft.snapshot(), said: "", remark: "",
    };
    this.leave = draft.subscribe(() => { this.changed(); });
    this.derive();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): Look => this.look;

  get view(): State {
    return this.draft.snapshot().view;
  }

  close(): void {
    this.leave();
  }

  // -- the draft -----------------------------------------------------------------------------------------------------------

  /** Does an operation; what it changes is seen when this returns. */
  edit(operation: Operation | null, how?: Editing): boolean {
    if (operation === null || this.look.made !== null) return false;
    if (this.look.remark !== "") this.look = { ...this.look, remark: "" };
    const done = this.draft.edit(operation, how);
    this.derive();
    return done;
  }

  /** Leaves the source: from here on the draft is edited as a document. */
  untie(): boolean {
    const done = this.draft.edit(untied(this.view));
    this.derive();
    return done;
  }

  undo(): void {
    this.draft.undo();
    this.derive();
  }

  redo(): void {
    this.draft.redo();
    this.derive();
  }

  private changed(): void {
    if (this.stale) return;
    this.stale = true;
    this.later(() => { if (this.stale) this.derive(); });
  }

  private derive(): void {
    this.stale = false;
    const given = this.draft.snapshot();
    const made = madeOf(given.view, this.look.made);
    const draft = made === null ? given : { ...given, canEdit: false };
    const former = this.look.graph;
    const graph = graphOf(draft.view, this.kinds, former, this.changes.until(draft.view));
    const { layout, selected, edges, chosen, renaming, writing } = this.look;
    const notes = notesOf(draft.view, this.look.notes);
    const stays = former.blocks !== NOTHING.blocks && (former === graph || stand(former, graph));
    if (!stays) this.question = this.asking(graph);
    this.put({
      ...this.look, draft, made, graph, placed: stays ? this.look.placed : placed(graph, layout, this.look.placed), selected: kept(selected, graph.blocks),
      edges: kept(edges, graph.wires), renaming: renaming !== null && graph.blocks.has(renaming) ? renaming : null,
      notes, chosen: kept(chosen, notes), writing: writing !== null && notes.has(writing) ? writing : null,
    });
  }

  /** Has the graph laid out, if what the layout depends on is not as it was; what was asked last. */
  private asking(graph: Graph): Asked | null {
    if (graph.blocks.size > MAX_DRAFT_BLOCKS) return this.question;
    const question = asked(graph);
    if (this.question !== null && sameQuestion(this.question, question)) return this.question;
    this.ask(question);
    return question;
  }

  laidOut(layout: Layout): void {
    const first = this.look.layout === null;
    this.put({ ...this.look, layout, placed: placed(this.look.graph, layout, this.look.placed) });
    if (!first) return;
    this.viewer?.open();
    if (this.current !== null) this.viewer?.reveal(this.current); // the one that the address names
  }

  found(read: readonly Finding[]): void {
    this.read = read;
    const findings = new Map<string, Finding[]>();
    const listed = quieted(read, this.tried);
    for (const finding of listed) {
      const tail = finding.key?.slice(finding.key.indexOf("/") + 1) ?? "";
      gather(findings, tail, finding);
    }
    this.put({ ...this.look, findings, listed, checked: true });
  }

  /** A person tests or publishes: what the nodes of now still lack is an error from here on. */
  insist(): void {
    for (const { key } of this.read) if (key !== null) this.tried.add(key);
    this.found(this.read);
  }

  // -- what is selected, what is asked -------------------------------------------------------------------------------------

  change(change: Change): void {
    this.put({ ...this.look, ...change });
  }

  /** Shows why something was not done, or not as it was asked. */
  remark(text: string): void {
    this.put({ ...this.look, remark: text });
  }

  /** Selects blocks and notes, and no edge. The only one is announced. */
  select(tails: Iterable<string>, reveal = false, notes: Iterable<string> = NONE): void {
    const [selected, chosen] = [new Set(tails), new Set(notes)];
    const [only] = selected.size === 1 && chosen.size === 0 ? selected : [];
    const [note] = chosen.size === 1 && selected.size === 0 ? chosen : [];
    const said = only === undefined ? this.counted(selected, chosen) : this.described(only);
    this.put({ ...this.look, selected, edges: NONE, chosen, writing: this.look.writing === note ? this.look.writing : null, said });
    const shown = only ?? (note === undefined ? undefined : `note/${note}`);
    if (reveal && shown !== undefined) this.viewer?.reveal(shown);
  }

  private counted(selected: ReadonlySet<string>, chosen: ReadonlySet<string>): string {
    const [note] = chosen;
    const only = selected.size === 0 && chosen.size === 1 ? this.look.notes.get(note ?? "") : undefined;
    return only === undefined ? counted(selected.size, chosen.size) : `Note: ${titleOf(only)}`;
  }

  /** The block that actions are about; null where there is none or several. */
  get current(): string | null {
    const [only] = this.look.selected;
    return this.look.selected.size === 1 ? (only ?? null) : null;
  }

  /** The note that is selected alone; null where there is none. */
  get note(): string | null {
    const { selected, chosen } = this.look;
    const [only] = chosen;
    return chosen.size === 1 && selected.size === 0 ? (only ?? null) : null;
  }

  described(tail: string): string {
    const block = this.look.graph.blocks.get(tail);
    if (block === undefined) return "";
    const findings = this.look.findings.get(tail) ?? [];
    const after = wiresAt(this.look.graph, tail).filter((wire) => wire.target === tail).map((wire) => this.look.graph.blocks.get(wire.source)?.id ?? "");
    return [
      `${block.id}, ${block.type}`, after.length > 0 ? `after ${after.join(", ")}` : "", block.enabled ? "" : "disabled",
      findingWords(findings),
    ].filter(Boolean).join(", ");
  }

  private put(look: Look): void {
    this.look = look;
    for (const listener of this.listeners) listener();
  }
}

function counted(nodes: number, notes: number): string {
  const parts = [nodes === 0 ? "" : `${nodes} ${nodes === 1 ? "node" : "nodes"}`, notes === 0 ? "" : `${notes} ${notes === 1 ? "note" : "notes"}`].filter(Boolean);
  return parts.length === 0 ? "" : `${parts.join(" and ")} selected`;
}

function kept(tails: ReadonlySet<string>, there: ReadonlyMap<string, unknown>): ReadonlySet<string> {
  for (const tail of tails) if (!there.has(tail)) return new Set([...tails].filter((one) => there.has(one)));
  return tails;
}

/** Whether every block stands where it stood: the same edges, bodies and places, and no block of another size. */
function stand(former: Graph, graph: Graph): boolean {
  if (former.children !== graph.children || former.wires !== graph.wires || former.places !== graph.places) return false;
  if (former.blocks === graph.blocks) return true;
  for (const [tail, block] of graph.blocks) {
    const before = former.blocks.get(tail);
    if (before !== block && (before === undefined || before.container !== block.container || heightOf(before) !== heightOf(block))) return false;
  }
  return true;
}
