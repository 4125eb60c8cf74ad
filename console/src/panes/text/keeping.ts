/** One text for each open draft: it outlives its pane, so that what does not parse yet is there when the person comes back to it. */
import { textAt } from "../../editing/values/values.ts";
import { explained, Refusal } from "../../wire/api.ts";
import type { OpenDraft } from "../../wire/draft/open_draft.ts";
import type { Served as Text } from "../../wire/draft/served.ts";
import { Manuscript, type Checked, type Ground } from "./writing.ts";

/** The form that a text has in its file, and has not in the page: a mark at its beginning, and lines that all end in CR LF. */
interface Form {
  readonly mark: string;
  readonly isCrlf: boolean;
}

const OF_THE_TEXT: ReadonlySet<number> = new Set([400, 413, 422]);
const MARK = "\ufeff";

export function formOf(text: string): Form {
  const breaks = text.match(/\r?\n/g) ?? [];
  return { mark: text.startsWith(MARK) ? MARK : "", isCrlf: breaks.length > 0 && breaks.every((one) => one === "\r\n") && !/\r(?!\n)/.test(text) };
}

export function shown(text: string, { mark, isCrlf }: Form): string {
  const bare = text.slice(mark.length);
  return isCrlf ? bare.replaceAll("\r\n", "\n") : bare;
}

export function written(text: string, { mark, isCrlf }: Form): string {
  return mark + (isCrlf ? text.replaceAll("\n", "\r\n") : text);
}

export class Keeping {
  readonly manuscript: Manuscript;
  format: Text["format"] = "yaml";
  private form: Form = formOf("");
  private whole = "";

  constructor(private readonly openDraft: OpenDraft) {
    this.manuscript = new Manuscript(this.ground());
    openDraft.session.subscribe(() => { this.manuscript.moved(); });
    window.addEventListener("beforeunload", (event) => { if (this.manuscript.isDirty) event.preventDefault(); });
  }

  /** The draft's text as its file has it: what the server gave last. */
  get served(): string {
    return this.whole;
  }

  private ground(): Ground {
    const { session, routes } = this.openDraft;
    return {
      read: async () => {
        const { seq, text, format } = await routes.text();
        this.whole = text;
        this.format = format;
        this.form = formOf(text);
        return { seq, text: shown(text, this.form) };
      },
      check: (seq, text) => this.check(seq, written(text, this.form)),
      perform: (operations, base) => {
        const done = session.perform(operations, base);
        session.flush();
        return done;
      },
      standing: () => ({ seq: session.replica.seq, settled: session.replica.pending.length === 0, canEdit: session.snapshot().canEdit }),
      later: (ms, run) => {
        const timer = window.setTimeout(run, ms);
        return () => { window.clearTimeout(timer); };
      },
      why: (error) => {
        const { why, mend } = explained(error);
        return `${why} ${mend}`.trim();
      },
    };
  }

  private async check(seq: number, text: string): Promise<Checked> {
    try {
      return await this.openDraft.routes.meant(seq, text);
    } catch (error) {
      if (!(error instanceof Refusal) || !OF_THE_TEXT.has(error.status)) throw error;
      const [finding] = error.objects("findings");
      const [message, mend] = finding === undefined ? [error.message, error.mend] : [textAt(finding, "message"), textAt(finding, "mend")];
      const place = /line (\d+)(?:, column (\d+))?/.exec(finding === undefined ? "" : textAt(finding, "path"));
      const [line, column] = [error.number("line") ?? numberOf(place?.[1]), error.number("column") ?? numberOf(place?.[2])];
      return { fault: { message: capital(message), mend: capital(mend), line, column } };
    }
  }
}

function numberOf(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits);
}

/** The sentences of the server begin in lower case. */
function capital(sentence: string): string {
  const begun = sentence.charAt(0).toUpperCase() + sentence.slice(1);
  return begun === "" || /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

const kept = new WeakMap<OpenDraft, Keeping>();

export function keepingOf(openDraft: OpenDraft): Keeping {
  const held = kept.get(openDraft) ?? new Keeping(openDraft);
  kept.set(openDraft, held);
  return held;
}
