"""Lists every code that an error, a finding or a failed node can carry. `python -m stepless.codes` prints docs/run/errors.md.

Codes are stable: programs may branch on them. A test checks that this table and the source agree.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final, NamedTuple

from stepless import codes_of_flows, codes_of_requests


class Code(NamedTuple):
    """What a code means, and how to fix the problem."""

    meaning: str
    fix: str


Table = Mapping[str, Code]

FINDINGS: Final[Table] = {
    "aws_params": Code("the AWS operation does not accept these parameters", "See the operation in boto3's documentation."),
    "break_outside_loop": Code("an `end {break: true}` is not inside a loop", "Move it into a loop's body, or use `halt`."),
    "code_syntax": Code("the code of a `code` node has a syntax error", "Fix the line named in the message."),
    "code_without_main": Code("the code of a `code` node does not define `main`", "Define `def main(args)`."),
    "contradiction": Code("two settings exclude each other", "Keep one of them."),
    "cycle": Code("the nodes form a cycle", "Use a loop, or remove one of the edges in the message."),
    "disabled_without_exit": Code("a disabled node has several exits and names none", "Write `enabled: {exit: name}`."),
    "document_refused": Code("the document has findings and was not published", "Fix every finding; all are listed."),
    "document_syntax": Code("the text is not valid YAML or JSON, or exceeds a limit", "Fix it at the given line and column."),
    "doubtful_reference": Code("a text looks like a misspelled reference to a node (warning)", "Check the suggested name."),
    "empty_body": Code("there are no nodes", "Add a node to `nodes`."),
    "entry_in_body": Code("a trigger is inside a container", "Move it to the top level."),
    "exactly_one": Code("exactly one of several fields must be given", "Keep one of them."),
    "expression_error": Code("an expression failed during evaluation", "Check the position and the value in the message."),
    "expression_forbidden": Code(
        "the expression uses syntax or a function that the language does not have", "See the list of operators and functions."
    ),
    "expression_syntax": Code("the expression has a syntax error", "Fix it at the given position."),
    "expression_too_large": Code("the expression is longer or deeper than allowed", "Split it over several nodes."),
    "idle_setting": Code("a setting has no effect here (with another setting: a warning)", "Remove it, or add what it needs."),
    "invalid_pattern": Code("an event pattern uses an unsupported matcher", "Use one of the matchers in the message."),
    "invalid_schema": Code("a contract is not a valid JSON Schema (2020-12)", "See the schema compiler's message."),
    "clock_change": Code("a schedule falls into a change of the clocks (warning)", "Choose another time, or `timezone: UTC`."),
    "invalid_value": Code("a field has a value of the wrong type or form", "Use a value of the expected form."),
    "kind_without_code": Code("this installation simulates the kind but cannot run it", "Configure it, or use another kind."),
    "malformed_id": Code("an id contains characters that ids cannot have", "Use letters, digits, `_` and `-`."),
    "misplaced_inputs": Code("a node that is not an entry has `inputs`", "Move it to the entry, or write `input_contract`."),
    "not_in_distributed": Code(
        "a `distributed` node cannot have this in its body, or cannot be here", "Move it out, or use a `parallel`."
    ),
    "misplaced_limit": Code("a node without attempts has a `concurrency` or `rate`", "Set it on a node that calls something."),
    "missing_count": Code("`mode: count` needs a `count`", "Set `count` to the number of branches that must arrive."),
    "missing_field": Code("a required field is missing", "Add it."),
    "missing_value": Code(
        "`need(…)` or a strict reference found no value",
        "Make sure that there is one, or use `default(…)` and a plain reference.",
    ),
    "missing_timeout": Code("`mode: timeout` needs a `timeout_ms`", "Set how long to wait."),
    "more_findings": Code("there are more findings than are shown", "Fix those that are shown first."),
    "no_else": Code("a condition has no `else`, so nothing runs when no case matches (warning)", "Add a case with `else`."),
    "nested_too_deep": Code("values or containers are nested deeper than allowed", "Reduce the nesting."),
    "not_json": Code("the document contains a value that JSON cannot represent", "Write it as text or a number."),
    "not_a_tool": Code("a node is listed as a tool, but its kind cannot be one", "Use one of the kinds in the message."),
    "not_upstream": Code("a reference to a node that does not come before this one", "Add an edge, or read another node."),
    "never_fires": Code("a schedule never fires; a warning if it only will not fire again", "Correct the cron expression."),
    "open_webhook": Code("a webhook does not say whether it needs authentication (warning)", "Set `auth`."),
    "out_of_range": Code("a number is outside its bounds", "See the bounds in the message."),
    "reserved_exit": Code("the name of an exit is reserved", "Rename the exit."),
    "reserved_field": Code("the name of a field of an answer is reserved (`approved`: a warning)", "Rename the field."),
    "reserved_env": Code("`env` names a setting of the engine", "Use a name that does not begin with `STEPLESS_`."),
    "reserved_id": Code("the id is reserved in references", "Rename the node."),
    "secret_in_document": Code("the document itself contains a secret (warning)", "Move it to the environment: `${NAME}`."),
    "secret_out_of_reach": Code(
        "`${NAME}` is used where the engine recomputes a value from the log, or in the key of a limit",
        "Read it in an earlier node.",
    ),
    "secret_in_inputs": Code("a secret would be stored in a child run's inputs", "Let the child read it from its own `env`."),
    "shadowed_id": Code("an inner node has the id of an outer one", "Rename one of them."),
    "timeout_too_long": Code(
        "the node's `timeout_ms` does not fit into an invocation (a warning where nothing is deployed)",
        "Lower `timeout_ms`, or deploy with a longer `RunnerTimeout`.",
    ),
    "too_many_losers": Code("joins would cancel too many nodes", "Use `losers: continue`."),
    "too_many_schedules": Code("the workflow has more schedules than allowed", "Combine schedules, or split the workflow."),
    "unknown_callable": Code("no function of that name is registered", "Check the suggested name, or load its module."),
    "unknown_cause": Code("`retry_on` lists an unknown cause of failure", "Use one of the causes in the message."),
    "unknown_exit": Code("an edge, or a disabled node, leaves by an exit that is not there", "Use one of those in the message."),
    "unknown_field": Code("the field is unknown", "Check the suggested name."),
    "unknown_kind": Code("the node kind is unknown", "Check the suggested name."),
    "unknown_reference": Code("a reference to a name that does not exist", "Check the suggested name."),
    "unknown_timezone": Code("the time zone is unknown", "Use a name like Europe/Berlin."),
    "doubled_path": Code("two webhooks of the workflow have one path", "Choose another path."),
    "unlisted_env": Code("`${NAME}` is read and `env` does not list it", "Add the name to `env`."),
    "unknown_variable": Code("the variable is not declared", "Declare it under `variables`."),
    "unreachable_case": Code("a case follows `else` and is never reached (warning)", "Move `else` to the end."),
    "unset_env": Code("a name in `env` has no value in this environment (warning)", "Set it where the workflow runs."),
    "unused_parameter": Code("a parameter has no effect here (warning)", "Remove it."),
    "unwired_exit": Code("no edge leaves by this exit (warning)", "Add an edge if a node should run then."),
    "wired_tool": Code("an edge leads into or out of a tool", "Remove the edge, or add a separate node."),
}

NODES: Final[Table] = {
    "argument_changed": Code("a lifted expression changed one of its arguments in place", "Return the new value."),
    "address_refused": Code("the http node may not connect to this address", "To allow it, set STEPLESS_HTTP_ALLOW."),
    "attempt_over": Code("the attempt ended while its code was still running", "Stop the work: its result is discarded."),
    "bad_row": Code("a row of a source cannot be read: its item fails", "See the line in the message; `tolerate` allows some."),
    "call_depth_exceeded": Code("workflows call each other too deeply", "Look for a cycle of calls."),
    "code_memory": Code("the code exceeded its memory limit", "Raise `memory_mb`, or hold less at a time."),
    "code_output_too_large": Code("the code returns or prints more than a run may keep", "Return less, or a reference to it."),
    "code_raised": Code("the author's code raised an exception or ended its process", "See the line of the code."),
    "code_timeout": Code("the code did not finish in time", "Raise `timeout_ms`, or do less work."),
    "connection_failed": Code("the host could not be reached", "Check the host; `retry_on` can list this cause."),
    "crashed": Code(
        "the process ended again and again while it executed only this node",
        "Check the runner's log: did the node exhaust the memory, or end the process?",
    ),
    "input_contract_violation": Code("the merged input violates `input_contract`", "See the violation; the node did not run."),
    "invalid_arguments": Code("the arguments do not match the function's signature", "Fix the argument in the message."),
    "invalid_config": Code("the parameters are invalid after references were resolved", "Check the field in the message."),
    "invalid_encoding": Code("the response's bytes do not match its headers", "Fix the server."),
    "invalid_function": Code("the function's parameters cannot be passed by name", "Give its parameters names."),
    "invalid_media": Code("a streamed piece is neither text nor media", "Stream {type, url, mime}, or text."),
    "invalid_weight": Code("the `weight` of a limit is not a whole number of at least 1", "Check what its expression reads."),
    "iteration_failed": Code(
        "an iteration of the container failed", "See its `causes`; `on_error: continue` ignores failed iterations."
    ),
    "join_timeout": Code("too few branches arrived in time", "See `on_timeout` and `min_success`."),
    "kind_raised": Code("the kind's own code raised an exception", "Report it to the author of the kind."),
    "lambda_failed": Code("the Lambda function failed", "See its error; `retry_on` can list this cause."),
    "max_steps_exceeded": Code("the run reached its limit of started nodes", "Raise `max_steps`, or look for an endless loop."),
    "model_declined": Code("the model or a guardrail declined to answer", "See its message; change the request."),
    "model_missing": Code("no model is named", "Set `model`, or configure a default."),
    "model_rate_limited": Code(
        "the model provider limits the request rate", "`retry_on` can list this cause; the retry waits for `retry_after_ms`."
    ),
    "model_request_refused": Code("the model provider rejected the request", "Check key, model and parameters."),
    "model_unavailable": Code("the model provider failed or is unreachable", "`retry_on` can list this cause."),
    "moderation_flagged": Code("moderation flagged the input or the output", "See the reason."),
    "moderation_unavailable": Code(
        "no moderator was available, so the node was blocked", "Configure a moderator, or allow unmoderated content."
    ),
    "not_a_collection": Code("`items` is neither a list nor an object", "Check what the reference reads."),
    "no_progress": Code(
        "the run was handed over between invocations repeatedly without progress",
        "Compare the timeout of the node in the message with `RunnerTimeout`.",
    ),
    "nothing_asked": Code("the request to the model would be empty", "Set a prompt, messages or an input."),
    "notice_without_aws": Code("SNS and mail notices need the AWS extra (in the history)", "Install the extra `aws`."),
    "notice_without_means": Code("this installation cannot send notices (in the history)", "Check its configuration."),
    "notice_without_sender": Code("mail notices have no sender address (in the history)", "Set STEPLESS_NOTIFY_FROM."),
    "outcome_unknown": Code(
        "an attempt was interrupted and may or may not have taken effect", "Check its effect, then rerun from the node."
    ),
    "output_contract_violation": Code(
        "the output violates `output_contract`", "See the violation; list `contract_violated` to retry."
    ),
    "protocol_error": Code("the server's response is not valid HTTP", "Fix the server."),
    "rate_limit": Code("the service asks for a retry after more than a day", "Try again later, or raise `max_backoff_ms`."),
    "response_schema_violation": Code("the model's answer violates `response_schema`", "List `contract_violated` to ask again."),
    "response_too_large": Code("the response is larger than a run may keep", "Request less data."),
    "result_not_json": Code("the function returned a value that is not JSON", "See the path inside the result."),
    "result_too_large": Code("the result is larger than a run may keep", "Store it elsewhere and return a reference to it."),
    "run_failed": Code("the run failed", "See the node that failed first."),
    "sandbox_unavailable": Code("author code cannot be isolated here, or its sandbox failed", "See the message."),
    "script_exhausted": Code("the scripted model has no more answers", "Add one to the script."),
    "secret_missing": Code("a node reads a name of `env` that is unset or empty", "Set it where the workflow runs."),
    "sink_taken": Code("the place of the results holds those of another run", "Use another prefix, such as one with `<run.id>`."),
    "sink_unwritable": Code(
        "the place of the results cannot be written", "Correct the place, or permit the role to write there."
    ),
    "source_changed": Code(
        "the source was written or removed after it was planned", "Start the run again, on a source that stays."
    ),
    "source_unreadable": Code(
        "the source cannot be read", "See the message: the place, the right to read it, its format or size."
    ),
    "stalled": Code("the run could not continue; this is a bug in the engine", "Report it with the run's events."),
    "timeout": Code("no answer within `timeout_ms`", "Raise it, or retry."),
    "too_large": Code("evaluating the node takes too many steps", "Process less data, or split the work over several nodes."),
    "too_many_items": Code("more iterations than `max_iterations`", "Raise it, or set `truncate: true`."),
    "too_many_redirects": Code("the server redirects too often", "Check the URL."),
    "too_many_threads": Code("too many timed-out calls still block their threads", "Set timeouts inside the functions."),
    "tool_waits": Code("a node that runs as a tool would pause", "Use it in the graph instead."),
    "too_many_tool_calls": Code("a model requests more tool calls than one attempt may make", "Say in the prompt when to stop."),
    "too_many_turns": Code("a model keeps calling tools and never answers", "Say in the prompt when to stop."),
    "unknown_encoding": Code("the response uses an unknown encoding", "Request another encoding."),
    "unknown_function": Code("no function of that name is registered", "Load its module with STEPLESS_MODULES."),
    "unknown_provider": Code("no model provider of that name is configured", "Use one of the names in the message."),
    "unknown_operation": Code("AWS has no such operation", "See the name in boto3's documentation."),
    "unknown_route": Code("the node returned an exit that it does not have", "Use one of its exits."),
    "unknown_tool": Code("a model called an unknown tool; the error is returned to the model", "See the names in the message."),
    "upstream_failure": Code("an upstream node that this node needs failed", "See the first failure."),
    "variable_conflict": Code("parallel branches wrote the same variable", "See `join.on_conflict`."),
    "wait_timeout": Code("no answer arrived in time, and no `timeout` exit is wired", "Wire it, or wait longer."),
}

FLOWS: Final[Table] = {name: Code(*texts) for name, texts in codes_of_flows.TEXTS.items()}

REQUESTS: Final[Table] = {name: Code(*texts) for name, texts in codes_of_requests.TEXTS.items()}

ENGINE: Final[Table] = {
    "append_conflict": Code("another process wrote to this run's log", "No action: the run continues there."),
    "code_not_returned": Code(
        "code still runs long after its attempt ended", "Give its work a timeout of its own, so that it returns."
    ),
    "collector_unavailable": Code(
        "a collector of telemetry refused it for now, or cannot be reached",
        "No action: the engine sends it again. If it lasts, check the endpoint.",
    ),
    "damaged": Code("503: one stored value is damaged; everything else can be used", "See `stepless doctor`."),
    "damaged_log": Code(
        "503: a run's log is damaged; this run stays unchanged", "Restore the run's log from a backup, or start the run again."),
    "draft_damaged": Code(
        "503: a part of a draft is missing or cannot be read", "Restore the store from a backup, or replace the draft."),
    "engine_bug": Code("a bug in the engine; nothing was written", "Report it."),
    "error": Code("an unclassified error", "See the message."),
    "database_gone": Code("503: the database was deleted or replaced under the server", "Put it back, or restart the server."),
    "extra_missing": Code("the command needs a package that is not installed", "Install the extra in the message."),
    "fenced": Code("another process owns this run", "No action: the run continues there."),
    "file_held": Code("another process serves the file", "Stop it, or use another file."),
    "file_not_read": Code("a file cannot be read", "Check the path."),
    "file_not_written": Code("a file cannot be written", "Check the path."),
    "file_outside": Code("422: a file is a link that leads out of the folder", "Replace the link by the file."),
    "file_too_large": Code("a file is too large", "Split it."),
    "folder_not_found": Code("a folder does not exist", "Check the path."),
    "folder_too_large": Code("a folder has more subfolders than are read", "Give the folder that has the workflows alone."),
    "folder_not_made": Code("a folder cannot be created", "Check the path."),
    "id_taken": Code("two nodes of one level were given the same id", "Choose another id."),
    "invalid_duration": Code("a text is not a valid duration", "Write it like 500ms, 90s, 15m, 2h, 3d or PT2H."),
    "invalid_script": Code("a simulation's script is invalid", "See the fields in the message."),
    "invalid_signal": Code("a simulation's signal is invalid", "See the fields in the message."),
    "invalid_roles": Code("a setting of who may do what is malformed", "Correct the entry in the message, and deploy."),
    "invalid_plugin": Code("a plug-in registers an object that does not fit its group", "See the object in the message."),
    "kind_taken": Code("two plug-ins register a kind with the same name", "Remove one of them, or rename it."),
    "lease_lost": Code("another process took over the run's lease", "No action: the run continues there."),
    "module_not_loaded": Code("a module of functions cannot be loaded", "See the error inside it."),
    "log_unreadable": Code("a run's log cannot be read", "See the message."),
    "newer_log": Code("503: a newer release wrote a run's log; the engine leaves the run unchanged", "Deploy that release."),
    "no_n8n_export": Code("the file is not an n8n export", "See the expected form in the message."),
    "no_runs_file": Code("the file contains no runs", "Start `stepless dev`, or name the file with --db."),
    "no_sim_export": Code("the file is not a Sim export", "See the expected form in the message."),
    "no_stepless": Code("the server at the address is not a Stepless API", "See its response in the message."),
    "nobody_serves": Code("the run is stored, but no process serves its file", "Start `stepless dev`, or use --go."),
    "outcome_unknown": Code(
        "`stepless.client`: a call had no answer, and may have had its effect", "Repeat it with the key in the message."
    ),
    "plugin_taken": Code("two packages register a store or model provider with the same name", "Remove one of them."),
    "port_taken": Code("the port is in use", "Choose another, or 0."),
    "schedule_refused": Code("AWS rejected a schedule", "Fix the node in the message, then publish again."),
    "schedules_not_kept": Code("503 or 500: published, but not all of its schedules were set", "Publish it again."),
    "project_exists": Code("a file of the new project already exists", "Use an empty folder."),
    "setting_invalid": Code("a setting has a value that cannot be used", "Correct it, as the message says."),
    "setting_missing": Code("a function or a local process lacks a setting", "Deploy template.yaml, or set it."),
    "n8n_export_too_large": Code("the export is larger than a document may be", "Split it."),
    "sim_export_too_large": Code("the export is larger than a document may be", "Split it."),
    "still_running": Code("`stepless.client`: the run neither ended nor paused in time", "Wait again, or longer."),
    "store_unavailable": Code("the store is temporarily unavailable", "No action: the engine retries."),
    "store_unusable": Code("the store cannot be used in its present state", "See the message."),
    "unknown_store": Code("no installed package has a store for the scheme of the URL", "Install one, or use a file."),
    "unreachable": Code("the server cannot be reached, or does not answer", "Check the address."),
    "usage": Code("the command line is invalid", "See `--help`."),
    "workflow_id_taken": Code("two workflows in Python of one file have the same id", "Choose another id."),
}

_FAILED: Final = (
    "The `code` of a failed node's error, in `run.error`, in events and along `error` edges. `run.error` is the first failure "
    "that no `error` edge handled, in the order of starts. For a container or a child run, it is the failure inside. A failure "
    "that results from others lists them in `causes`, in edge order. A node retries only the causes that its `retry_on` lists."
)

SECTIONS: Final[Mapping[str, tuple[str, Table]]] = {
    "Findings": (
        "Why a document is refused. All are reported at once, each with its path, node or edge, and fix. Some are warnings.",
        FINDINGS,
    ),
    "Flows": (
        "Why the source of a flow is refused (docs/learn/flows.md). All faults are reported at once, with file and line.", FLOWS,
    ),
    "Failed nodes": (_FAILED, NODES),
    "Requests": ("The `code` of an `application/problem+json` answer.", REQUESTS),
    "Engine and command line": ("Errors that an operator, or a user of the command line or of `stepless.client`, sees.", ENGINE),
}


def all_codes() -> frozenset[str]:
    return frozenset(code for _, table in SECTIONS.values() for code in table)


def render() -> str:
    """Returns the text of docs/run/errors.md."""
    lines = [_HEAD]
    for title, (intro, table) in SECTIONS.items():
        lines += ["", f"## {title}", "", intro, "", "| code | means | fix |", "|---|---|---|"]
        lines += [f"| `{name}` | {code.meaning} | {code.fix} |" for name, code in sorted(table.items())]
    return "\n".join([*lines, "", _TAIL, ""])


_HEAD = """\
# Errors

Every error carries a stable code, its place, and how to fix it (the field `mend`).
`python -m stepless.codes` generates this
page."""
_TAIL = """\
Some codes are derived:

* A function that raises its own exception fails with the exception's name in snake case.
* An `http` node that receives an unexpected status fails with `http_<status>`.
* A call to AWS fails with `aws_` and the service's error code in snake case.
* A node whose child run fails, is cancelled or times out fails with `child_<status>`."""


if __name__ == "__main__":
    sys.stdout.write(render())
