// The page: requests the run and its document, draws them, and follows the feed. Texts are inserted as text, never as markup.

const $ = (id) => document.getElementById(id);
const RUN = decodeURIComponent(location.pathname.match(/\/runs\/([^/]+)\/view\/?$/)[1]);
const BASE = location.pathname.replace(/\/runs\/[^/]+\/view\/?$/, ""), URL_OF_RUN = `${BASE}/runs/${encodeURIComponent(RUN)}`;
const KEY = "stepless-api-key", MOST_LANES = 300, MOST_ROWS = 2000;
const MARKS = { pending: "○", queued: "◔", running: "◐", waiting: "‖", completed: "✓", failed: "✕", skipped: "–", cancelled: "⊘",
  created: "○", paused: "‖", timed_out: "✕" };
const ENDED = ["completed", "failed", "cancelled", "timed_out"];
const story = new Story();
let run = null, drawn = null, chosen = null, records = new Map(), asking = null;

function el(tag, attributes = {}, ...children) {
  const made = tag.startsWith("svg:") ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}
const words = (status) => status.replace("_", " ");
const marked = (status) => `${MARKS[status] ?? "○"} ${words(status)}`;
const clock = (ms) => { const at = new Date(ms); return at.toLocaleTimeString([], { hour12: false }) + "." + String(at.getMilliseconds()).padStart(3, "0"); };
function lasting(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60e3) return `${(ms / 1000).toFixed(ms < 10e3 ? 2 : 1)} s`;
  const units = [[86400e3, "d"], [3600e3, "h"], [60e3, "min"], [1e3, "s"]], at = units.findIndex(([size]) => ms >= size);
  const [size, unit] = units[at], next = units[at + 1], rest = next ? Math.floor((ms % size) / next[0]) : 0;
  return `${Math.floor(ms / size)} ${unit}${rest ? ` ${rest} ${next[1]}` : ""}`;
}

// -- requests --------------------------------------------------------------------------------------------------------

// A link may bring the key or the token, as `#token=…`: what follows `#` is not sent to a server. It is taken out of the address.
function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token")?.trim();
  if (!token) return;
  sessionStorage.setItem(KEY, token);
  history.replaceState(null, "", location.pathname + location.search);
}
takeToken();

// A refusal without a problem document is the gateway's.
const SIGNED = "The gateway refused the request. If it accepts signed requests only (Auth iam), open this page through a proxy that signs them";

async function ask(url, options = {}) {
  for (;;) {
    const key = sessionStorage.getItem(KEY);
    const response = await fetch(url, { ...options, headers: { ...options.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) } });
    if (response.ok) return response;
    const problem = await response.json().catch(() => ({}));
    const roleless = key && problem.code === "no_role";
    if (response.status === 401 || roleless) { await askKey(key, roleless ? problem.detail : "That key or token was refused, or has expired"); continue; }
    const error = new Error([problem.detail ?? (response.status === 403 ? SIGNED : `${response.status}`), problem.mend].filter(Boolean).join(": "));
    throw Object.assign(error, { problem, final: response.status < 500 && response.status !== 429 });
  }
}
const get = async (url) => (await ask(url)).json();
const post = async (url, body) =>
  (await ask(url, { method: "POST", headers: { "Content-Type": "application/json", Accept: "application/json" }, body: JSON.stringify(body) })).json();

function askKey(refused, why) {
  asking ??= new Promise((resolve) => {
    sessionStorage.removeItem(KEY);
    if (refused) $("ask-key-why").textContent = `${why}. It stays in this tab and is forgotten when the tab is closed.`;
    $("ask-key").showModal();
    $("ask-key").onclose = () => {
      const key = $("key").value.trim();
      if (!key) return $("ask-key").showModal();
      sessionStorage.setItem(KEY, key);
      $("key").value = "";
      asking = null;
      resolve();
    };
  });
  return asking;
}

function alarm(error) {
  $("alarm").textContent = error ? error.message : "";
  $("alarm").hidden = !error;
}
const trying = (call) => async (event) => { alarm(null); try { await call(event); } catch (error) { alarm(error); } };

// -- head ------------------------------------------------------------------------------------------------------------

let pending = false;
function soon() {
  if (pending) return;
  pending = true;
  setTimeout(() => { pending = false; show(); }, 60);
}

function show() {
  const status = story.status, now = story.endedMs ?? Date.now();
  const [said, looks] = story.summary();
  $("status").textContent = `${MARKS[looks] ?? "○"} ${said}`;
  $("status").className = `badge ${looks}`;
  $("took").textContent = story.startedMs === null ? "" : lasting(now - story.startedMs);
  const held = ENDED.includes(status) ? null : story.held;
  $("cancel").hidden = ENDED.includes(status);
  $("hold").hidden = ENDED.includes(status) || !!held;
  $("release").hidden = !held;
  $("held").textContent = !held ? "" : [`Held${held.by ? ` by ${held.by}` : ""}: nothing new starts`, held.reason].filter(Boolean).join(". ");
  $("rerun").hidden = !run;
  $("forget").hidden = !sessionStorage.getItem(KEY);
  document.title = `${MARKS[status] ?? ""} ${run?.name ?? "Run"} · ${said}`;
  if (drawn) paint();
  showQuestions();
  showWaterfall();
  showDetail();
}

function showFeed(state) {
  const said = { live: "Live", broken: "Connection lost, trying again…", opening: "Connecting…", ended: "Ended" };
  $("feed").textContent = said[state];
  $("feed").className = `quiet feed ${state}`;
}

// -- graph -----------------------------------------------------------------------------------------------------------

const narrow = matchMedia("(max-width: 48rem)");

// Left to right if that fits, else top to bottom. Scaled down to a limit, then scrolled.
function planned() {
  const room = Math.max(200, $("graph").clientWidth - 8);
  const plans = [true, false].map((across) => ({ across, plan: layout(run.document, across) }));
  for (const one of plans) one.scale = Math.min(1, Math.max(0.62, room / (one.plan.width + 8)));
  return plans[0].scale >= 0.85 || plans[0].scale > plans[1].scale ? plans[0] : plans[1];
}

function draw() {
  const { across, plan, scale } = planned();
  const svg = el("svg:svg", { width: (plan.width + 8) * scale, height: (plan.height + 8) * scale, viewBox: `-4 -4 ${plan.width + 8} ${plan.height + 8}`, role: "group", "aria-label": "Nodes" });
  for (const name of ["arrow", "taken-arrow"])
    svg.append(el("svg:marker", { id: name, viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
      el("svg:path", { d: "M0 0 8 4 0 8z", class: name })));
  const frames = plan.boxes.filter((box) => box.container), leaves = plan.boxes.filter((box) => !box.container);
  drawn = { across, boxes: [], curves: [] };
  for (const box of frames) svg.append(drawBox(box));
  for (const curve of plan.curves) {
    const line = el("svg:path", { d: curvePath(curve.points, across), class: "edge", "marker-end": "url(#arrow)" });
    svg.append(line);
    drawn.curves.push({ ...curve, line });
  }
  for (const { edge, points } of plan.curves) {
    if (edge.handle === "source") continue;
    const [[x0, y0], [x1, y1]] = points, t = 0.55, s = t * t * (3 - 2 * t);  // a point on the curve, after the exits separate
    const x = across ? x0 + (x1 - x0) * t : x0 + (x1 - x0) * s, y = across ? y0 + (y1 - y0) * s : y0 + (y1 - y0) * t;
    svg.append(el("svg:text", { class: "exit", x, y: y + 4, "text-anchor": "middle" }, edge.handle));
  }
  for (const box of leaves) svg.append(drawBox(box));
  svg.addEventListener("keydown", walk);
  $("graph").replaceChildren(svg);
  paint();
}

const pen = document.createElement("canvas").getContext("2d"); // measures texts without a layout of the page

function fitted(text, room) {
  pen.font = `600 13px ${getComputedStyle(document.body).fontFamily}`;
  if (pen.measureText(text).width <= room) return text;
  let most = text.length;
  do most -= 1; while (most > 1 && pen.measureText(text.slice(0, most) + "…").width > room);
  return text.slice(0, most) + "…";
}

function drawBox(box) {
  const { id, path, node, x, y, width, height, container } = box;
  const label = node.label ?? id;
  const mark = el("svg:text", { class: "mark", x: x + 10, y: y + 20, "font-weight": 700 }), state = el("svg:text", { class: "small", x: x + 28, y: y + 36 });
  const title = el("svg:title");
  const group = el("svg:g", { class: "node", role: "button", tabindex: -1, "data-path": [...path, id].join("/"), onclick: () => choose(box) },
    title, el("svg:rect", { class: container ? "box frame" : "box", x, y, width, height, rx: 7 }), mark,
    el("svg:text", { x: x + 28, y: y + 20, "font-weight": 600 }, fitted(label, width - 36)), container ? null : state);
  drawn.boxes.push({ ...box, label, group, mark, state, title });
  return group;
}

function paint() {
  const counts = {};
  for (const box of drawn.boxes) {
    const progress = story.of(box.id, box.path), status = loudest(progress);
    counts[status] = (counts[status] ?? 0) + 1;
    const attempts = Math.max(0, ...progress.map((one) => one.attempts));
    const more = [progress.length > 1 ? `× ${progress.length}` : "", attempts > 1 ? `attempt ${attempts}` : ""].filter(Boolean).join(", ");
    box.group.setAttribute("class", `node s-${status}${chosen && pathOf(chosen.instance ?? "") === [...box.path, box.id].join("/") ? " chosen" : ""}`);
    box.mark.textContent = MARKS[status];
    box.state.textContent = `${words(status)}${more ? ` ${more}` : ` · ${box.node.type}`}`;
    const said = `${box.label}, ${box.node.type}: ${words(status)}${more ? `, ${more}` : ""}`;
    box.title.textContent = said;
    box.group.setAttribute("aria-label", said);
  }
  if (!drawn.boxes.some((box) => box.group.getAttribute("tabindex") === "0")) drawn.boxes[0]?.group.setAttribute("tabindex", 0);
  for (const { edge, path, line } of drawn.curves) {
    const sources = story.of(edge.source, path), left = (one) => (one.status === "failed" ? "error" : one.status === "completed" ? one.exit ?? "source" : null);
    const taken = sources.some((one) => left(one) === edge.handle), pruned = !taken && sources.some((one) => ["failed", "completed", "skipped", "cancelled"].includes(one.status));
    line.setAttribute("class", `edge${taken ? " taken" : pruned ? " pruned" : ""}`);
    line.setAttribute("marker-end", taken ? "url(#taken-arrow)" : "url(#arrow)");
  }
  const order = ["running", "waiting", "completed", "failed", "skipped", "cancelled", "queued", "pending"];
  $("summary").textContent = order.filter((status) => counts[status]).map((status) => `${counts[status]} ${status}`).join(" · ") + " — use the arrow keys and Enter to select a node";
}

function walk(event) {
  const here = drawn.boxes.find((box) => box.group === document.activeElement);
  if (!here) return;
  if (event.key === "Enter" || event.key === " ") { event.preventDefault(); return choose(here); }
  const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
  if (!way) return;
  event.preventDefault();
  const middle = (box) => [box.x + box.width / 2, box.y + box.height / 2], [x, y] = middle(here);
  let best = null, least = Infinity;
  for (const box of drawn.boxes) {
    const [a, b] = middle(box), ahead = (a - x) * way[0] + (b - y) * way[1], aside = Math.abs((a - x) * way[1]) + Math.abs((b - y) * way[0]);
    if (box !== here && ahead > 4 && ahead + 2 * aside < least) { best = box; least = ahead + 2 * aside; }
  }
  if (!best) return;
  here.group.setAttribute("tabindex", -1);
  best.group.setAttribute("tabindex", 0);
  best.group.focus();
}

// -- details ---------------------------------------------------------------------------------------------------------

function choose(box) {
  const progress = story.of(box.id, box.path);
  chosen = progress.at(-1) ?? { instance: [box.id, ...[...box.path].reverse()].join("@"), node: box.id, status: "pending", none: true };
  chosen = { ...chosen, label: box.node.label ?? box.id, box };
  if (narrow.matches) $("details-title").scrollIntoView({ block: "start" });
  soon();
  refresh();
}

let refreshing = 0;
function refresh() {
  clearTimeout(refreshing);
  refreshing = setTimeout(trying(async () => {
    const fresh = new Map();
    for (let after = 0; after !== null;) {
      const page = await get(`${URL_OF_RUN}/nodes?limit=1000&after=${after}`);
      for (const record of page.nodes) fresh.set(record.instance, record);
      after = page.cursor;
    }
    records = fresh;
    run = { ...run, ...(await get(URL_OF_RUN)) };
    showQuestions();
    soon();
  }), 250);
}

const value = (title, content) => [el("h3", {}, title), el("pre", { tabindex: 0 }, typeof content === "string" ? content : JSON.stringify(content, null, 2))];
let shown = "";

function showDetail() {
  const parts = [];
  let title = "Run";
  if (!chosen) {
    if (!run) return;
    const facts = [["Run", RUN], ["Workflow", `${run.workflow}, version ${run.version ?? "?"}`], ["Status", story.summary()[0]],
      ["Started", story.startedMs === null ? "not yet" : new Date(story.startedMs).toLocaleString()], ["Steps", String(run.steps)],
      ["Keywords", run.keywords.join(", ")]].filter(([, said]) => said);
    parts.push(el("p", { class: "quiet" }, "Select a node to see its inputs and outputs."),
      el("dl", {}, ...facts.flatMap(([name, said]) => [el("dt", {}, name), el("dd", {}, said)])));
    if (story.error ?? run.error) parts.push(...value("Error", story.error ?? run.error));
    if (run.exception) parts.push(...value("Traceback", run.exception.traceback));
    parts.push(...value("Inputs", run.inputs));
    if (ENDED.includes(run.status)) parts.push(...value("Outputs", run.outputs));
    if (Object.keys(run.variables).length) parts.push(...value("Variables", run.variables));
  } else {
    const progress = story.instances.get(chosen.instance) ?? chosen, record = records.get(chosen.instance), all = story.of(chosen.box.id, chosen.box.path);
    title = chosen.label;
    if (all.length > 1) {
      const pick = el("select", { onchange: (event) => { chosen = { ...story.instances.get(event.target.value), label: chosen.label, box: chosen.box }; soon(); refresh(); } },
        ...all.map((one) => el("option", { value: one.instance, selected: one.instance === chosen.instance }, `${one.instance} (${words(one.status)})`)));
      parts.push(el("label", {}, `${all.length} instances `, pick));
    }
    const first = progress.spans?.[0]?.start, facts = [["Node", chosen.instance], ["Kind", chosen.box.node.type], ["State", marked(progress.status)],
      ["Attempts", progress.attempts ? String(progress.attempts) : ""], ["Exit", progress.exit ?? ""], ["Reason", progress.reason ?? ""],
      ["Took", first && progress.endedMs ? lasting(progress.endedMs - first) : ""],
      ["Tokens", Object.entries(record?.usage ?? {}).map(([name, count]) => `${name} ${count}`).join(", ")]].filter(([, said]) => said);
    parts.push(el("dl", {}, ...facts.flatMap(([name, said]) => [el("dt", {}, name), el("dd", {}, said)])));
    if (progress.failures?.length) {
      const list = progress.failures.map((one) => `attempt ${one.error?.attempt ?? one.attempt ?? "?"}: ${one.error?.code ?? one.cause ?? one.code}: ${one.error?.message ?? one.message ?? ""}`);
      parts.push(...value(progress.status === "failed" ? "Error" : "Failed attempts", list.join("\n")));
      for (const one of progress.failures.filter((one) => one.exception))
        parts.push(...value(progress.failures.length > 1 ? `Traceback of attempt ${one.error?.attempt ?? one.attempt}` : "Traceback", one.exception.traceback));
    }
    if (progress.wait) parts.push(...value("Waits", { for: (WAITS[progress.wait.reason] ?? "an instant").replace("for ", ""), ...(progress.wait.details ?? {}),
      ...(progress.wait.resume_at ? { until: new Date(progress.wait.resume_at).toLocaleString() } : {}) }));
    if (record) parts.push(...value("Inputs", record.inputs));
    for (const call of record?.calls ?? []) {
      const cut = Object.fromEntries(Object.entries(call.previews).map(([name, text]) => [name, `${text}…`]));
      parts.push(...value(`Called with${record.calls.length > 1 ? `, attempt ${call.attempt}` : ""}`, { ...call.params, ...cut }));
    }
    if (record && record.output !== null) parts.push(...value("Output", record.output));
    if (progress.streamed) parts.push(...value("Streamed text", progress.streamed));
    if (progress.log?.length) parts.push(...value("Log", progress.log.map(([at, text]) => `${clock(at)} ${text}`).join("\n")));
    const buttons = [el("button", { type: "button", onclick: () => { chosen = null; soon(); } }, "Show the run")];
    if (!chosen.box.path.length && !progress.none) buttons.push(el("button", { type: "button", onclick: () => openRerun(chosen.box.id) }, "Rerun from here…"));
    parts.push(el("h3", {}, ""), el("div", { class: "buttons" }, ...buttons));
  }
  const text = title + parts.map((part) => part.textContent).join("\0");
  if (text === shown) return;  // an unchanged view keeps focus, selection and scroll position
  shown = text;
  $("details-title").textContent = title;
  $("detail").replaceChildren(...parts);
}

// -- waterfall: idle time is folded --------------------------------------------------------------------------------------

function folded(spans, start, end) {
  const busy = spans.filter((span) => span.status !== "waiting").map((span) => [span.start, span.end]).concat([[start, start], [end, end]]);
  for (const span of spans) busy.push([span.start, span.start], [span.end, span.end]);
  busy.sort((a, b) => a[0] - b[0]);
  const idle = [];
  let upTo = start, worked = 0;
  for (const [from, to] of busy) {
    if (from > upTo) idle.push([upTo, from]);
    worked += Math.max(0, to - Math.max(from, upTo));
    upTo = Math.max(upTo, to);
  }
  const least = Math.max(250, worked * 0.5), width = Math.max(worked * 0.12, 40), gaps = idle.filter(([from, to]) => to - from > least);
  const at = (ms) => gaps.reduce((sum, [from, to]) => sum - (ms >= to ? to - from - width : ms > from ? (ms - from) * (1 - width / (to - from)) : 0), ms - start);
  return { gaps, at, total: Math.max(1, at(end)) };
}

function showWaterfall() {
  const lanes = [...story.instances.values()].filter((progress) => progress.spans.length), shownLanes = lanes.slice(0, MOST_LANES);
  const inside = new Set([...story.instances.values()].flatMap((progress) => progress.instance.split("@").slice(1).map((part) => part.replace(/\[.*$/, ""))));
  if (!lanes.length) return $("waterfall").replaceChildren(el("p", { class: "quiet" }, "No node has started yet."));
  const start = story.startedMs ?? lanes[0].spans[0].start, end = story.endedMs ?? Math.max(Date.now(), start + 1);
  const closed = (span) => ({ ...span, end: span.end ?? end });
  const folds = folded(lanes.filter((progress) => !inside.has(progress.node)).flatMap((progress) => progress.spans.map(closed)), start, end);
  const percent = (ms) => (100 * folds.at(ms)) / folds.total;
  const placed = (made, from, to) => { made.style.left = `${percent(from)}%`; made.style.width = `${percent(to) - percent(from)}%`; return made; };
  $("idle").textContent = folds.gaps.length ? `Idle time is folded, ${lasting(folds.gaps.reduce((sum, [from, to]) => sum + to - from, 0))} in all (⋯). Hatched: waiting.` : "";
  const gaps = () => folds.gaps.map(([from, to]) => placed(el("span", { class: "gap" }), from, to));
  const axis = el("div", { class: "lane axis" }, el("span", { class: "name" }, "Node"),
    el("span", { class: "track" }, ...folds.gaps.map(([from, to]) => placed(el("span", { class: "gap", title: `${lasting(to - from)} idle` }, "⋯"), from, to))),
    el("span", { class: "num" }, "Working"));
  const rows = shownLanes.map((progress) => {
    const spans = progress.spans.map(closed), worked = spans.filter((span) => span.status !== "waiting").reduce((sum, span) => sum + span.end - span.start, 0);
    const said = `${progress.instance}: ${words(progress.status)}, ${lasting(worked)} of work${progress.attempts > 1 ? `, ${progress.attempts} attempts` : ""}`;
    const track = el("span", { class: "track" }, ...gaps(), ...spans.map((span) => placed(el("span", { class: `bar ${inside.has(progress.node) && span.status !== "waiting" ? "around" : ""} ${span.status}`,
      title: `${span.attempt ? `attempt ${span.attempt}, ` : ""}${words(span.status)}: ${lasting(span.end - span.start)}` }), span.start, span.end)));
    return el("div", { class: "lane", role: "img", "aria-label": said, "data-instance": progress.instance },
      el("span", { class: "name", title: progress.instance }, `${MARKS[progress.status]} ${progress.instance}`), track, el("span", { class: "num" }, lasting(worked)));
  });
  const rest = lanes.length - shownLanes.length;
  $("waterfall").replaceChildren(axis, ...rows, ...(rest > 0 ? [el("p", { class: "quiet" }, `${rest} more are not drawn.`)] : []));
}

// -- events ----------------------------------------------------------------------------------------------------------

function fits(row) {
  const wanted = $("filter").value.trim().toLowerCase();
  return !wanted || row.dataset.text.includes(wanted);
}

function showEvent(event) {
  const { instance, node, kind, status, ...said } = event.payload, text = JSON.stringify(said);
  const row = el("tr", { "data-id": event.eventId, "data-text": `${event.type} ${instance ?? ""}`.toLowerCase() }, el("td", {}, String(event.eventId)),
    el("td", { title: event.timestamp }, clock(Date.parse(event.timestamp))), el("td", {}, event.type), el("td", {}, instance ?? "run"),
    el("td", {}, text === "{}" ? "" : text.length > 240 ? text.slice(0, 240) + "…" : text));
  row.hidden = !fits(row);
  $("events").append(row);
  const over = $("events").children.length - MOST_ROWS;
  if (over > 0) $("events").firstElementChild.remove();
  $("count").textContent = over > 0 || event.eventId > MOST_ROWS ? `${event.eventId}, the last ${MOST_ROWS} are shown` : String(event.eventId);
}

// -- questions and buttons ---------------------------------------------------------------------------------------------

function showQuestions() {
  const open = (run?.pauses ?? []).filter((pause) => pause.reason !== "timer" && pause.reason !== "subrun" && (story.instances.get(pause.pause)?.status ?? "waiting") === "waiting");
  const key = JSON.stringify(open.map((pause) => [pause.pause, !!pause.resume]));
  $("questions").hidden = !open.length || ENDED.includes(story.status);
  if ($("questions").dataset.key === key) return;
  $("questions").dataset.key = key;
  $("open").replaceChildren(...open.map((pause) => {
    const link = pause.resume && BASE + pause.resume.slice(pause.resume.lastIndexOf("/resume/")), plain = !Object.keys(pause.details.fields ?? {}).length;
    const decide = (exit) => trying(async () => { await post(link, { decision: exit }); refresh(); });
    const buttons = link && plain ? pause.exits.map((exit) => el("button", { type: "button", onclick: decide(exit) }, EXITS[exit] ?? exit)) : [];
    if (link) buttons.push(el("a", { class: "button", href: link, target: "_blank", rel: "noopener noreferrer" }, plain ? "Open the form" : "Answer…"));
    return el("li", {}, el("p", {}, pause.details.message ?? `${pause.node} waits`), el("p", { class: "quiet" }, [pause.pause,
      pause.deadline ? `until ${new Date(pause.deadline).toLocaleString()}` : "", link ? "" : "your API key may not answer"].filter(Boolean).join(" · ")),
      el("div", { class: "buttons" }, ...buttons));
  }));
}
const EXITS = { approved: "Approve", rejected: "Reject", source: "Continue" };

function openRerun(from = "") {
  $("from").replaceChildren(el("option", { value: "" }, "the start"), ...Object.keys(run.document.nodes).map((id) => el("option", { value: id, selected: id === from }, id)));
  $("inputs").value = JSON.stringify(run.inputs, null, 2);
  $("rerun-fault").hidden = true;
  $("ask-rerun").showModal();
}

async function startRerun(event) {
  event.preventDefault();
  try {
    const body = $("from").value ? { from: $("from").value } : {}, inputs = JSON.parse($("inputs").value);
    if (JSON.stringify(inputs) !== JSON.stringify(run.inputs)) body.inputs = inputs;
    const started = await post(`${URL_OF_RUN}/rerun`, body);
    location.assign(`${BASE}/runs/${encodeURIComponent(started.run_id)}/view`);
  } catch (error) {
    $("rerun-fault").textContent = error.message;
    $("rerun-fault").hidden = false;
  }
}

$("cancel").onclick = () => $("ask-cancel").showModal();
$("cancel-close").onclick = () => $("ask-cancel").close();
$("ask-cancel").querySelector("form").onsubmit = trying(async (event) => {
  event.preventDefault();
  $("ask-cancel").close();
  await post(`${URL_OF_RUN}/cancel`, $("reason").value.trim() ? { reason: $("reason").value.trim() } : {});
});
for (const verb of ["hold", "release"]) $(verb).onclick = trying(() => post(`${URL_OF_RUN}/${verb}`, {}));
$("rerun").onclick = () => openRerun();
$("rerun-close").onclick = () => $("ask-rerun").close();
$("ask-rerun").querySelector("form").onsubmit = startRerun;
$("forget").onclick = () => { sessionStorage.removeItem(KEY); location.reload(); };
$("filter").oninput = () => { for (const row of $("events").children) row.hidden = !fits(row); };
let roomBefore = 0;
new ResizeObserver(() => {
  const room = $("graph").clientWidth;
  if (!drawn || Math.abs(room - roomBefore) < 24) return;
  roomBefore = room;
  draw();
}).observe($("graph"));

// -- begin -----------------------------------------------------------------------------------------------------------

async function begin() {
  run = await get(URL_OF_RUN);
  const version = await get(`${BASE}/workflows/${encodeURIComponent(run.workflow)}${run.version ? `/versions/${run.version}` : ""}`);
  run = { ...run, document: version.document, name: version.name };
  $("title").textContent = version.name;
  $("subtitle").textContent = `${RUN} · version ${run.version ?? "?"}${run.tags.length ? ` · ${run.tags.join(", ")}` : ""}`;
  story.status = run.status;
  story.held = run.held;
  draw();
  showQuestions();
  show();
  setInterval(() => { if (!ENDED.includes(story.status)) soon(); }, 1000);
  const feed = new Feed(`${URL_OF_RUN}/events`, ask, (event) => {
    const progress = story.add(event);
    showEvent(event);
    soon();
    if (!progress || progress.instance === chosen?.instance || event.type === "node.waiting" || event.type === "node.resumed") refresh();
  }, showFeed);
  await feed.run();
}

begin().catch((error) => { alarm(error); $("feed").textContent = "Not connected"; });
