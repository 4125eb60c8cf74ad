"""Defines every limit of the engine. The name carries the unit, the comment the reason."""

from __future__ import annotations

from typing import Final

# -- documents -------------------------------------------------------------------------------------------------------
MAX_DOCUMENT_BYTES: Final = 4_000_000  # a 10,000-node graph takes about 1 MB
MAX_DOCUMENT_DEPTH: Final = 96  # nesting of JSON values, four per container; also protects every recursive walk below it
MAX_NODES: Final = 100_000  # per document, bodies included
MAX_EDGES: Final = 400_000
MAX_NESTED_CONTAINERS: Final = 16
MAX_FINDINGS: Final = 500  # a refusal lists this many, then says how many more there are
MAX_COUNTED_FINDINGS: Final = 2_000  # errors after which the compiler stops searching
MAX_YAML_ALIASES: Final = 1_000  # "billion laughs"
MAX_ID_CHARACTERS: Final = 64
MAX_ENV_NAMES: Final = 200
MIN_SECRET_CHARACTERS: Final = 4  # of a value that is masked: a shorter one (`3`, `on`, `eu`) is part of too many other texts
MIN_ENCODED_SECRET_BYTES: Final = 8  # of one that is also masked in base64: shorter ones match by chance
MAX_VARIABLES: Final = 1_000
MAX_LOSERS: Final = 1_000_000  # over all joins with `losers: cancel`: consecutive joins share most of their losers
MAX_SHOWN_IDS: Final = 20  # of a cycle, in a message
MAX_DOUBTFUL_WORDS: Final = 30  # words of a document that are compared with its names: each takes some milliseconds
MAX_SHOWN_NULLS: Final = 5  # references that were null, in a message

# -- expressions -----------------------------------------------------------------------------------------------------
MAX_EXPRESSION_CHARACTERS: Final = 2_000
MAX_EXPRESSION_NODES: Final = 500  # of the syntax tree
MAX_EXPRESSION_DEPTH: Final = 40
MAX_TEXT_CHARACTERS: Final = 1_000_000  # any text that an expression builds
MAX_LIST_ITEMS: Final = 100_000  # any list that an expression builds
MAX_INTEGER_BITS: Final = 1_024
MAX_PATTERN_CHARACTERS: Final = 500  # of `matches`
MAX_DYNAMIC_PATTERN_BYTES: Final = 1_000_000  # RE2's memory for a pattern built at run time; it compiles in some 20 ms
MAX_EVALUATION_STEPS: Final = 10_000_000  # of one node, some 10 ns each: 0.1 s; the worst case found takes less than 0.25 s
MAX_DECISION_STEPS: Final = 2_500_000  # after which a decision is cut, so that other runs of the process can proceed
MAX_REFERENCE_STEPS: Final = 64  # names and indexes after the root
MAX_ROUND_DIGITS: Final = 15  # of `round`: what a double holds
MAX_NUMBER_CHARACTERS: Final = 400  # a text that `int` and `float` parse; 1,024 bits are 309 digits
MAX_VIOLATIONS: Final = 20  # messages that a contract returns
MAX_BACKTRACKS: Final = 100_000  # of one `pattern` in a JSON Schema

# -- runs ------------------------------------------------------------------------------------------------------------
DEFAULT_MAX_STEPS: Final = 10_000
MAX_STEPS: Final = 1_000_000
DEFAULT_NODE_TIMEOUT_MS: Final = 60_000
MAX_DURATION_MS: Final = 366 * 24 * 3_600_000  # a year: the longest wait, deadline or run timeout
DEFAULT_MAX_ITERATIONS: Final = 1_000
MAX_ITERATIONS: Final = 100_000
DEFAULT_WINDOW: Final = 20  # branches of a parallel at once
MAX_RETRY_ATTEMPTS: Final = 100
MAX_SHOWN_PATH: Final = 100  # instances of one path: with full paths, a trace would grow with the square of a chain's length
MAX_CAUSES: Final = 100  # errors that one upstream failure lists
MAX_CAUSES_CHARACTERS: Final = 40_000  # of their messages, together: one batch of the log holds them all
MAX_CALL_DEPTH: Final = 25  # workflow in workflow
MAX_IN_FLIGHT: Final = 200  # attempts of one run at once in one process

# -- nodes -----------------------------------------------------------------------------------------------------------
MAX_SCHEDULES: Final = 50  # of one workflow: each is two requests at publication, which has less than 30 s
MAX_CATCH_UP_RUNS: Final = 100  # that one schedule with `catch_up: all` starts for missed instants: the latest ones
ON_TIME_MS: Final = 120_000  # a firing up to this late is on time: Scheduler is accurate to a minute, then there is a queue
SCHEDULE_TRIES: Final = 10  # of one change of a schedule's record: each lost try means that another change succeeded
SCHEDULING_TRIES: Final = 5  # of one publication's schedules, while concurrent publications overtake it
PUBLISHING_TRIES: Final = 20  # of its webhook paths: each lost try means that another publication succeeded
MAX_PATTERN_ENTRIES: Final = 1_000  # of an event pattern
MAX_CASES: Final = 200  # exits of one condition or router
MAX_ANSWER_FIELDS: Final = 100  # of an approval or callback; a person fills them in
MAX_APPROVERS: Final = 100
MAX_REMINDERS: Final = 20
MAX_MESSAGE_CHARACTERS: Final = 10_000  # the message of an approval
MAX_ERROR_CHARACTERS: Final = 2_000  # of a failure's message in the log
MAX_EXCEPTION_BYTES: Final = 4_000  # of an exception in author code, in the log: type, message, traceback
MAX_PATH_CHARACTERS: Final = 200  # of a webhook
MAX_TOLERANCE_S: Final = 24 * 3_600  # how old a signature may be at most
MAX_URL_CHARACTERS: Final = 8_000  # the longest URL that common servers accept
MAX_HEADERS: Final = 100
MAX_MEDIA_TYPE_CHARACTERS: Final = 200  # of the `type` and `mime` of a streamed piece
MAX_FUNCTION_NAME_CHARACTERS: Final = 200
MAX_FUNCTION_THREADS: Final = 256  # above MAX_IN_FLIGHT: calls that timed out keep their thread until they return
IDLE_THREAD_S: Final = 30
MAX_REDIRECTS: Final = 5
MAX_ADDRESSES_TRIED: Final = 4  # of one host name
HTTP_CONNECT_S: Final = 10
HTTP_KEEP_ALIVE_S: Final = 5  # shorter than the keep-alive of servers and load balancers
HTTP_IDLE_CONNECTIONS: Final = 20
MAX_MESSAGES: Final = 1_000  # of a conversation with a model
MAX_TOOLS: Final = 128  # that a model may call; the limit of the providers
MAX_OUTPUT_TOKENS: Final = 1_000_000  # of one answer of a model
MAX_MODEL_TURNS: Final = 20  # requests of one attempt: a model that calls tools gets another request after each round
MODEL_MARGIN_MS: Final = 50  # by which a conversation times out before the engine does, so that it can report its usage
MAX_TOOL_CALLS: Final = 100  # of one attempt
MAX_TOOL_RESULT_CHARACTERS: Final = 100_000  # of one result that a model receives: some 25,000 tokens
MAX_TOOL_EXCEPTION_BYTES: Final = 1_000  # of an exception in a tool: its line in the history has MAX_LOG_CHARACTERS
MAX_TOOL_NAME_CHARACTERS: Final = 64  # the limit of the providers
MODEL_CONNECT_S: Final = 10
MODEL_READ_S: Final = 300  # without data, after which a connection to a provider is closed, whatever the node's timeout
MAX_MODEL_CALLS: Final = 64  # at once in one process, to a provider whose client blocks a thread
MAX_AWS_CALLS: Final = 64  # at once in one process: each call of boto3 blocks a thread
AWS_CONNECT_S: Final = 5
MAX_CODE_CHARACTERS: Final = 100_000  # of a `code` node
MAX_CODE_OUTPUT_BYTES: Final = 5_000_000  # of its result and its printed text together
MAX_CODE_PRINT_CHARACTERS: Final = 20_000  # of its printed text; the rest is dropped
DEFAULT_CODE_MEMORY_MB: Final = 256
MAX_NOTICE_TRIES: Final = 12  # of one notice; with the back-off some two hours
NOTICE_BACKOFF_MS: Final = 1_000  # doubles
MAX_NOTICE_BACKOFF_MS: Final = 3_600_000
NOTICE_TIMEOUT_MS: Final = 10_000
MIN_CODE_MEMORY_MB: Final = 64  # the interpreter itself takes about 40
MAX_CODE_MEMORY_MB: Final = 2_048
CODE_MARGIN_MS: Final = 100  # by which a sandbox times out before the engine does, so that it can report the reason
MAX_SANDBOXES: Final = 8  # processes for author code at once in one process; further ones wait within their timeout

# -- values and bodies -----------------------------------------------------------------------------------------------
MAX_INPUT_BYTES: Final = 256_000  # a run's inputs, a webhook's body
MAX_RESULT_BYTES: Final = 5_000_000  # one node's output
INLINE_VALUE_BYTES: Final = 32_000  # larger values go to the blob store
PREVIEW_CHARACTERS: Final = 200
SHOWN_PARAMS_CHARACTERS: Final = 8_000  # of one attempt's parameters; of larger ones only a preview is shown
MAX_SHOWN_CALLS: Final = 10  # attempts of an instance whose parameters are shown: the last ones
MAX_ANSWER_BYTES: Final = 32_000  # the answer to an approval

# -- the log ---------------------------------------------------------------------------------------------------------
MAX_BATCH_BYTES: Final = 350_000  # one log item; DynamoDB's limit is 400 KB
MAX_BATCH_EVENTS: Final = 10_000  # reading one event decodes its whole batch: some 10 ms
MAX_ITEM_BYTES: Final = 380_000  # of one piece of a larger value; the rest of DynamoDB's 400 KB is for keys
MAX_KNOWN_ENDS: Final = 10_000  # runs whose end of log a process remembers; some 200 bytes each
MAX_SIGNAL_BYTES: Final = 64_000
MAX_INBOX_SIGNALS: Final = 5_000
MAX_UNMARKED_SIGNALS: Final = 16  # passed to the core but not marked taken: each session reads them again; a mark costs a write
TAKEN_AT_ONCE: Final = 500  # signals marked taken before the lease is renewed: each is a request to DynamoDB
PAGE_EVENTS: Final = 500
MAX_PAGE_ITEMS: Final = 1_000
MAX_CURSOR_CHARACTERS: Final = 2_000  # a cursor is the last key listed; ids are far shorter
MAX_QUEUED_HINTS: Final = 1_000_000  # messages, and timers, of one process: some hundred MB
SQLITE_BUSY_MS: Final = 5_000  # how long a writer waits for another process that writes to the file
IDEMPOTENCY_KEY_LIFE_MS: Final = 24 * 3_600_000
MIN_RETENTION_MS: Final = 24 * 3_600_000  # at least IDEMPOTENCY_KEY_LIFE_MS: a start with the key finds its run until then
MAX_RETENTION_MS: Final = 10 * 365 * 24 * 3_600_000
SHORT_RUN_MS: Final = 24 * 3_600_000  # an expired run that took longer is found by its due instant: one more write unit
EXPIRY_SLACK_MS: Final = 3_600_000  # by which other expired runs are removed later, in case the write of their end was delayed
EXPIRY_LOOK_MS: Final = 600_000  # between searches for expired runs of a workflow that had none
MAX_CLAIM_LIFE_MS: Final = 2 * MAX_TOLERANCE_S * 1_000  # of a claim that names a run, from its start
ERASED_KEPT_MS: Final = 3 * 24 * 3_600_000  # of the empty header of an erased run: longer than any claim that names the run
ERASE_RETRY_MS: Final = 60_000  # an erasure that was interrupted is continued after this
MAX_ERASED_AT_ONCE: Final = 100  # runs that one sweep removes
MAX_DUE_PAGES: Final = 10  # that one sweep reads while runs to be removed fill them
ERASE_THREADS: Final = 8  # that remove runs in one sweep on AWS
MAX_LISTED_RELATIVES: Final = 1_000  # child runs, and reruns, in the answer to an erasure
NEVER_MS: Final = 253_402_300_799_999  # the end of the year 9999: the expiry of a permanent counter
LEASE_MS: Final = 30_000
LEASE_MARGIN_MS: Final = 5_000  # before its end, a holder stops relying on its lease: clocks differ
SUMMARY_EVENTS: Final = 1_000  # a longer log ends with a summary of the run: reading this many events takes some 50 ms
SUMMARY_VALUE_BYTES: Final = 1_000  # of a value in that summary; larger ones go to the blob store: a batch costs by its size
SNAPSHOT_TAIL_BYTES: Final = 16_000  # below this, reading the log is as cheap as reading a snapshot

# -- invocations -----------------------------------------------------------------------------------------------------
BUDGET_MARGIN_MS: Final = 5_000  # of a hard budget: final commit, snapshot, effects
LOADING_MARGIN_MS: Final = 3_000  # of an invocation, to load the run before its first attempt
MAX_RECOVERIES: Final = 3  # of one instance whose attempts are cut off; or its number of attempts, if that is higher
MAX_IDLE_HOPS: Final = 8  # consecutive hand-overs in which no attempt ended and no instance settled
DEFAULT_TARGET_TIMEOUT_S: Final = 120  # the runner timeout that the compiler assumes before deployment
INBOX_POLL_MS: Final = 1_000  # an active session reads its inbox at most this often
STAY_MS: Final = 2_000  # a session waits for a timer that is due sooner than this; it arms later ones
BUSY_DELAY_MS: Final = 1_000  # a hint that finds a live lease is delivered again after this
DEAD_LETTER_RETRY_MS: Final = 3_600_000  # a run in the dead-letter queue is tried again after this
UNREADABLE_RETRY_MS: Final = 60_000  # a run whose log cannot be read is tried again after this; doubles …
MAX_UNREADABLE_RETRY_MS: Final = 3_600_000  # … up to this
START_GRACE_MS: Final = 10_000  # the sweep starts a created run that no runner has taken within this time
SHUTDOWN_MS: Final = 10_000  # how long a drain may take after Ctrl-C
MAX_LOG_CHARACTERS: Final = 2_000  # of one log line of a node
MAX_REPORTED_LINES: Final = 40  # of the history, in a failed assertion of a workflow test
COMMIT_TRIES: Final = 8  # of one commit against an unavailable store, in one invocation
TRANSIENT_BACKOFF_MS: Final = 25  # before the second try; doubles

# -- exports ---------------------------------------------------------------------------------------------------------
MAX_EXPORT_EVENTS: Final = 100  # that one call of an exporter receives
MAX_EXPORT_QUEUE: Final = 1_000  # of one run and exporter, in memory; beyond that they are read from the log again
EXPORT_TIMEOUT_MS: Final = 4_000  # of one call of an exporter
EXPORT_LEAVE_MS: Final = 4_000  # that a session waits for its exporters before it releases the lease, …
EXPORT_HAND_OVER_MS: Final = 1_000  # … before a hand-over, after which the next session continues at once
EXPORT_PAUSE_MS: Final = 1_000  # in which a process does not call an exporter that has failed; doubles …
MAX_EXPORT_PAUSE_MS: Final = 60_000  # … up to this
EXPORT_RETRY_MS: Final = 60_000  # after which a run whose events are not confirmed is due again; doubles …
MAX_EXPORT_RETRY_MS: Final = 3_600_000  # … up to this
MAX_EXPORT_FAILURES: Final = 30  # sessions in a row without a confirmation, in about a day; then the events are given up

# -- requests --------------------------------------------------------------------------------------------------------
MAX_TOKEN_CHARACTERS: Final = 2_000
MAX_IDEMPOTENCY_KEY_CHARACTERS: Final = 200
MAX_REQUEST_BYTES: Final = 256_000
LINK_LIFE_MS: Final = 30 * 24 * 3_600_000  # of a link to a pause without a deadline
MAX_LONG_POLL_MS: Final = 20_000
POLL_FIRST_MS: Final = 20  # a caller that waits for a run polls again after this, then after twice as long, …
POLL_LAST_MS: Final = 500  # … up to this
HEADER_MS: Final = 10_000  # to receive a request's header, from the connection or the last response
BODY_MS: Final = 30_000  # to receive a request's body, from its header
SEND_MS: Final = 30_000  # after which the server drops a client that reads nothing of its response
MAX_CONNECTIONS: Final = 1_000  # to one local process; each holds a file, and at most some 80 KB of its request
HEARTBEAT_MS: Final = 15_000  # between heartbeats of an idle event stream: proxies close idle connections after 30 s or more
STREAM_RETRY_MS: Final = 1_000  # a client opens a closed event stream again after this
MAX_DETAILS_BYTES: Final = 32_000  # of one pause in the response about its run; larger details are replaced by their hash
MAX_PAUSES_BYTES: Final = 2_000_000  # of all pauses there; the rest of a page is for the run's values
MAX_PAGE_BYTES: Final = 4_000_000  # of one page of a listing; a Lambda response has at most 6 MB
DEFAULT_PAGE_ITEMS: Final = 100
MAX_PERSON_CHARACTERS: Final = 200  # the name of the person who decides or cancels
MAX_REASON_CHARACTERS: Final = 2_000  # why a run is cancelled
MAX_KEYWORDS: Final = 16  # that a run is started with
MAX_KEYWORD_CHARACTERS: Final = 128
MAX_SEARCHED_RUNS: Final = 2_000  # headers that one search by keywords reads; a cursor continues it
MAX_BULK_RUNS: Final = 100  # that one request cancels or reruns
DEFAULT_BULK_COMMAND_RUNS: Final = 1_000  # that one command cancels or reruns: each is a request
MAX_BULK_COMMAND_RUNS: Final = 10_000  # with --limit
MAX_LISTED_ITEMS: Final = 10_000  # that one command lists with --all: 20 MB of JSON; a cursor continues
MAX_API_KEYS: Final = 100
MAX_KEY_NAME_CHARACTERS: Final = 100
KEY_GRACE_MS: Final = 24 * 3_600_000  # how long the secret that a rotation replaced stays valid
MAX_SIGNING_KEYS: Final = 5  # that are valid at once; a rotation drops the oldest beyond it
MAX_SIGNING_TEXT_BYTES: Final = 10_000  # of the configured signing keys
KEYS_FRESH_MS: Final = 5_000  # a process checks for changed keys at most this often
KEY_USE_NOTED_MS: Final = 600_000  # a process stores the last use of a key at most this often
LOCAL_SWEEP_MS: Final = 1_000  # between sweeps of a local process: each is one index look-up
CLIENT_TIMEOUT_MS: Final = 40_000  # of the command line's requests: twice the longest wait of a response
CLIENT_WAIT_MS: Final = 2_000  # that one of its requests waits for the next event, so that Ctrl-C works quickly
WAITING_LINE_DELAY_MS: Final = 1_000  # after which the command line shows what it waits for
FOLLOW_MS: Final = 50  # between polls of the log by a caller that follows a run in its own process
MAX_ACTIVE_RUNS: Final = 200  # runs in progress at once in one local process
LOCAL_BUDGET_MS: Final = 60_000  # of one invocation in a local process, so that hand-overs also happen there
WATCH_MS: Final = 500  # between checks of the files by `stepless dev`
SETTLE_MS: Final = 150  # a changed file is loaded when it has stayed the same for this long
MAX_WATCHED_FILES: Final = 2_000  # by `stepless dev`: checking one file takes some five microseconds
MAX_REPORTED_RUNS: Final = 10_000  # in progress at once, whose start `stepless dev` remembers to report their end
STREAM_COALESCE_MS: Final = 50  # streamed text is emitted in pieces of about this duration

# -- imports ---------------------------------------------------------------------------------------------------------
MAX_IMPORT_BLOCKS: Final = 2_000  # of one export: the importer stores which block is upstream of which as a bit table
MAX_IMPORT_EDGES: Final = 10_000
MAX_IMPORT_FIELD_DEPTH: Final = 24  # of one value of a block: the containers around it take the rest of MAX_DOCUMENT_DEPTH
MAX_IMPORT_FAULTS: Final = 100  # rounds in which the importer compiles a document and replaces what the compiler refuses
READ_BYTES: Final = 4_000_000  # of a log that a reader of the whole log fetches at once
PAGE_READ_BYTES: Final = 64_000  # that a reader of one page fetches at once
