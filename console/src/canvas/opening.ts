/** Opens a draft with all that the editor needs with it: kinds, layout, findings. */
import { entryRead } from "../editing/log/messages.ts";
import { browserChance, openRows } from "../editing/ports/browser.ts";
import { textAt } from "../editing/values/values.ts";
import { Refusal, request } from "../wire/api.ts";
import { TestRuns } from "../testruns/store.ts";
import { serverNow } from "../wire/clock.ts";
import { OpenDraft } from "../wire/draft/open_draft.ts";
import { Announcer } from "./announcing.ts";
import { Desk } from "./desk.ts";
import { Layouts } from "./layout/layouts.ts";
import { kindsRead, workflowRead } from "./model/kinds.ts";

const STORED = "stepless.drafts"; // the database of this browser
const FINDINGS_MS = 500; // after the last change
const AGAIN_MS = 5_000; // after the server did not answer
const FRAME_LOST_MS = 100; // a page in the background has no frames

export interface Opened {
  readonly openDraft: OpenDraft;
  readonly desk: Desk;
  readonly tests: TestRuns;
  readonly close: () => void;
}

export async function openDraft(id: string): Promise<Opened> {
  let made: Desk | null = null;
  const layouts = new Layouts((layout) => { made?.laidOut(layout); }); // its worker starts while the draft is on its way
  const entered = enterDraft(id);
  const [kinds, openDraft] = await Promise.all([request("GET", "/kinds"), entered]).catch((error: unknown) => {
    layouts.close();
    entered.then((openDraft) => { openDraft.close(); }, () => undefined); // its error, where it has one, is the one thrown here or comes after it
    throw error;
  });
  const desk = new Desk(openDraft.session, kindsRead(kinds), () => browserChance.word(), (graph) => { layouts.ask(graph); }, inNextFrame, workflowRead(kinds));
  made = desk;
  const stop = watchFindings(openDraft, desk);
  let selected = desk.snapshot().selected;
  const tell = desk.subscribe(() => {
    const next = desk.snapshot().selected;
    if (next === selected) return;
    selected = next;
    openDraft.line.at({ selection: [...next].slice(0, 100) });
  });
  const announcer = new Announcer(() => desk.view, (said) => { desk.change({ said }); });
  openDraft.changedBy = (item) => { announcer.heard(textAt(item, "by"), entryRead(item).effects); };
  const tests = new TestRuns({ draft: id, graph: () => desk.snapshot().graph, now: serverNow, load: () => import("../runstate/store.ts") });
  openDraft.line.heardRun = tests.hear;
  openDraft.line.entered = () => void tests.open();
  void tests.open();
  // So that they are there when the network is not; what fails here is loaded when it is used.
  for (const later of [import("./page/aside.ts"), import("../inspector/field.tsx"), import("./keyboard/carrying.ts")]) later.catch(() => undefined);
  return {
    openDraft, desk, tests,
    close() {
      tests.close();
      announcer.close();
      tell();
      stop();
      desk.close();
      layouts.close();
      openDraft.close();
    },
  };
}

async function enterDraft(id: string): Promise<OpenDraft> {
  const openDraft = new OpenDraft(id, await openRows(STORED));
  try {
    await openDraft.start();
  } catch (error) {
    openDraft.close();
    throw error;
  }
  return openDraft;
}

function inNextFrame(run: () => void): void {
  const once = (): void => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    run();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, FRAME_LOST_MS);
}

/** Whether the same request may succeed later: the server was not reached, or is busy. */
function isPassing(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Refusal && (error.status === 429 || error.status >= 500));
}

/** Reads the findings again when the draft has stood still for a moment and all of it is saved. */
function watchFindings(openDraft: OpenDraft, desk: Desk): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = false;
  let gone = false;
  const read = async (): Promise<void> => {
    try {
      const found = await openDraft.findings();
      if (!asked && !gone) desk.found(found);
    } catch (error) {
      if (error instanceof Refusal && error.status === 404) gone = true; // a server without this route
      else if (!gone && isPassing(error)) changed(AGAIN_MS); // what is listed is of the draft as it was
    }
  };
  const changed = (delay = FINDINGS_MS): void => {
    if (gone) return;
    asked = true;
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (desk.draft.snapshot().status.is !== "saved") return;
      asked = false;
      void read();
    }, delay);
  };
  const leave = openDraft.session.subscribe(() => { changed(); });
  changed();
  return () => {
    gone = true;
    clearTimeout(timer);
    leave();
  };
}
