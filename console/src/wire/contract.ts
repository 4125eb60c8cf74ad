/** Requests and responses of the API. Generated from contract/openapi.json by contract/typescript.py: `make contract`. */
/* eslint max-lines: "off" -- generated, and only types */

/** The query of `GET /workflows`. */
export interface ListWorkflowsQuery {
  readonly limit?: number;
  readonly cursor?: string | null;
}

/** The query of `GET /workflows/{workflow_id}/versions/{number}`. */
export interface ReadVersionQuery {
  readonly format?: "json" | "yaml";
}

/** The query of `GET /schedules`. */
export interface ListSchedulesQuery {
  readonly limit?: number;
  readonly cursor?: string | null;
}

/** The body of `POST /workflows/{workflow_id}/schedules/{node}/pause`. */
export interface PauseScheduleBody {
  readonly by?: string | null;
  readonly reason?: string | null;
}

/** The body of `POST /workflows/{workflow_id}/schedules/{node}/resume`. */
export interface ResumeScheduleBody {
  readonly by?: string | null;
}

/** The body of `POST /workflows/{workflow_id}/schedules/{node}/fire`. */
export interface FireScheduleBody {
  readonly by?: string | null;
}

/** The query of `GET /runs`. */
export interface ListRunsQuery {
  readonly workflow?: string | null;
  readonly status?: string | null;
  readonly waiting?: "held" | "answer" | "time" | "retry" | "child" | "limit" | "message" | "start" | null;
  readonly since?: string | null;
  readonly until?: string | null;
  readonly key?: string | null;
  readonly search?: string | null;
  readonly error?: string | null;
  readonly min_duration_ms?: number | null;
  readonly max_duration_ms?: number | null;
  readonly limit?: number;
  readonly cursor?: string | null;
  readonly keyword?: readonly string[];
  readonly tag?: readonly string[];
}

/** The query of `GET /runs/count`. */
export interface CountRunsQuery {
  readonly workflow?: string | null;
  readonly status?: string | null;
  readonly waiting?: "held" | "answer" | "time" | "retry" | "child" | "limit" | "message" | "start" | null;
  readonly since?: string | null;
  readonly until?: string | null;
  readonly key?: string | null;
  readonly search?: string | null;
  readonly error?: string | null;
  readonly min_duration_ms?: number | null;
  readonly max_duration_ms?: number | null;
  readonly limit?: number;
  readonly cursor?: string | null;
  readonly keyword?: readonly string[];
  readonly tag?: readonly string[];
}

/** The body of `POST /runs/{run_id}/cancel`. */
export interface CancelRunBody {
  readonly by?: string | null;
  readonly reason?: string | null;
}

/** The body of `POST /runs/{run_id}/hold`. */
export interface HoldRunBody {
  readonly by?: string | null;
  readonly reason?: string | null;
}

/** The body of `POST /runs/{run_id}/release`. */
export interface ReleaseRunBody {
  readonly by?: string | null;
  readonly reason?: string | null;
}

/** The body of `POST /runs/{run_id}/pause`. */
export interface PauseRunBody {
  readonly by?: string | null;
  readonly reason?: string | null;
}

/** The body of `POST /runs/{run_id}/unpause`. */
export interface UnpauseRunBody {
  readonly by?: string | null;
  readonly reason?: string | null;
}

/** The body of `POST /runs/{run_id}/rerun`. */
export interface RerunRunBody {
  readonly from?: string | null;
  readonly inputs?: unknown;
  readonly items?: "failed" | readonly number[] | null;
  readonly again?: boolean;
  readonly by?: string | null;
  readonly reason?: string | null;
}

/** The body of `POST /runs/bulk`. */
export interface ChangeRunsBody {
  readonly action: "cancel" | "hold" | "release" | "rerun" | "pause" | "unpause";
  readonly filter: { readonly workflow?: string | null; readonly status?: string | null; readonly waiting?: "held" | "answer" | "time" | "retry" | "child" | "limit" | "message" | "start" | null; readonly since?: string | null; readonly until?: string | null; readonly key?: string | null; readonly search?: string | null; readonly error?: string | null; readonly min_duration_ms?: number | null; readonly max_duration_ms?: number | null; readonly keywords?: readonly string[]; readonly tags?: readonly string[] };
  readonly limit?: number;
  readonly cursor?: string | null;
  readonly dry_run?: boolean;
  readonly again?: boolean;
  readonly from?: string | null;
  readonly by?: string | null;
  readonly reason?: string | null;
}

/** The query of `DELETE /runs/{run_id}`. */
export interface EraseRunQuery {
  readonly dry_run?: boolean;
  readonly force?: boolean;
}

/** The query of `POST /workflows/{workflow_id}/runs`. */
export interface StartRunQuery {
  readonly idempotent?: "inputs" | null;
  readonly check?: "inputs" | null;
}

/** The body of `POST /workflows/{workflow_id}/runs`. */
export interface StartRunBody {
  readonly keywords?: readonly string[];
  readonly tags?: readonly string[];
  readonly inputs?: unknown;
  readonly key?: string | number | null;
  readonly delay?: string | null;
  readonly at?: string | null;
  readonly entry?: string | readonly string[] | null;
}

/** The query of `GET /runs/{run_id}/nodes`. */
export interface ListNodesQuery {
  readonly after?: number;
  readonly limit?: number;
  readonly instance?: string | null;
}

/** The query of `GET /runs/{run_id}/tags`. */
export interface ListTagsQuery {
  readonly after?: number;
  readonly limit?: number;
}

/** The body of `PATCH /runs/{run_id}/nodes/{instance}`. */
export interface ChangeItemsBody {
  readonly concurrency?: number | null;
  readonly tolerate?: { readonly count?: number | null; readonly percent?: number | null } | null;
}

/** The query of `GET /runs/{run_id}/summary`. */
export interface SummarizeRunQuery {
  readonly after?: number;
  readonly wait_s?: number;
}

/** The query of `GET /runs/{run_id}/timeline`. */
export interface ListTimelineQuery {
  readonly node?: string | null;
  readonly instance?: string | null;
  readonly status?: Status | "pending" | null;
  readonly from_ms?: number | null;
  readonly to_ms?: number | null;
  readonly after?: number;
  readonly limit?: number;
}

/** The query of `GET /runs/{run_id}/events`. */
export interface ReplayEventsQuery {
  readonly afterEventId?: string | null;
  readonly limit?: number;
  readonly instance?: string | null;
  readonly node?: string | null;
  readonly type?: string | null;
  readonly text?: string | null;
  readonly inputs?: boolean;
}

/** The query of `GET /approvals`. */
export interface ListApprovalsQuery {
  readonly workflow?: string | null;
  readonly due_before?: string | null;
  readonly assigned?: boolean;
  readonly limit?: number;
  readonly cursor?: string | null;
}

/** The query of `GET /approvals/decisions`. */
export interface ListDecisionsQuery {
  readonly limit?: number;
  readonly cursor?: string | null;
}

/** The body of `POST /runs/{run_id}/pauses/{pause}/answer`. */
export interface AnswerPauseBody {
  readonly decision?: string | null;
  readonly answer?: unknown;
  readonly by?: string | null;
  readonly comment?: string | null;
}

/** The query of `POST /workflows/{workflow_id}/messages/{name}`. */
export interface SendMessageQuery {
  readonly key: string;
  readonly keep?: string | null;
  readonly start?: boolean;
  readonly inputs?: string | null;
}

/** The query of `GET /errors`. */
export interface ListErrorsQuery {
  readonly workflow?: string | null;
  readonly since?: string | null;
}

/** The query of `GET /workflows/{workflow_id}/stats`. */
export interface ReadStatsQuery {
  readonly window?: string;
}

/** The query of `GET /stats`. */
export interface ListStatsQuery {
  readonly window?: string;
  readonly limit?: number;
  readonly cursor?: string | null;
}

/** The query of `GET /workflows/{workflow_id}/versions`. */
export interface ListVersionsQuery {
  readonly before?: number | null;
  readonly limit?: number;
}

/** The query of `GET /workflows/{workflow_id}/diff`. */
export interface CompareVersionsQuery {
  readonly from: number;
  readonly to: number;
}

/** The body of `POST /keys`. */
export interface MakeKeyBody {
  readonly name: string;
  readonly roles: readonly ("read" | "run" | "send" | "edit" | "approve" | "admin")[];
}

/** The query of `GET /audit`. */
export interface ListAuditQuery {
  readonly limit?: number;
  readonly cursor?: string | null;
  readonly who?: string | null;
  readonly verb?: string | null;
  readonly target?: string | null;
  readonly since?: string | null;
  readonly until?: string | null;
}

/** The query of `GET /drafts`. */
export interface ListDraftsQuery {
  readonly limit?: number;
  readonly cursor?: string | null;
}

/** The body of `POST /drafts/{workflow_id}`. */
export interface OpenDraftBody {
  readonly from?: "version" | "document" | "empty";
  readonly version?: number | null;
  readonly document?: Readonly<Record<string, unknown>> | null;
  readonly text?: string | null;
}

/** The query of `GET /drafts/{workflow_id}/ops`. */
export interface ReadOpsQuery {
  readonly epoch: number;
  readonly after?: number;
  readonly limit?: number;
  readonly wait?: number;
}

/** The body of `PUT /drafts/{workflow_id}/ops`. */
export interface EditDraftBody {
  readonly epoch: number;
  readonly client: string;
  readonly n: number;
  readonly tag: string;
  readonly base: number;
  readonly gestures: readonly (Readonly<Record<string, unknown>>)[];
  readonly first?: string;
}

/** The query of `GET /drafts/{workflow_id}/document`. */
export interface ReadDraftDocumentQuery {
  readonly seq?: number | null;
}

/** The query of `GET /drafts/{workflow_id}/findings`. */
export interface ReadDraftFindingsQuery {
  readonly seq?: number | null;
}

/** The body of `POST /drafts/{workflow_id}/conflicts`. */
export interface SettleDraftConflictBody {
  readonly key: string;
  readonly path: readonly string[];
  readonly take: "draft" | "file";
}

/** The body of `POST /drafts/{workflow_id}/publish`. */
export interface PublishDraftBody {
  readonly seq: number;
  readonly message?: string;
}

/** The body of `POST /drafts/{workflow_id}/save`. */
export interface SaveDraftBody {
  readonly seq: number;
  readonly file?: string | null;
}

/** The query of `GET /drafts/{workflow_id}/yaml`. */
export interface ReadDraftTextQuery {
  readonly seq?: number | null;
}

/** The body of `POST /drafts/{workflow_id}/yaml`. */
export interface TypeDraftTextBody {
  readonly seq: number;
  readonly text: string;
}

/** The query of `GET /drafts/{workflow_id}/diff`. */
export interface CompareDraftQuery {
  readonly against?: string;
  readonly seq?: number | null;
}

/** The query of `GET /drafts/{workflow_id}/history`. */
export interface ReadDraftHistoryQuery {
  readonly before?: number | null;
  readonly limit?: number;
}

/** The body of `POST /drafts/{workflow_id}/restore`. */
export interface RestoreDraftBody {
  readonly version?: number | null;
  readonly seq?: number | null;
}

/** The body of `POST /drafts/{workflow_id}/evaluate`. */
export interface EvaluateDraftBody {
  readonly node: string;
  readonly expression?: string | null;
  readonly text?: string | null;
  readonly place?: string;
  readonly run?: string | null;
}

/** The query of `GET /drafts/{workflow_id}/scope`. */
export interface ReadDraftScopeQuery {
  readonly node: string;
  readonly run?: string | null;
}

/** The body of `POST /drafts/{workflow_id}/runs`. */
export interface RunDraftNowBody {
  readonly inputs?: unknown;
  readonly seq?: number | null;
  readonly pins?: Readonly<Record<string, { readonly output: unknown; readonly handle?: string | null }>> | null;
  readonly stop_after?: string | null;
  readonly from_run?: string | null;
  readonly from?: string | null;
  readonly entry?: string | readonly string[] | null;
}

/** The body of `POST /import`. */
export interface ConvertExportBody {
  readonly tool?: "sim" | "n8n";
  readonly export: Readonly<Record<string, unknown>>;
}

/** The body of `POST /console/session`. */
export interface OpenConsoleBody {
  readonly code: string;
  readonly name?: string;
}

/** The body of `POST /resume/{token}`. */
export interface DecideBody {
  readonly decision?: string | null;
  readonly answer?: unknown;
  readonly by?: string | null;
  readonly comment?: string | null;
}

export interface AllStatsOut {
  readonly workflows: readonly WorkflowStatsOut[];
  readonly cursor: string | null;
}

/**
 * An open question. `name` is that of the workflow, `asked_by` who asks, where the approval says it. `fields` are the
 * JSON Schemas of the fields of its answer, `exits` the decisions that it takes, `approvers` those whom it was sent to.
 * `resume` is the signed link that answers it; `run` is the path of its run.
 */
export interface ApprovalOut {
  readonly run_id: string;
  readonly workflow: string;
  readonly name: string;
  readonly version: number | null;
  readonly pause: string;
  readonly node: string;
  readonly message: string;
  readonly details: readonly DetailOut[];
  readonly asked_by: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly exits: readonly string[];
  readonly approvers: readonly string[];
  readonly since: string;
  readonly deadline: string | null;
  readonly resume: string | null;
  readonly run: string;
}

/**
 * The nearest deadline first, then those without one, the newest first. `count` is how many questions there are, listed
 * or not; with `at_least`, there may be more. `cursor` continues with those that come after, null if there are none.
 * `left_out` did not fit into the response: the cursor continues with them. `deciding_as` is the person whom the links
 * record as the decider; null if the answer says who. `unreadable` are runs whose log cannot be read.
 */
export interface ApprovalsOut {
  readonly approvals: readonly ApprovalOut[];
  readonly count: number;
  readonly at_least: boolean;
  readonly left_out: number;
  readonly cursor: string | null;
  readonly deciding_as: string | null;
  readonly unreadable: readonly string[];
}

/**
 * `verb` is the name of the operation in /openapi.json. `refused` is the code of the error, null if the request was not
 * refused. `details` has its query, and facts of its body. With `damage`, the entry is damaged in the store, and only
 * its id and time are known.
 */
export interface AuditOut {
  readonly id: string;
  readonly at: string;
  readonly who: string;
  readonly verb: string;
  readonly target: string;
  readonly source: string;
  readonly refused: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly damage?: DamageOut;
}

export interface AuditPageOut {
  readonly entries: readonly AuditOut[];
  readonly cursor: string | null;
}

/** One line: `count` times `what` in one run, at `usd` for `per` of them. */
export interface BillLineOut {
  readonly what: string;
  readonly count: number;
  readonly usd: number;
  readonly per: number;
  readonly usd_per_million_runs: number;
  readonly note: string;
}

/** A paragraph, whose lines are broken, or the items of a list. */
export interface BlockOut {
  readonly is_list: boolean;
  readonly lines: readonly (readonly SpanOut[])[];
}

/**
 * `matched` is the number of matching runs; `done` are the changed runs, or the new runs of a rerun, each with the run
 * that it repeats in `changed`; `cursor` continues with older runs, null if there are none. `left_out` counts those
 * that were rerun already: a rerun is in progress, or has ended and was not cancelled. Of a dry run, `applies` is how
 * many of the matching runs the action would change, and `statuses` counts the matching ones by status; with `unsure`,
 * more of them may be left out; with `until` in the filter, a later request leaves runs alone that begin after the dry
 * run.
 */
export interface BulkOut {
  readonly action: string;
  readonly matched: number;
  readonly done: readonly string[];
  readonly changed: readonly string[];
  readonly left_out: number;
  readonly applies?: number;
  readonly unsure?: boolean;
  readonly until?: string;
  readonly statuses?: Readonly<Record<string, number>>;
  readonly refused: readonly RefusalOut[];
  readonly cursor: string | null;
}

/**
 * The parameters of one attempt, with references resolved and secrets shown as `***`. `previews` has the beginning of
 * each parameter that is too large to be shown.
 */
export interface CallOut {
  readonly attempt: number;
  readonly at: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly previews: Readonly<Record<string, string>>;
}

/** `caller` is the name in the audit log and in drafts. `ends_at`: when the token or session ends. */
export interface CallerOut {
  readonly caller: string;
  readonly roles: readonly ("read" | "run" | "send" | "edit" | "approve" | "admin")[];
  readonly ends_at: string | null;
}

export interface CancelOut {
  readonly run_id: string;
  readonly status: string;
  readonly links: RunLinks;
}

/**
 * A change of the clocks. The times from `first` to `last`, as the clock of the time zone shows them, are `skipped`:
 * the schedule does not fire at them, and next at `at`. Or they are `repeated`: it fires once, the first time, from
 * `at` on.
 */
export interface ClockChangeOut {
  readonly kind: "skipped" | "repeated";
  readonly first: string;
  readonly last: string;
  readonly at: string | null;
}

/** Conditions of the edges from one exit to one target: how often one `held`, and how often one did not. */
export interface ConditionOut {
  readonly handle: string;
  readonly target: string;
  readonly held: number;
  readonly missed: number;
}

/**
 * A difference of a file or a version that the draft has not taken, since it has changed the same place: what stood
 * there before, what the draft has now, and what the file has. The path leads into the entity `key`; an empty one is
 * all of it.
 */
export interface ConflictOut {
  readonly key: string;
  readonly id: string;
  readonly path: readonly string[];
  readonly base: unknown;
  readonly draft: unknown;
  readonly file: unknown;
  readonly from: string;
}

export interface ConflictsOut {
  readonly epoch: number;
  readonly seq: number;
  readonly conflicts: readonly ConflictOut[];
}

export interface CorrelationOut {
  readonly traceId: string;
  readonly parentEventId: number | null;
  readonly wave: number;
  readonly phase: string;
}

/** A bill and its arithmetic. `basis` says whether requests were counted, or the cost on AWS was estimated from the log. */
export interface CostOut {
  readonly run_id: string;
  readonly workflow: string;
  readonly status: string;
  readonly basis: "counted" | "estimated from the log";
  readonly prices: PricesOut;
  readonly name: string;
  readonly lines: readonly BillLineOut[];
  readonly usd_per_run: number;
  readonly usd_per_million_runs: number;
  readonly notes: readonly string[];
  readonly beside: readonly OtherOut[];
}

/** `statuses` counts the runs by their status. `cursor` counts on, null if all were counted. */
export interface CountOut {
  readonly count: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly cursor: string | null;
}

/** Damage to the store: the place, what is wrong, and what to do. */
export interface DamageOut {
  readonly place: string;
  readonly why: string;
  readonly mend: string;
}

/** A decision, the first and only one of its pause. */
export interface DecisionOut {
  readonly decision: string;
  readonly by: string | null;
  readonly at: string;
  readonly answer: unknown;
}

export interface DecisionsOut {
  readonly decisions: readonly MadeDecisionOut[];
  readonly cursor: string | null;
}

/**
 * `delivered` are the runs that have the message: in their log, or among their unread messages if they end first.
 * `started` is the run that was started for it. `kept_until` says until when runs that begin to answer to the key
 * receive it, too.
 */
export interface DeliveredOut {
  readonly id: string;
  readonly delivered: readonly string[];
  readonly kept_until: string | null;
  readonly started: string | null;
}

/**
 * A row that is shown with a question. `format` is `text`, `number`, `amount`, `time`, `date` or `markdown`; `value` is
 * a decimal number, an instant, a day or a text. `text` is the same in English and UTC. `blocks` are those of Markdown.
 */
export interface DetailOut {
  readonly label: string;
  readonly format: string;
  readonly value: string;
  readonly text: string;
  readonly currency: string | null;
  readonly link: string | null;
  readonly blocks: readonly BlockOut[];
}

export interface DiffOut {
  readonly epoch: number;
  readonly seq: number;
  readonly against: Readonly<Record<string, unknown>>;
  readonly nodes: readonly NodeChangeOut[];
  readonly document: readonly (Readonly<Record<string, unknown>>)[];
  readonly lines: readonly TextLineOut[];
}

/** The epoch that has ended. */
export interface DiscardedOut {
  readonly workflow: string;
  readonly epoch: number;
}

export interface DocumentOfDraftOut {
  readonly epoch: number;
  readonly seq: number;
  readonly document: Readonly<Record<string, unknown>>;
}

export interface DocumentOut {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly hash: string;
  readonly published_at: string;
  readonly links: WorkflowLinks;
  readonly damage?: DamageOut;
  readonly document: Readonly<Record<string, unknown>>;
}

/**
 * `key` is the block that the finding is about, null for the workflow itself. `fix` is there where the fix is known
 * exactly.
 */
export interface DraftFindingOut {
  readonly code: string;
  readonly path: string;
  readonly message: string;
  readonly mend: string;
  readonly node: string | null;
  readonly edge: string | null;
  readonly severity: string;
  readonly key?: string | null;
  readonly fix?: FixOut;
}

export interface DraftFindingsOut {
  readonly epoch: number;
  readonly seq: number;
  readonly findings: readonly DraftFindingOut[];
}

/**
 * A test run is of the draft as it was after item `seq`. `pins` are the nodes whose output was taken from the draft, by
 * path; with `of` and `from`, the nodes that do not come after `from` have their outputs from that run.
 */
export interface DraftOfRunOut {
  readonly epoch: number;
  readonly seq: number;
  readonly by: string;
  readonly pins: readonly string[];
  readonly stop_after: string | null;
  readonly of: string | null;
  readonly from: string | null;
}

/** The last test runs, the newest first. A run may be gone by now. */
export interface DraftRunsOut {
  readonly runs: readonly StartedDraftRunOut[];
}

export interface DraftsOut {
  readonly drafts: readonly ListedDraftOut[];
  readonly cursor: string | null;
}

/**
 * What one person did without a pause of five minutes: the items `from` to `to`. `refused` counts gestures that had no
 * effect.
 */
export interface EntryOut {
  readonly from: number;
  readonly to: number;
  readonly at: string;
  readonly until: string;
  readonly by: string;
  readonly changes: readonly (Readonly<Record<string, unknown>>)[];
  readonly refused?: number;
}

/** `children` and `reruns` are runs that the erased run has started. They stay. `more` says that there may be others. */
export interface EraseOut {
  readonly run_id: string;
  readonly erased: boolean;
  readonly children: readonly string[];
  readonly reruns: readonly string[];
  readonly more: boolean;
}

/**
 * Failures of one workflow, node, code and message, without what differs from run to run: `message`. `example` is the
 * message of the last one. `status` is that of all their runs, `failed` or `timed_out`. `count` is how many; `runs` are
 * their ids, the last failure first. `bars` counts them in equal parts of the time between `since` and `until`.
 */
export interface ErrorGroupOut {
  readonly fingerprint: string;
  readonly workflow: string;
  readonly status: string;
  readonly node: string | null;
  readonly code: string;
  readonly message: string;
  readonly example: string;
  readonly count: number;
  readonly runs: readonly string[];
  readonly versions: readonly number[];
  readonly first_at: string;
  readonly last_at: string;
  readonly bars: readonly number[];
}

/**
 * The last failure first. `count` is the number of failures in all groups, of which there are `group_count`. With
 * `at_least`, there may be more: the newest 2,000 failed runs were searched. With `unsure`, there may be fewer: not
 * every rerun could be looked up.
 */
export interface ErrorsOut {
  readonly errors: readonly ErrorGroupOut[];
  readonly group_count: number;
  readonly count: number;
  readonly at_least: boolean;
  readonly unsure: boolean;
  readonly since: string;
  readonly until: string;
}

/**
 * `value`, or `preview` for one that is too large: its first characters as JSON; or `error`. `nulls` are the references
 * that read null because their path leads nowhere, `unread` those to what the run has no value of.
 */
export interface EvaluatedOut {
  readonly epoch: number;
  readonly seq: number;
  readonly run: OverRunOut | null;
  readonly value?: unknown;
  readonly preview?: string;
  readonly error?: EvaluationFaultOut;
  readonly nulls: readonly string[];
  readonly unread: readonly string[];
}

/** `offset` and `length` locate the fault in the source, in characters. */
export interface EvaluationFaultOut {
  readonly code: string;
  readonly message: string;
  readonly mend: string;
  readonly offset: number;
  readonly length: number;
}

/** A value that is too large for the log is truncated in `payload.previews`. */
export interface EventOut {
  readonly eventId: number;
  readonly sequence: number;
  readonly type: string;
  readonly runId: string;
  readonly workflowId: string;
  readonly timestamp: string;
  readonly correlation: CorrelationOut;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** `cursor` continues the listing; `ended` means that no more events will follow. */
export interface EventsOut {
  readonly events: readonly EventOut[];
  readonly cursor: number;
  readonly ended: boolean;
}

/** An exception in author code. `file`, `line` and `function` are the place in the author's own code, if it is known. */
export interface ExceptionOut {
  readonly type: string;
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly function?: string;
  readonly traceback: string;
}

export interface FindingOut {
  readonly code: string;
  readonly path: string;
  readonly message: string;
  readonly mend: string;
  readonly node: string | null;
  readonly edge: string | null;
  readonly severity: string;
  readonly key?: string | null;
}

/** The newest instant for which the schedule fired by itself. `code` says why it started no run. */
export interface FiringOut {
  readonly at: string;
  readonly run_id: string | null;
  readonly code: string | null;
}

/**
 * The operation that fixes a finding; `label` is the text of a button. Send it as it is, under the epoch of the
 * findings.
 */
export interface FixOut {
  readonly label: string;
  readonly writes: readonly (readonly unknown[])[];
  readonly guards?: readonly (readonly unknown[])[];
}

export interface FunctionOut {
  readonly name: string;
  readonly calls: readonly string[];
  readonly about: string;
}

/**
 * Gestures over the draft after item `seq`, in the form of an intent. They are not committed: a client sends them, so
 * that they have a place in its queue, and can be undone.
 */
export interface GesturesOut {
  readonly epoch: number;
  readonly seq: number;
  readonly gestures: readonly (Readonly<Record<string, unknown>>)[];
}

export interface HealthOut {
  readonly status: string;
}

/** Who holds the run, why, and since when nothing new starts. */
export interface HeldOut {
  readonly by: string | null;
  readonly reason: string | null;
  readonly at: string;
}

/** The newest entry is the first. `next_before` continues the list; null at its end. */
export interface HistoryOut {
  readonly epoch: number;
  readonly entries: readonly EntryOut[];
  readonly next_before: number | null;
}

/**
 * `status` is `holding` or `releasing` (former names: `pausing`, `unpausing`). The change takes effect in about a
 * second.
 */
export interface HoldOut {
  readonly run_id: string;
  readonly status: string;
  readonly links: RunLinks;
}

/**
 * `document` compiles. `findings`, all warnings, report what was not converted unchanged; their paths are paths in the
 * export.
 */
export interface ImportedOut {
  readonly document: Readonly<Record<string, unknown>>;
  readonly findings: readonly FindingOut[];
}

export interface InvitationOut {
  readonly code: string;
}

export interface ItemErrorOut {
  readonly code: string;
  readonly message: string;
}

/** `item` is null for a row that cannot be read, and where it would take too long to read it. */
export interface ItemFailureOut {
  readonly index: number;
  readonly error: ItemErrorOut;
  readonly item: unknown;
}

/** `head` is the last item of the log, which may be further than the last one here. */
export interface ItemsOut {
  readonly items: readonly (Readonly<Record<string, unknown>>)[];
  readonly head: number;
}

/** `last_used_at` is accurate to ten minutes; `former_until` is when the secret before the last rotation expires. */
export interface KeyOut {
  readonly id: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly former_until: string | null;
}

/** `live` is the run that has the key now, null if there is none. `runs` are the last ten runs of the key, newest first. */
export interface KeyRunsOut {
  readonly key: string;
  readonly live: string | null;
  readonly runs: readonly RunOfKeyOut[];
}

export interface KeysOut {
  readonly keys: readonly KeyOut[];
}

/**
 * `exits` are the exits other than `error`, null if they depend on the parameters. `schema` is the JSON Schema of
 * `with`. `parts` says of each of its fields what a text in it is: a `template` with references, an `expression`,
 * `cases` (a mapping of names to expressions), or `literal`, which is used unchanged. `settings` are the fields next to
 * `with` that an editor offers.
 */
export interface KindOut {
  readonly name: string;
  readonly summary: string;
  readonly nature: string;
  readonly pure: boolean;
  readonly exits: readonly string[] | null;
  readonly container: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly parts: Readonly<Record<string, "template" | "expression" | "cases" | "literal">>;
  readonly settings: readonly string[];
}

/**
 * `node` is the JSON Schema of the fields that nodes of every kind have in addition to `with`, `workflow` that of the
 * fields that a document has in addition to its id, nodes and edges.
 */
export interface KindsOut {
  readonly kinds: readonly KindOut[];
  readonly node: Readonly<Record<string, unknown>>;
  readonly workflow: Readonly<Record<string, unknown>>;
}

/**
 * A limit per key that attempts of the run wait for: its place in the document, the key (null without `by`), how many
 * instances wait and since when, the next instant that a rate has reserved for the run, and how many runs are before it
 * in line for slots, if that is known.
 */
export interface LimitOut {
  readonly of: string;
  readonly key: string | null;
  readonly instances: number;
  readonly since: string;
  readonly until: string | null;
  readonly ahead: number | null;
}

/** With `damage`, the draft is damaged in the store and cannot be opened. */
export interface ListedDraftOut {
  readonly workflow: string;
  readonly epoch: number;
  readonly origin: Readonly<Record<string, unknown>>;
  readonly base: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly created_by: string;
  readonly damage?: DamageOut;
}

/**
 * `by` and `message` are of a version that was published from a draft, else null. With `damage`, what is kept with the
 * version is damaged in the store.
 */
export interface ListedVersionOut {
  readonly version: number;
  readonly hash: string;
  readonly published_at: string;
  readonly by: string | null;
  readonly message: string | null;
  readonly damage?: DamageOut;
}

/**
 * Where and how a page signs in, with the authorization code flow and PKCE. The token to use is one that is meant for
 * one of the `audiences`. `end_session` is where the page goes after signing out, null where the issuer does not offer
 * that.
 */
export interface LoginOut {
  readonly issuer: string;
  readonly client_id: string;
  readonly audiences: readonly string[];
  readonly scope: string;
  readonly authorize: string;
  readonly token: string;
  readonly end_session: string | null;
}

/**
 * The last value that decided a container: its parameter `mode` had this `value`; of a test, before the iteration
 * `turn`. `preview` has the beginning of a value that is too large to be shown.
 */
export interface LoopedOut {
  readonly mode: string;
  readonly value: unknown;
  readonly preview: string | null;
  readonly turn: number | null;
}

/** A decision by a link. `decision` is null if the question had only one. `workflow` is null once the run is removed. */
export interface MadeDecisionOut {
  readonly run_id: string;
  readonly workflow: string | null;
  readonly pause: string;
  readonly decision: string | null;
  readonly by: string | null;
  readonly comment: string | null;
  readonly at: string;
}

/** `secret` is returned only once. */
export interface NewKeyOut {
  readonly id: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly former_until: string | null;
  readonly secret: string;
}

/**
 * `path` has the ids of the node and of the containers around it, the outermost first. `fields` are the values that
 * differ; without `before` there was none, without `after` there is none.
 */
export interface NodeChangeOut {
  readonly change: "added" | "removed" | "changed" | "moved";
  readonly path: readonly string[];
  readonly key: string;
  readonly former_id?: string;
  readonly fields: readonly (Readonly<Record<string, unknown>>)[];
}

/** One item. `result` is null for one that has not completed, and where the node keeps no results. */
export interface NodeItemOut {
  readonly index: number;
  readonly shard: number;
  readonly status: "pending" | "running" | "completed" | "failed" | "cancelled";
  readonly item: unknown;
  readonly result: unknown;
  readonly error: ItemErrorOut | null;
}

/**
 * The items of a node. `stopped` says why no item begins any more. `codes` counts failures by their code. With `more`,
 * items of other shards in progress are not counted. `left_ms` is estimated from the time so far; null before an item
 * has ended.
 */
export interface NodeItemsOut {
  readonly status: string;
  readonly stopped: string | null;
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly shards: ShardCountsOut;
  readonly more: boolean;
  readonly concurrency: number;
  readonly tolerate: Readonly<Record<string, number>> | null;
  readonly started_at: string;
  readonly spent_ms: number;
  readonly per_second: number;
  readonly left_ms: number | null;
  readonly codes: Readonly<Record<string, number>>;
  readonly failures: readonly ItemFailureOut[];
}

/**
 * The record of one instance; facts that do not exist are null. `usage` is the sum over all attempts, including failed
 * ones; `calls` are the last ten. `fork` is the innermost fork around the instance, and `branch` the number of its
 * branch there, from 0: of the fork's targets in edge order, or the iteration of a parallel. `path` are the instances
 * from an entry to this one, at most the last 100.
 */
export interface NodeOut {
  readonly instance: string;
  readonly node: string;
  readonly kind: string;
  readonly label: string;
  readonly status: string;
  readonly reason: string | null;
  readonly code: string | null;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly output: unknown;
  readonly error: Readonly<Record<string, unknown>> | null;
  readonly exception: ExceptionOut | null;
  readonly index: number | null;
  readonly predecessor: string | null;
  readonly wave: number;
  readonly depth: number;
  readonly fork: string | null;
  readonly branch: number | null;
  readonly path: readonly string[];
  readonly attempts: number;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly usage: Readonly<Record<string, number>>;
  readonly waiting: Readonly<Record<string, unknown>> | null;
  readonly calls: readonly CallOut[];
  readonly looped: LoopedOut | null;
  readonly tested: readonly TestedOut[];
}

/**
 * All instances of a node. `path` is its id, with the containers around it: `x@l`. `counts` are the instances by
 * status; `exits` how many left by each exit; `conditions` what became of the conditions on its edges, where these are
 * known; `failed` are the first that failed. Times are milliseconds since the run began; `work_ms` and `wait_ms` are
 * sums. `turns` and `failed_turns` are those of a container, the latter of containers that have ended.
 */
export interface NodeSummaryOut {
  readonly path: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly exits: Readonly<Record<string, number>>;
  readonly conditions: readonly ConditionOut[];
  readonly attempts: number;
  readonly begin_ms: number | null;
  readonly end_ms: number | null;
  readonly work_ms: number;
  readonly wait_ms: number;
  readonly failed: readonly string[];
  readonly turns: number;
  readonly failed_turns: number;
}

export interface NodesOut {
  readonly nodes: readonly NodeOut[];
  readonly cursor: number | null;
}

/** Why a run failed; a long message is cut. */
export interface NotedErrorOut {
  readonly code: string;
  readonly message: string;
  readonly node: string | null;
}

/** An open question of a run, as its header keeps it; a long message is cut. */
export interface NotedPauseOut {
  readonly pause: string;
  readonly node: string;
  readonly reason: string;
  readonly message: string;
  readonly since: string;
  readonly deadline: string | null;
}

/** `guest` says that the person named themselves, after an invitation; `own` that it is the caller's. */
export interface OneSessionOut {
  readonly id: string;
  readonly person: string;
  readonly guest: boolean;
  readonly own: boolean;
  readonly began_at: string;
  readonly ends_at: string;
}

/**
 * `entities` are the parts of the draft by key, as of item `seq` of its log. `newest` is the newest published version,
 * null if there is none; `conflicts` counts what differs from the file or from that version until a person decides.
 * `roles` are those of the caller.
 */
export interface OpenDraftOut {
  readonly workflow: string;
  readonly epoch: number;
  readonly origin: Readonly<Record<string, unknown>>;
  readonly base: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly created_by: string;
  readonly seq: number;
  readonly newest: number | null;
  readonly conflicts: number;
  readonly save: SaveOut;
  readonly roles: readonly string[];
  readonly entities: Readonly<Record<string, unknown>>;
}

/** The same run on another service. `times` is the factor by which it is dearer, null if this run cost nothing. */
export interface OtherOut {
  readonly name: string;
  readonly lines: readonly BillLineOut[];
  readonly usd_per_run: number;
  readonly usd_per_million_runs: number;
  readonly times: number | null;
  readonly note: string;
}

/** How a run ended. The response to a webhook has only the status. */
export interface OutcomeOut {
  readonly status: string;
  readonly outputs?: unknown;
  readonly error?: Readonly<Record<string, unknown>> | null;
}

/** The run whose values count. `whole` is false for a run of so many events that only the first ones were read. */
export interface OverRunOut {
  readonly run_id: string;
  readonly version: number | null;
  readonly status: string;
  readonly created_at: string | null;
  readonly whole: boolean;
}

/** The run, and its instance of the kind `workflow`, that started a child run. */
export interface ParentOut {
  readonly run: string;
  readonly instance: string;
}

/**
 * One thing that a run waits for. `resume` is the signed link that answers it; null if no answer ends it (a timer, a
 * message, a child run), and without `approve`.
 */
export interface PauseOut {
  readonly pause: string;
  readonly node: string;
  readonly reason: string;
  readonly exits: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
  readonly since: string;
  readonly deadline: string | null;
  readonly resume_at: string | null;
  readonly resume: string | null;
}

export interface PricesOut {
  readonly region: string;
  readonly date: string;
}

/**
 * RFC 9457. `code` is stable; `place` says where the error is, `mend` how to fix it; `report` is the id of a log entry.
 * Of `unpublished_effect`, `violations` are the paths of nodes, and `reasons` say of each why it is refused.
 */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly place?: string;
  readonly mend?: string;
  readonly findings?: readonly FindingOut[];
  readonly violations?: readonly string[];
  readonly reasons?: readonly string[];
  readonly first?: DecisionOut;
  readonly run_id?: string;
  readonly run_status?: string;
  readonly owner?: string;
  readonly report?: string;
}

export interface PublishedDraftOut {
  readonly version: number;
  readonly hash: string;
  readonly seq: number;
  readonly warnings: readonly (Readonly<Record<string, unknown>>)[];
}

export interface PublishedOut {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly hash: string;
  readonly published_at: string;
  readonly links: WorkflowLinks;
  readonly damage?: DamageOut;
  readonly warnings: readonly FindingOut[];
}

/**
 * What a signed link shows: the question, never the run. `asked_by` is who asks, null where the approval does not say
 * it.
 */
export interface QuestionOut {
  readonly workflow: string;
  readonly label: string;
  readonly message: string;
  readonly details: readonly DetailOut[];
  readonly asked_by: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly exits: readonly string[];
  readonly deadline: string | null;
  readonly decided: DecisionOut | null;
}

export interface RefusalOut {
  readonly run_id: string;
  readonly code: string;
  readonly message: string;
}

export interface RerunOut {
  readonly of: string;
  readonly from: string | null;
  readonly by: string | null;
  readonly reason: string | null;
  readonly items: string | readonly number[] | null;
}

/** `started` are the runs of instants that the pause has missed. */
export interface ResumedOut {
  readonly workflow: string;
  readonly version: number;
  readonly node: string;
  readonly cron: string | null;
  readonly rate: string | null;
  readonly timezone: string;
  readonly catch_up: string | null;
  readonly next_at: string | null;
  readonly upcoming: readonly string[];
  readonly clock_changes: readonly ClockChangeOut[];
  readonly last: FiringOut | null;
  readonly paused: SchedulePauseOut | null;
  readonly links: ScheduleLinks;
  readonly damage?: DamageOut;
  readonly started: readonly string[];
}

/**
 * A name that a reference may start with: `<name.path>`. `key` is the block of a `node`. `certain`: it has a value
 * whenever the node runs; others may read null. `shape` is a JSON Schema of the value: of the pin or the run with
 * examples, else the node's `output_contract`; null if nothing is known.
 */
export interface RootOut {
  readonly name: string;
  readonly what: "node" | "turn" | "input" | "inputs" | "workflow" | "run" | "message";
  readonly detail: string;
  readonly certain: boolean;
  readonly shape: Readonly<Record<string, unknown>> | null;
  readonly key: string | null;
}

/**
 * One instance. `parts` are ["work" or "wait", begin, end or null]; `first` and `last` are the numbers of its first and
 * last event; `code` is that of its failure. Times are milliseconds since the run began.
 */
export interface RowOut {
  readonly instance: string;
  readonly path: string;
  readonly status: string;
  readonly code: string | null;
  readonly attempts: number;
  readonly begin_ms: number | null;
  readonly end_ms: number | null;
  readonly parts: readonly (readonly unknown[])[];
  readonly first: number;
  readonly last: number;
}

/** The document that a run runs. `version` is null for a test run. */
export interface RunDocumentOut {
  readonly run_id: string;
  readonly version: number | null;
  readonly hash: string;
  readonly document: Readonly<Record<string, unknown>>;
}

/**
 * A run in a list. `status` is `running` while a runner serves the run, else the status when the last session ended. It
 * is `damaged_log` or `newer_log` if the log cannot be read, and `damaged` if the header cannot, with `damage`; such a
 * run stays unchanged until it can. `waiting` is what the run waited for then: held, answer, time, retry, child, limit,
 * message, start. `summary` is both as text. `version` is null for a run of a release that did not store it.
 * `duration_ms` is the time from its creation to its end, or to now, with all waits. `failed_node` is the node whose
 * failure made the run fail, and `error` its failure. `pauses` are the first five open questions. `usd` is what the run
 * was billed for on AWS, null where requests are not counted. `draft` is null but for test runs. `tags` is the former
 * name of `keywords`.
 */
export interface RunHeadOut {
  readonly id: string;
  readonly workflow: string;
  readonly version: number | null;
  readonly number: number | null;
  readonly key: string | null;
  readonly hash: string;
  readonly status: string;
  readonly waiting: readonly string[];
  readonly summary: string;
  readonly keywords: readonly string[];
  readonly tags: readonly string[];
  readonly draft: DraftOfRunOut | null;
  readonly created_at: string;
  readonly duration_ms: number;
  readonly links: RunLinks;
  readonly failed_node: string | null;
  readonly error: NotedErrorOut | null;
  readonly pauses: readonly NotedPauseOut[];
  readonly usd: number | null;
  readonly updated_at: string;
  readonly damage?: DamageOut;
}

export interface RunLinks {
  readonly run: string;
  readonly nodes: string;
  readonly tags: string;
  readonly events: string;
  readonly cancel: string;
  readonly hold: string;
  readonly release: string;
  readonly pause: string;
  readonly unpause: string;
  readonly rerun: string;
  readonly view: string;
}

export interface RunOfKeyOut {
  readonly run_id: string;
  readonly status: string;
  readonly created_at: string;
  readonly links: RunLinks;
}

/**
 * `version` is the version that the run started with, even if a newer one was published. `number` counts the runs of a
 * workflow whose document is `numbered`. `waiting` is what the run waits for (held, answer, time, retry, child, limit,
 * message, start); `summary` is the same as text: `waiting for an answer`, or `completed, 4 failed` if nodes failed.
 * `held` is null unless an operator holds the run; a held run is `running` until its running nodes end. `keywords` are
 * those that the run was started with; `tags` has them too, and `partial_success`. `non_entries` are nodes at which an
 * admin started the run although they are not entries. `exception` is the cause of `error` if author code raised it.
 * `draft` is null but for test runs, whose version has no number; `parent` is null but for child runs, and `rerun` but
 * for reruns. `duration_ms` is that of the list of runs. A value that is too large for the response is replaced by
 * `{"large_value": {"size", "preview", "hash", "url"}}`. `pauses_left_out` counts pauses that did not fit. `key` is the
 * key of the run in its workflow, `messages` are the names that it may receive, and `unread` the first 100 messages
 * that no node has taken; `unread_left_out` counts the others.
 */
export interface RunOut {
  readonly id: string;
  readonly workflow: string;
  readonly version: number | null;
  readonly number: number | null;
  readonly key: string | null;
  readonly hash: string;
  readonly status: string;
  readonly waiting: readonly string[];
  readonly summary: string;
  readonly keywords: readonly string[];
  readonly tags: readonly string[];
  readonly draft: DraftOfRunOut | null;
  readonly created_at: string;
  readonly duration_ms: number;
  readonly links: RunLinks;
  readonly pauses_left_out?: number;
  readonly unread_left_out?: number;
  readonly inputs: unknown;
  readonly outputs: unknown;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly error: Readonly<Record<string, unknown>> | null;
  readonly exception: ExceptionOut | null;
  readonly failures: number;
  readonly non_entries: readonly string[];
  readonly parent: ParentOut | null;
  readonly rerun: RerunOut | null;
  readonly steps: number;
  readonly usage: Readonly<Record<string, number>>;
  readonly sequence: number;
  readonly held: HeldOut | null;
  readonly limits: readonly LimitOut[];
  readonly pauses: readonly PauseOut[];
  readonly messages: readonly string[];
  readonly unread: readonly UnreadOut[];
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly expires_at: string | null;
}

export interface RunsOut {
  readonly runs: readonly RunHeadOut[];
  readonly cursor: string | null;
}

/**
 * Whether the draft can be saved, which only `stepless dev` does; to which file; and whether that has another text than
 * the draft was last read from or saved to.
 */
export interface SaveOut {
  readonly possible: boolean;
  readonly file: string | null;
  readonly differs: boolean;
}

/** `hash` is SHA-256 of the text of the file, in hexadecimal. */
export interface SavedDraftOut {
  readonly file: string;
  readonly hash: string;
  readonly seq: number;
}

export interface ScheduleLinks {
  readonly pause: string;
  readonly resume: string;
  readonly fire: string;
}

/**
 * A `schedule` entry of the newest version. `next_at` is null while it is paused, if it never fires again, and on AWS
 * for a `rate` that has not fired yet. `upcoming` are the next five instants, beginning with `next_at`. `clock_changes`
 * are those within about a year that its times fall into. `last` is null before the first firing. With `damage`, what
 * is stored of the schedule is damaged, and it starts no run; `node` is empty where the document of the version is.
 */
export interface ScheduleOut {
  readonly workflow: string;
  readonly version: number;
  readonly node: string;
  readonly cron: string | null;
  readonly rate: string | null;
  readonly timezone: string;
  readonly catch_up: string | null;
  readonly next_at: string | null;
  readonly upcoming: readonly string[];
  readonly clock_changes: readonly ClockChangeOut[];
  readonly last: FiringOut | null;
  readonly paused: SchedulePauseOut | null;
  readonly links: ScheduleLinks;
  readonly damage?: DamageOut;
}

/**
 * Since when the schedule starts no runs. `ending` is true while it is being resumed; if that was interrupted, resume
 * it again.
 */
export interface SchedulePauseOut {
  readonly at: string;
  readonly by: string | null;
  readonly reason: string | null;
  readonly ending: boolean;
}

export interface SchedulesOut {
  readonly schedules: readonly ScheduleOut[];
  readonly cursor: string | null;
}

/** `env` are the names that `${NAME}` may read. */
export interface ScopeOut {
  readonly epoch: number;
  readonly seq: number;
  readonly run: OverRunOut | null;
  readonly roots: readonly RootOut[];
  readonly env: readonly string[];
  readonly functions: readonly FunctionOut[];
}

export interface SessionOut {
  readonly token: string;
}

export interface SessionsOut {
  readonly sessions: readonly OneSessionOut[];
}

/**
 * `drafts` says whether workflows can be edited on this server. `login` is null where people sign in with an API key or
 * a token, or with the code that `stepless dev` prints; `socket` is null where the rooms of drafts are on this server.
 * `invitations` says whether an admin can let one more person in with a link.
 */
export interface SettingsOut {
  readonly drafts: boolean;
  readonly invitations: boolean;
  readonly login: LoginOut | null;
  readonly socket: string | null;
}

export interface ShardCountsOut {
  readonly total: number;
  readonly ended: number;
  readonly running: number;
}

/** `run_id` is the run whose time was skipped: the one in the path, or one of its child runs. */
export interface SkippedOut {
  readonly run_id: string;
  readonly skipped_ms: number;
  readonly links: RunLinks;
}

/** A piece of a text. `style` is `b`, `i`, `code` or empty; `href` is the address of a link, or empty. */
export interface SpanOut {
  readonly text: string;
  readonly style: string;
  readonly href: string;
}

/** A test run of the draft as it was after item `seq`. */
export interface StartedDraftRunOut {
  readonly run_id: string;
  readonly epoch: number;
  readonly seq: number;
  readonly by: string;
  readonly at: string;
  readonly links: RunLinks;
}

/**
 * `version` is the version that the run started with and keeps. `number` counts the runs of a workflow whose document
 * is `numbered`. `replay` is true if an earlier start with the same idempotency key is returned. `key` is the key of
 * the run in its workflow, and `joined` is true if the run was live already and has the key of this start. `outcome` is
 * null until the run ends, and if the caller does not wait for it. `pauses` is what the run waits for, if the caller
 * waited until then.
 */
export interface StartedOut {
  readonly run_id: string;
  readonly workflow: string;
  readonly version: number;
  readonly number: number | null;
  readonly key: string | null;
  readonly replay: boolean;
  readonly joined: boolean;
  readonly outcome: OutcomeOut | null;
  readonly pauses: readonly PauseOut[];
  readonly links: RunLinks;
}

/**
 * The runs that were created since `since`, by status. `failure_rate` is that of the runs that completed, failed or
 * timed out, and the durations are theirs; null without such runs. `usd` is what the runs were billed for on AWS, null
 * where requests are not counted. With `at_least`, there are more runs in the window: the newest 2,000 were read (100
 * of each workflow in `GET /stats`), and `since` is when the oldest of them was created. `bars` counts the runs in 24
 * equal parts of the time between `since` and `until`, `failed_bars` those of them that failed or timed out.
 */
export interface StatsOut {
  readonly workflow: string;
  readonly since: string;
  readonly until: string;
  readonly runs: number;
  readonly at_least: boolean;
  readonly statuses: Readonly<Record<string, number>>;
  readonly failure_rate: number | null;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly usd: number | null;
  readonly bars: readonly number[];
  readonly failed_bars: readonly number[];
  readonly next_at: string | null;
}

export type Status = "pending" | "queued" | "running" | "waiting" | "completed" | "failed" | "skipped" | "cancelled";

/**
 * `item`: what the log holds of this intent. `answer`: why it holds nothing; `n` stays free, and the intent can be sent
 * again.
 */
export interface SubmittedOut {
  readonly item?: Readonly<Record<string, unknown>>;
  readonly answer?: Readonly<Record<string, unknown>>;
}

/**
 * `sequence` is the last event that it knows. `nodes` are those that something happened to after the event `after`.
 * `busy` are the spans [begin, end] in which an attempt was in progress or something happened. `instances` is how many
 * a timeline lists, `left_out` how many more there are.
 */
export interface SummaryOut {
  readonly run_id: string;
  readonly status: string;
  readonly sequence: number;
  readonly ended: boolean;
  readonly began_at: string | null;
  readonly lasted_ms: number;
  readonly instances: number;
  readonly left_out: number;
  readonly nodes: readonly NodeSummaryOut[];
  readonly busy: readonly (readonly number[])[];
}

/**
 * One transition of the run, for counting. `event` is the number of its event; `instance` is null for a transition of
 * the run itself. A tag always has the same `facts`: node_started {attempt, wave}, node_retried {attempt, cause,
 * delay_ms}, moderation_flagged {phase, error_code, error_message}, contract_violated {phase, errors}, timed_out
 * {timeout_ms}, node_failed {error_code, error_message}, node_completed {duration_ms, input_tokens, output_tokens},
 * node_cancelled {}, partial_success {failures}.
 */
export interface TagOut {
  readonly tag: string;
  readonly instance: string | null;
  readonly event: number;
  readonly at: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface TagsOut {
  readonly tags: readonly TagOut[];
  readonly cursor: number | null;
}

/**
 * The condition of an edge from the exit by which a node has left: `test` with `operand`, over the `value` that the
 * edge carried, and whether it `held`.
 */
export interface TestedOut {
  readonly handle: string;
  readonly target: string;
  readonly test: string;
  readonly operand: unknown;
  readonly value: unknown;
  readonly preview: string | null;
  readonly held: boolean;
}

/**
 * `op` is `-` and `+` for lines of one text only, a space for lines of both, `…` for lines that are left out. `before`
 * and `after` are the numbers of the line in the two texts, from 1.
 */
export interface TextLineOut {
  readonly op: " " | "-" | "+" | "\u2026";
  readonly before?: number;
  readonly after?: number;
  readonly text: string;
}

/** `text` is the draft after item `seq`, as its author writes it. `format` is the language of the text. */
export interface TextOut {
  readonly epoch: number;
  readonly seq: number;
  readonly format: "yaml" | "json";
  readonly text: string;
}

export interface TicketOut {
  readonly ticket: string;
}

/** `total` is how many instances fit the filter; `cursor` continues, null at the end. */
export interface TimelineOut {
  readonly rows: readonly RowOut[];
  readonly total: number;
  readonly cursor: number | null;
  readonly sequence: number;
}

/** A message that no node of the run has taken, without its data. */
export interface UnreadOut {
  readonly id: string;
  readonly name: string;
  readonly key: string | null;
  readonly by: string | null;
  readonly at: string;
}

/** One published version; `hash` names its content. One with `damage` is damaged in the store: no run of it can start. */
export interface VersionOut {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly hash: string;
  readonly published_at: string;
  readonly links: WorkflowLinks;
  readonly damage?: DamageOut;
}

/** The diff, by node and by line of the text, as for a draft. `against` is the former version. */
export interface VersionsDiffOut {
  readonly against: Readonly<Record<string, unknown>>;
  readonly nodes: readonly NodeChangeOut[];
  readonly document: readonly (Readonly<Record<string, unknown>>)[];
  readonly lines: readonly TextLineOut[];
}

/** The newest first. `next_before` continues the list; null at its end. */
export interface VersionsOut {
  readonly versions: readonly ListedVersionOut[];
  readonly next_before: number | null;
}

export interface WorkflowLinks {
  readonly workflow: string;
  readonly version: string;
  readonly start: string;
}

/**
 * `version` is the newest one. `starts` are the kinds of its entries. `next_at` is when the first of its schedules
 * fires; `paused_schedules` counts those that are paused.
 */
export interface WorkflowStatsOut {
  readonly workflow: string;
  readonly since: string;
  readonly until: string;
  readonly runs: number;
  readonly at_least: boolean;
  readonly statuses: Readonly<Record<string, number>>;
  readonly failure_rate: number | null;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly usd: number | null;
  readonly bars: readonly number[];
  readonly failed_bars: readonly number[];
  readonly next_at: string | null;
  readonly name: string;
  readonly version: number;
  readonly published_at: string;
  readonly starts: readonly string[];
  readonly schedules: number;
  readonly paused_schedules: number;
}

export interface WorkflowsOut {
  readonly workflows: readonly VersionOut[];
  readonly cursor: string | null;
}
