import type { LogEntry } from "../../log/operations.ts";
import type { Replica } from "../../replica/replica.ts";
import type { Why } from "../status.ts";

/** What a sender asks of its session. */
export interface Host {
  readonly replica: () => Replica;
  readonly epoch: () => number;
  readonly keep: () => Promise<void>;
  readonly changed: () => void;
  readonly hear: (item: LogEntry) => void;
  readonly stop: (why: Why) => void;
  readonly go: () => void;
  /** The log does not have the items that are missing here. */
  readonly gone: () => void;
  readonly rename: () => Promise<void>;
  /** The server takes nothing of what is in flight: how many of its operations to send next, null where it was given up. */
  readonly notTaken: (code: string) => number | null;
  readonly idle: () => Promise<void>;
}
