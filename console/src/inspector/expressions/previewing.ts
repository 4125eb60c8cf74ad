/** Asks for the value of what is being typed: after a pause, one question at a time, and only the newest counts. */
export interface Ground<Question, Answer> {
  readonly ask: (question: Question, signal: AbortSignal) => Promise<Answer>;
  readonly later: (ms: number, run: () => void) => () => void;
  readonly show: (answer: Answer | null) => void;
}

export const PAUSE_MS = 250;

export class Previewing<Question, Answer> {
  private wanted: Question | null = null;
  private stop: (() => void) | null = null;
  private flight: AbortController | null = null;
  private closed = false;

  constructor(private readonly ground: Ground<Question, Answer>) {}

  /** Another question: the one before it is not asked, or its answer is not awaited. Null: nothing is to be shown. */
  ask(question: Question | null): void {
    this.wanted = question;
    this.stop?.();
    this.stop = null;
    this.flight?.abort();
    if (question === null) this.ground.show(null);
    else this.stop = this.ground.later(PAUSE_MS, () => { this.begin(); });
  }

  close(): void {
    this.closed = true;
    this.stop?.();
    this.flight?.abort();
  }

  private begin(): void {
    this.stop = null;
    if (this.flight !== null || this.closed || this.wanted === null) return; // the end of that one begins the next
    const question = this.wanted;
    const flight = new AbortController();
    this.flight = flight;
    this.ground.ask(question, flight.signal).then(
      (answer) => { this.landed(flight, question, answer); }, () => { this.landed(flight, question, null); },
    );
  }

  private landed(flight: AbortController, question: Question, answer: Answer | null): void {
    this.flight = null;
    if (this.closed) return;
    if (!flight.signal.aborted && this.wanted === question) this.ground.show(answer);
    else if (this.stop === null) this.begin();
  }
}
