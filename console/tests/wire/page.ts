/** A browser around a line: the requests it sends, the sockets it opens, and hands on the clock. */
import { readObject } from "../../src/editing/values/json.ts";
import { count } from "../../src/editing/log/messages.ts";
import { textAt, type JsonObject } from "../../src/editing/values/values.ts";
import { Line } from "../../src/wire/draft/line.ts";
import { People } from "../../src/wire/draft/people.ts";
import { HandClock } from "../editing/machine.ts";

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: JsonObject | null;
}

/** What a server answers; null: it is not reached. */
export type Answer = readonly [status: number, body: unknown] | null;

export class FakeSocket extends EventTarget {
  static readonly OPEN = 1;
  readyState = 0;
  readonly sent: JsonObject[] = [];

  constructor(readonly address: string) {
    super();
    current.page?.sockets.push(this);
  }

  send(text: string): void {
    this.sent.push(readObject(text));
  }

  open(): void {
    this.readyState = FakeSocket.OPEN;
    this.dispatchEvent(new Event("open"));
  }

  say(message: Record<string, unknown>): void {
    this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify({ v: 1, ...message }) }));
  }

  close(): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.dispatchEvent(new Event("close"));
  }

  types(): string[] {
    return this.sent.map((one) => textAt(one, "t"));
  }
}

const current: { page: Page | null } = { page: null };

/** One page with one line. `answer` is what the server says to a request; an unanswered one hangs until it is aborted. */
export class Page {
  readonly asked: Asked[] = [];
  readonly sockets: FakeSocket[] = [];
  readonly heard: JsonObject[] = [];
  readonly states: string[] = [];
  readonly line: Line;
  private readonly clock = new HandClock();
  private readonly timers = new Map<number, () => void>();
  private started = 0;

  constructor(private readonly answer: (asked: Asked) => Answer | undefined) {
    current.page = this;
    const window = {
      setTimeout: (run: () => void, ms: number) => this.set(run, ms, false), setInterval: (run: () => void, ms: number) => this.set(run, ms, true),
      clearTimeout: (timer: number) => { this.clear(timer); }, clearInterval: (timer: number) => { this.clear(timer); },
    };
    Object.assign(globalThis, {
      window, WebSocket: FakeSocket, location: { protocol: "http:", host: "here" },
      sessionStorage: { getItem: () => null }, fetch: (path: string, options: RequestInit) => this.fetch(path, options),
    });
    this.line = new Line("d", new People(() => 0));
  }

  async start(): Promise<void> {
    this.line.start({
      connected: () => {
        this.states.push("connected");
        this.line.send('{"v":1,"t":"hello","client":"me","tab":"t","after":0,"epoch":1}');
      },
      disconnected: () => { this.states.push("disconnected"); }, hear: (said) => { this.heard.push(readObject(said)); },
    });
    await settle();
  }

  async pass(ms: number): Promise<void> {
    await settle();
    await this.clock.pass(ms);
    await settle();
  }

  /** The socket that was opened last. */
  get socket(): FakeSocket {
    const found = this.sockets.at(-1);
    if (found === undefined) throw new Error("no socket was opened");
    return found;
  }

  enter(): void {
    this.socket.open();
    this.socket.say({ t: "welcome", client: "me", epoch: 1, head: 0, people: [], rates: { ops_per_s: 20, presence_per_s: 20 } });
  }

  op(n: number, tag: string, size = 0): void {
    this.line.send(JSON.stringify({ v: 1, t: "op", client: "me", n, tag, base: 0, gestures: [{ writes: [["set", "doc", ["x"], "x".repeat(size)]] }] }));
  }

  puts(): (readonly [number, string])[] {
    return this.asked.flatMap(({ method, body }) => (method === "PUT" && body !== null ? [[count(body, "n"), textAt(body, "tag")] as const] : []));
  }

  close(): void {
    this.line.close();
    current.page = null;
  }

  private set(run: () => void, ms: number, again: boolean): number {
    this.started += 1;
    const timer = this.started;
    const wait = (): void => {
      this.timers.set(timer, this.clock.after(ms, () => {
        if (again) wait();
        run();
      }));
    };
    wait();
    return timer;
  }

  private clear(timer: number): void {
    this.timers.get(timer)?.();
  }

  private async fetch(path: string, options: RequestInit): Promise<Response> {
    const asked = { method: options.method ?? "GET", path, body: typeof options.body === "string" ? readObject(options.body) : null };
    this.asked.push(asked);
    const answer = path.endsWith("/settings") ? [200, {}] as const : this.answer(asked);
    if (answer === undefined) {
      await new Promise((_, reject) => {
        options.signal?.addEventListener("abort", () => { reject(new DOMException("aborted", "AbortError")); });
      });
    }
    if (answer === null || answer === undefined) throw new TypeError("not reached");
    return new Response(JSON.stringify(answer[1]), { status: answer[0] });
  }
}

/** Lets every promise go on that can. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => { setImmediate(done); });
}
