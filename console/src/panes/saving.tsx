/** Saving to the file under `stepless dev`, publishing, and the questions that both may lead to. */
import { useCallback, useMemo, useState, type ReactElement } from "react";
import type { Desk, Look } from "../canvas/desk.ts";
import { dialog } from "../ui/loading/part.tsx";
import { explained, Refusal } from "../wire/api.ts";
import type { OpenDraft } from "../wire/draft/open_draft.ts";
import { whyNot } from "../wire/draft/comparison.ts";
import { settled } from "./settled.ts";

const Publish = dialog(async () => (await import("../canvas/page/aside.ts")).Publish);
const Conflicts = dialog(async () => (await import("../canvas/page/aside.ts")).Conflicts);
const Files = dialog(async () => (await import("../canvas/page/aside.ts")).Files);

type Asked = { readonly is: "publish" } | { readonly is: "conflicts" } | { readonly is: "files"; readonly files: readonly string[] } | null;

/** `said`: what became of the last time. */
export interface Saving {
  readonly said: string;
  readonly failed: boolean;
  readonly isBusy: boolean;
  readonly save: () => void;
  readonly publish: () => void;
  readonly solve: () => void;
  readonly asked: Asked;
  readonly ask: (asked: Asked) => void;
  readonly saveTo: (file: string) => void;
}

export function useSaving(openDraft: OpenDraft): Saving {
  const [asked, ask] = useState<Asked>(null);
  const [said, setSaid] = useState({ text: "", failed: false });
  const [isBusy, setBusy] = useState(false);
  const write = useCallback((file: string | null) => {
    if (!openDraft.comparison.canSave) { // there is no file: what waits is sent
      openDraft.session.flush();
      return;
    }
    const why = whyNot(openDraft.comparison);
    if (why !== "") {
      setSaid({ text: `${why}.`, failed: true });
      return;
    }
    setBusy(true);
    settled(openDraft).then((seq) => openDraft.routes.save(seq, file)).then((name) => {
      setSaid({ text: `Saved to ${name}`, failed: false });
      ask(null);
    }, (error: unknown) => {
      setSaid({ text: explained(error).why, failed: true });
      if (!(error instanceof Refusal)) return;
      if (error.code === "file_changed") ask({ is: "conflicts" });
      if (error.code === "files_claim_id") ask({ is: "files", files: error.texts("violations") });
    }).finally(() => {
      setBusy(false);
      void openDraft.look();
    });
  }, [openDraft]);
  const actions = useMemo(() => ({
    save: () => { write(null); }, saveTo: (file: string) => { write(file); },
    publish: () => {
      const why = whyNot(openDraft.comparison);
      if (why === "") ask({ is: "publish" });
      else setSaid({ text: `${why}.`, failed: true });
    }, solve: () => { ask({ is: "conflicts" }); }, ask,
  }), [openDraft, write]);
  return { said: said.text, failed: said.failed, isBusy, asked, ...actions };
}

export function SavingQuestions({ desk, look, openDraft, saving }: { readonly desk: Desk; readonly look: Look; readonly openDraft: OpenDraft; readonly saving: Saving }): ReactElement | null {
  const { asked } = saving;
  if (asked === null) return null;
  const close = (): void => { saving.ask(null); };
  switch (asked.is) {
    case "publish":
      return <Publish desk={desk} look={look} openDraft={openDraft} close={close} solve={saving.solve} />;
    case "conflicts":
      return <Conflicts openDraft={openDraft} close={close} canEdit={look.draft.canEdit} />;
    case "files":
      return <Files files={asked.files} workflow={openDraft.draft} close={close} choose={saving.saveTo} />;
  }
}
