/** The text of a source with the texts of its parts below it, and which of its lines became which node. */
import { defLine, type Lifted, type Lines, type Made, type Node, type Span } from "./made.ts";

/** Nodes of statements that have others in them. */
const SPLITTING: ReadonlySet<string> = new Set(["condition", "loop", "parallel"]);
/** Nodes that a statement needs in addition to the one that it is about. */
const QUIET: ReadonlySet<string> = new Set(["set", "transform", "end", "condition", "fail"]);

/** One function in the text. `first` is the line of its file at which it begins; `before` lines of the text are above it. */
interface Piece {
  readonly file: string;
  readonly first: number;
  readonly count: number;
  readonly before: number;
  readonly nodes: ReadonlyMap<string, Lines>;
}

/** Lines of files. `piece` is null for what no text has. */
interface Placed {
  readonly tail: string;
  readonly piece: Piece | null;
  readonly at: Lines;
  readonly head: Lines;
  readonly call: readonly [Piece, Lines] | null;
  readonly quiet: boolean;
  readonly splits: boolean;
  readonly lifted: Lifted;
}

export class Source {
  /** The line of the file at which the text begins: with the first decorator, while an entry names the line of the `def`. */
  readonly first: number;
  /** The text of the source, and below it those of its parts, each under a line that says where it stands. */
  readonly text: string;
  private readonly pieces: readonly Piece[];
  private readonly placed = new Map<string, Placed>();

  constructor(readonly made: Made, nodes: Iterable<Node>) {
    const given = [...nodes].flatMap((node) => node.at === null ? [] : [{ ...node, at: node.at }]);
    const entries = given.filter((node) => node.entry).map((node) => node.at[0]);
    const lines = linesOf(made.source);
    this.first = entries.length === 0 ? 1 : Math.min(...entries) - defLine(lines, made.name);
    const pieces: Piece[] = [{ file: made.file, first: this.first, count: lines.length, before: 0, nodes: new Map() }];
    if (made.source !== "") {
      for (const { file, name, first, source, nodes: own } of made.parts) {
        lines.push("", `# ${file}, line ${first}: ${name}`);
        const inner = linesOf(source);
        pieces.push({ file, first, count: inner.length, before: lines.length, nodes: own });
        lines.push(...inner);
      }
    }
    this.pieces = pieces;
    this.text = lines.join("\n");
    for (const node of given) this.placed.set(node.tail, this.found(node, node.at));
    this.headed(given.filter((node) => !node.entry).map((node) => node.tail));
  }

  private found({ tail, type, entry, lifted = null }: Node, at: Lines): Placed {
    const id = tail.split("@", 1)[0] ?? tail;
    const [quiet, splits] = [entry || QUIET.has(type), SPLITTING.has(type)];
    const inSource = this.pieces.find(({ file, first, count }) => file === this.made.file && at[0] >= first && at[1] < first + count) ?? null;
    const part = this.pieces.find(({ nodes }) => nodes.has(id));
    const own = part?.nodes.get(id);
    if (part === undefined || own === undefined) return { tail, piece: inSource, at, head: at, call: null, quiet, splits, lifted };
    return { tail, piece: part, at: own, head: own, call: inSource === null ? null : [inSource, at], quiet, splits, lifted };
  }

  /** Ends the heads of compound statements above the first statement in them. */
  private headed(tails: readonly string[]): void {
    const starts = new Map<Piece | null, number[]>();
    for (const tail of tails) {
      const placed = this.placed.get(tail);
      if (placed !== undefined) starts.set(placed.piece, [...(starts.get(placed.piece) ?? []), placed.at[0]]);
    }
    for (const [tail, placed] of this.placed) {
      const [first, last] = placed.at;
      const inner = Math.min(...(starts.get(placed.piece) ?? []).filter((line) => line > first && line <= last));
      if (Number.isFinite(inner)) this.placed.set(tail, { ...placed, head: [first, inner - 1] });
    }
  }

  /** The number of a line of the text in its file; empty for a line that is in no file. */
  number(line: number): string {
    const piece = this.pieceAt(line);
    return piece === undefined ? "" : String(line - piece.before + piece.first - 1);
  }

  private pieceAt(line: number): Piece | undefined {
    return this.pieces.find(({ before, count }) => line > before && line <= before + count);
  }

  /** Where a node comes from; null where the text does not have it. */
  of(tail: string): Span | null {
    const placed = this.placed.get(tail);
    if (placed === undefined || placed.piece === null) return null;
    const { piece, at, head, call, quiet } = placed;
    return { tail, at: moved(at, piece), head: moved(head, piece), call: call === null ? null : moved(call[1], call[0]), quiet };
  }

  /** The lines of the text that Python evaluates in a node, with the node. */
  lifted(): { readonly tail: string; readonly at: Lines }[] {
    const every = [...this.placed.values()];
    return every.flatMap(({ tail, piece, at, lifted }) => {
      if (lifted === null || piece === null) return [];
      const isTest = lifted === "expression" && every.some((other) => other.splits && other.piece === piece && String(other.at) === String(at));
      return [{ tail, at: moved(isTest ? [at[0], at[0]] : at, piece) }];
    });
  }

  /** Whether Python evaluates what a node stands for. */
  isLifted(tail: string): boolean {
    return (this.placed.get(tail)?.lifted ?? null) !== null;
  }

  /** The lines of the file that a node comes from, also where the text does not have them. */
  place(tail: string): Lines | null {
    return this.placed.get(tail)?.at ?? null;
  }

  /** The file of a node that comes from another one than the source; else empty. */
  otherFile(tail: string): string {
    const file = this.placed.get(tail)?.piece?.file ?? this.made.file;
    return file === this.made.file ? "" : file;
  }

  /**
   * The node of a line of the text: of the shortest statement around it, the one that the statement is about. `held` is the one that is
   * chosen already: it stays where another one has the same lines. The line of a call has the nodes of its part, too.
   */
  at(line: number, held: string | null): string | null {
    const piece = this.pieceAt(line);
    if (piece === undefined) return null;
    const inFile = line - piece.before + piece.first - 1;
    let found: Placed[] = [];
    let shortest = Infinity;
    for (const placed of this.placed.values()) {
      const lines = placed.piece === piece ? placed.at : placed.call !== null && placed.call[0] === piece ? placed.call[1] : null;
      if (lines === null || inFile < lines[0] || inFile > lines[1]) continue;
      const length = lines[1] - lines[0];
      if (length < shortest) found = [placed];
      else if (length === shortest) found.push(placed);
      shortest = Math.min(shortest, length);
    }
    if (held !== null && found.some((placed) => placed.tail === held)) return held;
    return (found.find((placed) => !placed.quiet) ?? found[0])?.tail ?? null;
  }
}

function moved([first, last]: Lines, { first: begins, before }: Piece): Lines {
  return [first - begins + 1 + before, last - begins + 1 + before];
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, "").split("\n");
}
