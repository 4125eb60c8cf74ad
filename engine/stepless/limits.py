"""Every bound of the engine: the unit in the name, the reason beside it."""

from __future__ import annotations

from typing import Final

# -- documents -------------------------------------------------------------------------------------------------------
MAX_DOCUMENT_BYTES: Final = 4_000_000  # a 10,000-node graph takes about 1 MB
MAX_DOCUMENT_DEPTH: Final = 96  # nesting of JSON values, four per container; also protects every recursive walk below it
MAX_NODES: Final = 100_000  # per document, bodies included
MAX_EDGES: Final = 400_000
MAX_NESTED_CONTAINERS: Final = 16
MAX_FINDINGS: Final = 500  # a refusal lists this many, then says how many more there are
MAX_COUNTED_FINDINGS: Final = 2_000  # errors; beyond them nobody looks for more
MAX_YAML_ALIASES: Final = 1_000  # "billion laughs"
MAX_ID_CHARACTERS: Final = 64
MAX_ENV_NAMES: Final = 200
MIN_SECRET_CHARACTERS: Final = 4  # of a value that is masked: a shorter one (`3`, `on`, `eu`) is part of too many other texts
MIN_ENCODED_SECRET_BYTES: Final = 8  # of one that is also looked for in base64, where fewer are found by chance
MAX_VARIABLES: Final = 1_000
MAX_LOSERS: Final = 1_000_000  # over all joins that cancel theirs: joins in a row share most of them
MAX_SHOWN_IDS: Final = 20  # of a cycle, in a message
MAX_DOUBTFUL_WORDS: Final = 30  # of a document, that are compared with its names: each takes some milliseconds
MAX_SHOWN_NULLS: Final = 5  # references that were null, in a message

# -- expressions -----------------------------------------------------------------------------------------------------
MAX_EXPRESSION_CHARACTERS: Final = 2_000
MAX_EXPRESSION_NODES: Final = 500  # of the syntax tree
MAX_EXPRESSION_DEPTH: Final = 40
MAX_TEXT_CHARACTERS: Final = 1_000_000  # any text that an expression builds
MAX_LIST_ITEMS: Final = 100_000  # any list that an expression builds
MAX_INTEGER_BITS: Final = 1_024
MAX_PATTERN_CHARACTERS: Final = 500  # of `matches`
MAX_DYNAMIC_PATTERN_BYTES: Final = 1_000_000  # that RE2 may take for a pattern made at run time: compiled in some 20 ms
MAX_EVALUATION_STEPS: Final = 10_000_000  # of one node, some 10 ns each: 0.1 s, and below 0.25 s for the worst found
MAX_DECISION_STEPS: Final = 2_500_000  # after which a decision is cut, so that other runs of the process get their turn
MAX_REFERENCE_STEPS: Final = 64  # names and indexes after the root
MAX_ROUND_DIGITS: Final = 15  # of `round`: what a double holds
MAX_NUMBER_CHARACTERS: Final = 400  # a text that `int` and `float` read; 1,024 bits are 309 digits
MAX_VIOLATIONS: Final = 20  # sentences that a contract answers
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
MAX_SHOWN_PATH: Final = 100  # instances of one path: with the whole of each, the nodes of a chain would take its square
MAX_CAUSES: Final = 100  # errors that one upstream failure lists
MAX_CAUSES_CHARACTERS: Final = 40_000  # of their messages, together: one batch of the log holds them all
MAX_CALL_DEPTH: Final = 25  # workflow in workflow
MAX_IN_FLIGHT: Final = 200  # attempts of one run at once in one process

# -- nodes -----------------------------------------------------------------------------------------------------------
MAX_SCHEDULES: Final = 50  # of one workflow: each is two requests at publication, which has less than 30 s
SCHEDULING_TRIES: Final = 5  # of a publication that others overtake
PUBLISHING_TRIES: Final = 20  # the same, of its webhook paths: each lost one means that another publication got on
MAX_PATTERN_ENTRIES: Final = 1_000  # of an event pattern
MAX_CASES: Final = 200  # exits of one condition or router
MAX_ANSWER_FIELDS: Final = 100  # of an approval or callback; people fill them in
MAX_APPROVERS: Final = 100
MAX_REMINDERS: Final = 20
MAX_MESSAGE_CHARACTERS: Final = 10_000  # what an approval tells people
MAX_ERROR_CHARACTERS: Final = 2_000  # of a failure's message; the log keeps them
MAX_EXCEPTION_BYTES: Final = 4_000  # of what the log keeps of an exception in author code: type, message, traceback
MAX_PATH_CHARACTERS: Final = 200  # of a webhook
MAX_TOLERANCE_S: Final = 24 * 3_600  # a signature older than a day is no longer a signature of now
MAX_URL_CHARACTERS: Final = 8_000  # what common servers still accept
MAX_HEADERS: Final = 100
MAX_MEDIA_TYPE_CHARACTERS: Final = 200  # of the `type` and `mime` of a streamed piece
MAX_FUNCTION_NAME_CHARACTERS: Final = 200
MAX_FUNCTION_THREADS: Final = 256  # above MAX_IN_FLIGHT: calls that were given up on keep their thread until they return
IDLE_THREAD_S: Final = 30
MAX_REDIRECTS: Final = 5
MAX_ADDRESSES_TRIED: Final = 4  # of one host name
HTTP_CONNECT_S: Final = 10
HTTP_KEEP_ALIVE_S: Final = 5  # shorter than servers and load balancers keep theirs
HTTP_IDLE_CONNECTIONS: Final = 20
MAX_MESSAGES: Final = 1_000  # of a conversation with a model
MAX_TOOLS: Final = 128  # that a model may call; providers take no more
MAX_OUTPUT_TOKENS: Final = 1_000_000  # of one answer of a model
MAX_MODEL_TURNS: Final = 20  # questions of one attempt: a model that calls tools is asked again after each round
MODEL_MARGIN_MS: Final = 50  # by which a conversation gives up before the engine does, so that it can say what it cost
MAX_TOOL_CALLS: Final = 100  # of one attempt
MAX_TOOL_RESULT_CHARACTERS: Final = 100_000  # what a model is shown of one: some 25,000 tokens
MAX_TOOL_EXCEPTION_BYTES: Final = 1_000  # of one in a tool: its line in the history has MAX_LOG_CHARACTERS
MAX_TOOL_NAME_CHARACTERS: Final = 64  # what providers take
MODEL_CONNECT_S: Final = 10
MODEL_READ_S: Final = 300  # silence of a provider after which its connection is given up, whatever the node's time-out
MAX_MODEL_CALLS: Final = 64  # at once in one process, to a provider whose client blocks a thread
MAX_AWS_CALLS: Final = 64  # at once in one process: boto3's clients block a thread each
AWS_CONNECT_S: Final = 5
MAX_CODE_CHARACTERS: Final = 100_000  # of a `code` node
MAX_CODE_OUTPUT_BYTES: Final = 5_000_000  # its result and what it prints, together
MAX_CODE_PRINT_CHARACTERS: Final = 20_000  # of what it prints; the rest is dropped
DEFAULT_CODE_MEMORY_MB: Final = 256
MAX_NOTICE_TRIES: Final = 12  # of one notice; with the back-off some two hours
NOTICE_BACKOFF_MS: Final = 1_000  # doubles
MAX_NOTICE_BACKOFF_MS: Final = 3_600_000
NOTICE_TIMEOUT_MS: Final = 10_000
MIN_CODE_MEMORY_MB: Final = 64  # the interpreter itself takes about 40
MAX_CODE_MEMORY_MB: Final = 2_048
CODE_MARGIN_MS: Final = 100  # by which a sandbox gives up before the engine does, so that it can say why
MAX_SANDBOXES: Final = 8  # processes for author code at once in one process; the others wait within their time-out

# -- values and bodies -----------------------------------------------------------------------------------------------
MAX_INPUT_BYTES: Final = 256_000  # a run's inputs, a webhook's body
MAX_RESULT_BYTES: Final = 5_000_000  # one node's output
INLINE_VALUE_BYTES: Final = 32_000  # larger values go to the blob store
PREVIEW_CHARACTERS: Final = 200
SHOWN_PARAMS_CHARACTERS: Final = 8_000  # of what one attempt was called with; larger parameters are shown by their beginnings
MAX_SHOWN_CALLS: Final = 10  # attempts of an instance of which it is told, the last ones
MAX_ANSWER_BYTES: Final = 32_000  # the answer to an approval

# -- the log ---------------------------------------------------------------------------------------------------------
MAX_BATCH_BYTES: Final = 350_000  # one log item; DynamoDB's limit is 400 KB
MAX_BATCH_EVENTS: Final = 10_000  # whoever reads one event decodes its whole batch: some 10 ms
MAX_ITEM_BYTES: Final = 380_000  # of one piece of a larger value; the rest of DynamoDB's 400 KB is for keys
MAX_KNOWN_ENDS: Final = 10_000  # runs whose log a process knows the end of; some 200 bytes each
MAX_SIGNAL_BYTES: Final = 64_000
MAX_INBOX_SIGNALS: Final = 5_000
MAX_UNMARKED_SIGNALS: Final = 16  # told to the core and not marked taken: each session tells them again, a mark is a write each
TAKEN_AT_ONCE: Final = 500  # signals marked taken before the lease is looked after: each is a request on DynamoDB
PAGE_EVENTS: Final = 500
MAX_PAGE_ITEMS: Final = 1_000
MAX_CURSOR_CHARACTERS: Final = 2_000  # a cursor is the last key listed; ids are far shorter
MAX_QUEUED_HINTS: Final = 1_000_000  # messages, and timers, of one process: some hundred MB
SQLITE_BUSY_MS: Final = 5_000  # how long a writer waits for another process that writes to the same file
IDEMPOTENCY_KEY_LIFE_MS: Final = 24 * 3_600_000
NEVER_MS: Final = 253_402_300_799_999  # the end of the year 9999: when a counter that stays expires
LEASE_MS: Final = 30_000
LEASE_MARGIN_MS: Final = 5_000  # before its end a lease is no longer relied on: clocks differ
SUMMARY_EVENTS: Final = 1_000  # the end of a longer log tells what the run came to: reading so many takes some 50 ms
SUMMARY_VALUE_BYTES: Final = 1_000  # of a value there, before it goes to the blob store: a batch costs by its size
SNAPSHOT_TAIL_BYTES: Final = 16_000  # below this, reading the log is as cheap as reading a snapshot

# -- invocations -----------------------------------------------------------------------------------------------------
BUDGET_MARGIN_MS: Final = 5_000  # of a hard budget: final commit, snapshot, effects
LOADING_MARGIN_MS: Final = 3_000  # of an invocation, for loading the run before its first attempt begins
MAX_RECOVERIES: Final = 3  # of one instance whose attempts are cut off; as many as it may have attempts, if these are more
MAX_IDLE_HOPS: Final = 8  # hand-overs in a row without an attempt that ended or an instance that settled
DEFAULT_TARGET_TIMEOUT_S: Final = 120  # the runner timeout that documents are judged by before they are deployed
INBOX_LOOK_MS: Final = 1_000  # while active, the inbox is looked into at most this often
STAY_MS: Final = 2_000  # a timer due sooner than this is waited for; later ones are armed
BUSY_DELAY_MS: Final = 1_000  # a hint that finds a live lease comes back after this
DEAD_LETTER_REST_MS: Final = 3_600_000  # a run that could not be worked off is tried again after this
UNREADABLE_REST_MS: Final = 60_000  # a run whose log cannot be read is looked at again after this; doubles …
MAX_UNREADABLE_REST_MS: Final = 3_600_000  # … up to this
START_GRACE_MS: Final = 10_000  # a created run that nobody picked up is looked for after this
SHUTDOWN_MS: Final = 10_000  # how long a drain may take after Ctrl-C
MAX_LOG_CHARACTERS: Final = 2_000  # one line that a node says
MAX_TOLD_LINES: Final = 40  # of what happened, in a failed assertion of a workflow test
COMMIT_TRIES: Final = 8  # of one commit against a store that is out of reach, in one invocation
TRANSIENT_BACKOFF_MS: Final = 25  # before the second try; doubles

# -- requests --------------------------------------------------------------------------------------------------------
MAX_TOKEN_CHARACTERS: Final = 2_000
MAX_IDEMPOTENCY_KEY_CHARACTERS: Final = 200
MAX_REQUEST_BYTES: Final = 256_000
LINK_LIFE_MS: Final = 30 * 24 * 3_600_000  # of a link to a pause without a deadline
MAX_LONG_POLL_MS: Final = 20_000
LOOK_FIRST_MS: Final = 20  # whoever waits for a run looks again after this, then twice as long, …
LOOK_LAST_MS: Final = 500  # … up to this
HEADER_MS: Final = 10_000  # a request's header, from the connection or the last answer on
BODY_MS: Final = 30_000  # a request's body, from its header on
SEND_MS: Final = 30_000  # after which a client that takes nothing of its answer is let go
MAX_CONNECTIONS: Final = 1_000  # to one local process; each holds a file, and at most some 80 KB of its request
HEARTBEAT_MS: Final = 15_000  # an idle event stream says so: proxies close silent connections after 30 s or more
STREAM_RETRY_MS: Final = 1_000  # a closed event stream is opened again after this
MAX_DETAILS_BYTES: Final = 32_000  # of a pause in the answer about its run, before its details are told by their hash
MAX_PAUSES_BYTES: Final = 2_000_000  # of all of them there; the rest of a page is for what the run has kept
MAX_PAGE_BYTES: Final = 4_000_000  # of one page of a listing; Lambda's answer ends at 6 MB
DEFAULT_PAGE_ITEMS: Final = 100
MAX_PERSON_CHARACTERS: Final = 200  # the name of who decides or cancels
MAX_REASON_CHARACTERS: Final = 2_000  # why a run is cancelled
MAX_KEYWORDS: Final = 16  # that a run is started with
MAX_KEYWORD_CHARACTERS: Final = 128
MAX_SEARCHED_RUNS: Final = 2_000  # headers that one search by keywords reads; a cursor goes on
MAX_BULK_RUNS: Final = 100  # that one request cancels or reruns
MAX_API_KEYS: Final = 100
MAX_KEY_NAME_CHARACTERS: Final = 100
KEY_GRACE_MS: Final = 24 * 3_600_000  # the secret that a rotation replaced still opens for so long
MAX_SIGNING_KEYS: Final = 5  # that open links at a time; a rotation drops the oldest beyond it
MAX_SIGNING_TEXT_BYTES: Final = 10_000  # of the signing keys, as they are configured
KEYS_FRESH_MS: Final = 5_000  # a process looks for changed keys at most this often
KEY_USE_NOTED_MS: Final = 600_000  # the last use of a key is written down at most this often
LOCAL_SWEEP_MS: Final = 1_000  # the sweep of a local process: one index look-up
CLIENT_TIMEOUT_MS: Final = 40_000  # of the command line's requests: twice what an answer that waits may take
CLIENT_WAIT_MS: Final = 2_000  # that one of its requests waits for the next event, so that Ctrl-C is not held up
WAITING_LINE_DELAY_MS: Final = 1_000  # after which a person is told what is being waited for
FOLLOW_MS: Final = 50  # how often whoever follows a run in its own process looks at the log
MAX_ACTIVE_RUNS: Final = 200  # runs under way at once in one local process
LOCAL_BUDGET_MS: Final = 60_000  # of one invocation in a local process: hand-over is exercised there too
WATCH_MS: Final = 500  # how often `stepless dev` looks at its files
SETTLE_MS: Final = 150  # what has changed is taken up when it is still the same so much later
MAX_WATCHED_FILES: Final = 2_000  # by `stepless dev`: a look takes some five microseconds a file
MAX_TOLD_RUNS: Final = 10_000  # under way at once, whose beginning `stepless dev` remembers to tell their end
STREAM_COALESCE_MS: Final = 50  # streamed text is told in pieces of about this duration

# -- imports ---------------------------------------------------------------------------------------------------------
MAX_IMPORT_BLOCKS: Final = 2_000  # of one export: which block is upstream of which is kept as a table of bits
MAX_IMPORT_EDGES: Final = 10_000
MAX_IMPORT_FIELD_DEPTH: Final = 24  # of one value of a block: the containers around it take the rest of MAX_DOCUMENT_DEPTH
MAX_IMPORT_FAULTS: Final = 100  # rounds in which the compiler is asked what it refuses of an imported document
READ_BYTES: Final = 4_000_000  # of a log, fetched at a time by whoever reads all of it
PAGE_READ_BYTES: Final = 64_000  # by whoever reads a page
