// The feed: delivers a run's events once each and in order, also after a lost connection. Sequence numbers have no gaps: one that
// is too high means that an event was lost, and the stream is opened again after the last known event.

class Feed {
  constructor(url, ask, onEvent, onState) {
    Object.assign(this, { url, ask, onEvent, onState, last: 0, ended: false, retryMs: 1000, silenceMs: 45000, tries: 0 });
  }

  async run() {
    for (const name of ["online", "focus"]) addEventListener(name, () => this.hurry?.());
    while (!this.ended) {
      try {
        await this.read();
      } catch (error) {
        if (error.final) throw error;
      }
      if (this.ended) break;
      this.tries += 1;
      this.onState(this.tries > 1 ? "broken" : "opening");
      const waitMs = Math.min(15000, this.retryMs * 2 ** Math.min(this.tries - 1, 4));
      await new Promise((resolve) => { this.hurry = resolve; setTimeout(resolve, this.tries > 1 ? waitMs : 0); });
    }
    this.onState("ended");
  }

  async read() {
    const abort = new AbortController();
    let silence;
    const heard = () => { clearTimeout(silence); silence = setTimeout(() => abort.abort(), this.silenceMs); };
    heard();
    try {
      const headers = { Accept: "text/event-stream", ...(this.last ? { "Last-Event-ID": String(this.last) } : {}) };
      const response = await this.ask(this.url, { headers, signal: abort.signal, cache: "no-store" });
      if (response.status === 204) { this.ended = true; return; }
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      this.onState("live");
      for (let rest = ""; ;) {
        const { value, done } = await reader.read();
        if (done) return;
        heard();
        rest += value;
        for (let end; (end = rest.indexOf("\n\n")) >= 0; rest = rest.slice(end + 2)) this.take(rest.slice(0, end));
      }
    } finally {
      clearTimeout(silence);
      abort.abort();
    }
  }

  take(block) {
    const frame = {};
    for (const line of block.split("\n")) {
      const colon = line.indexOf(":");
      if (colon > 0) frame[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, "");
    }
    if (frame.retry) this.retryMs = Number(frame.retry) || this.retryMs;
    this.tries = 0;
    if (!frame.id) return;
    const id = Number(frame.id);
    if (id <= this.last) return;
    if (id > this.last + 1) throw new Error("an event is missing");
    this.last = id;
    const event = JSON.parse(frame.data);
    this.ended ||= ["run.completed", "run.failed", "run.cancelled", "run.timed_out"].includes(event.type);
    this.onEvent(event);
  }
}

// The state of each instance, built from the events: status, attempts, waits, log lines, streamed text.
class Story {
  constructor() {
    this.instances = new Map();
    this.byPath = new Map();
    this.events = [];
    this.status = "created";
    this.held = null; // {by, reason} while an operator holds the run
    this.startedMs = this.endedMs = null;
    this.error = null;
  }

  add(event) {
    this.events.push(event);
    const { payload, type } = event, atMs = Date.parse(event.timestamp);
    if (!payload.instance) {
      if (payload.status) this.status = payload.status;
      if (payload.held !== undefined) this.held = payload.held ? { by: payload.by, reason: payload.why } : null;
      if (type === "run.started") this.startedMs = atMs;
      if (/^run\.(completed|failed|cancelled|timed_out)$/.test(type)) { this.endedMs = atMs; this.error = payload.error ?? null; }
      return null;
    }
    const state = this.instance(payload);
    if (payload.status) state.status = payload.status;
    if (payload.handle) state.exit = payload.handle;
    if (type === "loop.started") state.turns = true;
    const open = state.spans.at(-1), close = (status) => { if (open && open.end === null) Object.assign(open, { end: atMs, status }); };
    switch (type) {
      case "node.started":
        close("failed");
        state.attempts = payload.attempt ?? 1;
        state.wait = null;
        state.spans.push({ start: atMs, end: null, status: "running", attempt: state.attempts });
        break;
      case "node.queued":
        close("failed");
        state.wait = payload.limit ? { reason: "limit", resume_at: payload.resume_at, details: { limit: payload.limit.of, ...(payload.limit.key ? { key: payload.limit.key } : {}) } } : null;
        break;
      case "node.waiting": close("running"); state.wait = payload; state.spans.push({ start: atMs, end: null, status: "waiting" }); break;
      case "node.resumed": close("waiting"); state.wait = null; state.spans.push({ start: atMs, end: null, status: "running", attempt: state.attempts }); break;
      case "node.retried": close("failed"); state.failures.push(payload); state.wait = { ...payload, reason: "retry" }; break;
      case "node.log": if (payload.text !== undefined) state.log.push([atMs, payload.text]); break;
      case "node.stream.delta": state.streamed += payload.text ?? ""; break;
      default:
        if (/^node\.(completed|failed|cancelled|skipped|timed_out|blocked|invalidated)$/.test(type)) {
          close(open?.status === "waiting" ? "waiting" : payload.status);
          Object.assign(state, { wait: null, endedMs: atMs, error: payload.error ?? null, reason: payload.reason ?? null });
          if (payload.error) state.failures.push(payload);
        }
    }
    return state;
  }

  instance({ instance, node, kind }) {
    let state = this.instances.get(instance);
    if (!state) {
      state = { instance, node, kind, status: "pending", attempts: 0, spans: [], failures: [], log: [], streamed: "", exit: null,
        wait: null, endedMs: null, error: null, reason: null };
      this.instances.set(instance, state);
      const path = pathOf(instance);
      this.byPath.set(path, [...(this.byPath.get(path) ?? []), state]);
    }
    return state;
  }

  // A summary of the run as text: its status, or what it waits for. Second: the CSS class of its colour.
  summary() {
    const live = [...this.instances.values()], busy = live.some((state) => state.status === "running" && !state.turns);
    if (this.status !== "running" && this.status !== "paused") return [this.status.replace("_", " "), this.status];
    const waiting = live.filter((state) => state.status === "waiting"), parts = new Set();
    for (const state of live) if (state.status === "queued" && state.wait) parts.add(WAITS.limit);
    for (const state of waiting) if (state.wait?.reason !== "timer") parts.add(WAITS[state.wait?.reason] ?? "for an answer");
    const until = waiting.filter((state) => state.wait?.reason === "timer").map((state) => state.wait.resume_at);
    if (until.length) parts.add(`until ${new Date(Math.min(...until)).toLocaleString()}`);
    const said = [busy ? "running" : "", this.held ? "held" : "", parts.size ? `waiting ${[...parts].join(" and ")}` : ""].filter(Boolean);
    return [said.join(", ") || this.status, busy || !said.length ? this.status : "waiting"];
  }

  // The instances of a node. `path` are the containers around it, outermost first.
  of(id, path) {
    return this.byPath.get([...path, id].join("/")) ?? [];
  }
}

const WAITS = { human_input: "for an answer", callback: "for an answer", retry: "for a retry", subrun: "for a child run", limit: "for a limit" };

function pathOf(instance) {
  const [name, ...around] = instance.split("@");
  return [...around.map((part) => part.replace(/\[.*$/, "")).reverse(), name].join("/");
}

const LOUDEST = ["failed", "running", "waiting", "queued", "cancelled", "completed", "skipped", "pending"];
const loudest = (list) => LOUDEST.find((status) => list.some((state) => state.status === status)) ?? "pending";
