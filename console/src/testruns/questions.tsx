/** The questions about test runs that the desk asks, whose dialogs are loaded once a draft is open. */
import type { ReactElement } from "react";
import type { Desk, Look } from "../canvas/desk.ts";
import { dialog } from "../ui/loading/part.tsx";
import type { OpenDraft } from "../wire/draft/open_draft.ts";
import type { TestRuns } from "./store.ts";

const TestDialog = dialog(async () => (await import("../canvas/page/aside.ts")).TestDialog);
const PinDialog = dialog(async () => (await import("../canvas/page/aside.ts")).PinDialog);

export function TestQuestions({ desk, look, openDraft, tests }: { readonly desk: Desk; readonly look: Look; readonly openDraft: OpenDraft; readonly tests: TestRuns }): ReactElement | null {
  const { question } = look;
  if (question?.is !== "test" && question?.is !== "pin") return null;
  const close = (): void => { desk.change({ question: null }); };
  return question.is === "test" ? <TestDialog desk={desk} look={look} openDraft={openDraft} tests={tests} stop={question.stop} from={question.from} close={close} />
    : <PinDialog key={question.tail} desk={desk} look={look} tests={tests} tail={question.tail} close={close} />;
}
