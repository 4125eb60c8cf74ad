/** The pane of a source, as a part of a page: it has the editor of texts, which is large. */
import { Bones } from "../ui/loading/notices.tsx";
import { part } from "../ui/loading/part.tsx";

export const SourcePane = part(async () => (await import("./pane.tsx")).default, () => <Bones lines={16} label="The source is loading" />);
