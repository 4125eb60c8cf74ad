/**
 * Asks the worker for layouts. One request is under way; of those that come meanwhile, the last one follows it.
 */
import type { Graph, Layout } from "./layout.ts";

interface Answer {
  readonly number: number;
  readonly layout: Layout;
}

export class Layouts {
  private readonly worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  private number = 0;
  private busy = false;
  private waiting: Graph | null = null;

  constructor(private readonly made: (layout: Layout) => void) {
    this.worker.addEventListener("message", (event: MessageEvent<Answer>) => {
      this.busy = false;
      const next = this.waiting;
      this.waiting = null;
      this.made(event.data.layout);
      if (next !== null) this.ask(next);
    });
  }

  ask(graph: Graph): void {
    if (this.busy) {
      this.waiting = graph;
      return;
    }
    this.busy = true;
    this.number += 1;
    this.worker.postMessage({ number: this.number, graph });
  }

  close(): void {
    this.worker.terminate();
  }
}
