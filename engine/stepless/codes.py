"""Every code that an error, a finding or a failed node can carry. `python -m stepless.codes` prints docs/errors.md.

A code is stable: programs may branch on it. A test holds this table and the source to each other.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final, NamedTuple


class Code(NamedTuple):
    """What a code means and what to do about it."""

    meaning: str
    mend: str


Table = Mapping[str, Code]

FINDINGS: Final[Table] = {
    "aws_params": Code("parameters that the AWS operation does not take", "See the operation in boto3's documentation."),
    "break_outside_loop": Code("an `end {break: true}` stands in no loop", "Move it into a loop's body, or use `halt`."),
    "code_syntax": Code("the code of a `code` node cannot be read", "See the line."),
    "code_without_main": Code("the code of a `code` node does not define `main`", "Define `def main(args)`."),
    "contradiction": Code("two settings exclude each other", "Keep the one that you mean."),
    "cycle": Code("nodes lead back to themselves", "Use a loop, or remove one of the edges named."),
    "document_refused": Code("the document has findings and was not published", "Mend every finding; all are listed."),
    "document_syntax": Code("the text is neither YAML nor JSON, or breaks a bound while it is read", "See the line and column."),
    "doubtful_reference": Code("text that is nearly a reference to a node (warning)", "See the nearest name."),
    "empty_body": Code("there are no nodes", "Add a node to `nodes`."),
    "entry_in_body": Code("a trigger stands inside a container", "Move it to the top level."),
    "exactly_one": Code("of several fields exactly one must be given", "Keep the one that you mean."),
    "expression_error": Code("an expression raised while it was evaluated", "See the position in the text and the value it met."),
    "expression_forbidden": Code(
        "the expression uses what the language does not have",
        "See the list of operators and functions.",
    ),
    "expression_syntax": Code("the expression cannot be read", "See the position."),
    "expression_too_large": Code("the expression is longer or deeper than allowed", "Split it over several nodes."),
    "idle_setting": Code("a setting has no effect here (warning)", "Remove it, or set what it needs."),
    "invalid_pattern": Code("an event pattern says what the language does not have", "See the matchers in the message."),
    "invalid_schema": Code("a contract is no JSON Schema (2020-12)", "See what the schema compiler says."),
    "invalid_value": Code("a field has a value of the wrong type or form", "See what is expected."),
    "kind_without_code": Code(
        "this installation can simulate the kind but not run it",
        "Configure what the kind needs, or use another.",
    ),
    "malformed_id": Code("an id has characters that ids cannot have", "Use letters, digits, `_` and `-`."),
    "missing_count": Code("`mode: count` without a `count`", "Say how many branches must arrive."),
    "missing_field": Code("a required field is missing", "Add it."),
    "missing_timeout": Code("`mode: timeout` without a `timeout_ms`", "Say how long to wait."),
    "more_findings": Code("there are more findings than are shown", "Mend those shown first."),
    "no_else": Code("a condition without `else`: nothing follows when no case holds (warning)", "Add a case with `else`."),
    "nested_too_deep": Code("values or containers are nested too deeply", "Make it flatter."),
    "not_json": Code("the document holds what JSON has no word for", "Write it as text or a number."),
    "not_a_tool": Code("a node is named as a tool and is of a kind that cannot be one", "See the kinds in the message."),
    "not_upstream": Code("a reference to a node that does not come before", "Add an edge, or read another node."),
    "open_webhook": Code("a webhook without a word about authentication (warning)", "Set `auth`."),
    "out_of_range": Code("a number is outside its bounds", "See the bounds in the message."),
    "reserved_exit": Code("an exit would have a name with another meaning", "Rename it."),
    "reserved_field": Code("a field of an answer has a name with another meaning", "Rename it."),
    "reserved_env": Code("`env` names a setting of the engine", "Give the value a name that does not begin with `STEPLESS_`."),
    "reserved_id": Code("the id has another meaning in references", "Rename the node."),
    "secret_in_document": Code(
        "a secret stands in the document itself (warning)",
        "Keep it in the environment and write `${NAME}`.",
    ),
    "secret_out_of_reach": Code("`${NAME}` where a value is worked out again from the log", "Read it in a node before."),
    "secret_in_inputs": Code("a secret would be kept among a child run's inputs", "Let the child read it from its own `env`."),
    "shadowed_id": Code("an inner node has the id of an outer one", "Rename one of them."),
    "timeout_too_long": Code(
        "an attempt of the node does not fit into an invocation (a warning where nothing is deployed)",
        "Lower `timeout_ms`, or deploy with a longer `RunnerTimeout`.",
    ),
    "too_many_losers": Code("too many nodes would be cancelled by joins", "Use `losers: continue`."),
    "too_many_schedules": Code("more schedules than one workflow may have", "Let one fire more often, or split the workflow."),
    "unknown_callable": Code("a function of that name is not registered", "See the nearest name, or load its module."),
    "unknown_cause": Code("`retry_on` names a cause of failure that there is not", "See the causes in the message."),
    "unknown_exit": Code("an edge leaves by an exit that its source does not have", "See the exits it has."),
    "unknown_field": Code("a field is not known", "See the nearest name."),
    "unknown_kind": Code("there is no such kind of node", "See the nearest name."),
    "unknown_reference": Code("a reference to a name that does not exist", "See the nearest name."),
    "unknown_timezone": Code("no such time zone", "Use a name like Europe/Berlin."),
    "unknown_variable": Code("the variable is not declared", "Declare it under `variables`."),
    "unreachable_case": Code("a case stands behind `else` (warning)", "Move `else` to the end."),
    "unset_env": Code("a name in `env` has no value here (warning)", "Set it where the workflow runs."),
    "unused_parameter": Code("a parameter has no effect here (warning)", "Remove it."),
    "unwired_exit": Code("an exit leads nowhere (warning)", "Add an edge if something should happen then."),
    "wired_tool": Code("an edge leads into or out of a node that is only a tool", "Take the edge away."),
}

NODES: Final[Table] = {
    "address_refused": Code("the http node may not talk to this address", "Allow it with STEPLESS_HTTP_ALLOW if it is meant."),
    "attempt_over": Code("the attempt was given up while its code was still at work", "Nobody hears its end; stop the work."),
    "call_depth_exceeded": Code("workflows call each other too deeply", "Look for a cycle of calls."),
    "code_memory": Code("the code takes more memory than it may", "Raise `memory_mb`, or hold less at a time."),
    "code_output_too_large": Code("the code returns or prints more than a run may keep", "Return less, or where it is."),
    "code_raised": Code("the author's code raised, or ended its process", "See the line of the code."),
    "code_timeout": Code("the code has not ended in time", "Raise `timeout_ms`, or do less."),
    "connection_failed": Code("the other side could not be reached", "It is retried if listed; check the host."),
    "crashed": Code(
        "the process ended during every attempt of the node",
        "Look at the log of the runner: out of memory, or killed at its timeout?",
    ),
    "input_contract_violation": Code("the merged input breaks `input_contract`", "See the violation; nothing ran."),
    "invalid_arguments": Code("the arguments do not fit the function", "See which one."),
    "invalid_config": Code("parameters do not fit once references are filled in", "See the field."),
    "invalid_encoding": Code("the response's bytes are not what its headers say", "Mend the server."),
    "invalid_function": Code("the function cannot be called by name", "Give its parameters names."),
    "invalid_media": Code("a streamed piece is neither text nor media", "Stream {type, url, mime}, or text."),
    "iteration_failed": Code("a turn of the container failed", "See its `causes`; `on_error: continue` goes on."),
    "join_timeout": Code("too few branches arrived in time", "See `on_timeout` and `min_success`."),
    "kind_raised": Code("the kind's own code raised", "Report it to whoever wrote the kind."),
    "lambda_failed": Code("the Lambda function failed", "See its error; it is retried if listed."),
    "max_steps_exceeded": Code(
        "the run started as many nodes as it may",
        "Raise `max_steps`, or look for a loop that does not end.",
    ),
    "model_declined": Code("the model, or a guard before it, declined to answer", "See its words; ask something else."),
    "model_missing": Code("no model is named", "Give `model`, or configure a default."),
    "model_rate_limited": Code("the provider of the model asks to wait", "It is retried if listed, after `retry_after_ms`."),
    "model_request_refused": Code("the provider of the model refuses the request", "Check key, model and parameters."),
    "model_unavailable": Code("the provider of the model failed or is out of reach", "It is retried if listed."),
    "moderation_flagged": Code("the input or the output was flagged", "See the reason."),
    "moderation_unavailable": Code("nobody could moderate, so nothing passed", "Configure a moderator, or allow it."),
    "not_a_collection": Code("`items` is neither a list nor an object", "Check what the reference reads."),
    "no_progress": Code(
        "invocations handed the run over to each other, and none of them got anything done",
        "Compare the timeout of the node that the message names with `RunnerTimeout`.",
    ),
    "nothing_asked": Code("a model would be asked nothing", "Give a prompt, messages or an input."),
    "notice_without_aws": Code("people cannot be told by SNS or mail here (in the history)", "Install the extra `aws`."),
    "notice_without_means": Code("this installation tells nobody of pauses (in the history)", "Look at its configuration."),
    "notice_without_sender": Code("mail to people has no sender (in the history)", "Set STEPLESS_NOTIFY_FROM."),
    "outcome_unknown": Code("an attempt was cut off and may or may not have taken effect", "Find out, then rerun from the node."),
    "output_contract_violation": Code(
        "the output breaks `output_contract`",
        "See the violation; list `contract_violated` to retry.",
    ),
    "protocol_error": Code("the other side does not speak HTTP properly", "Mend the server."),
    "response_schema_violation": Code("the model's answer breaks `response_schema`", "List `contract_violated` to ask again."),
    "response_too_large": Code("the response is larger than a run may keep", "Ask for less."),
    "result_not_json": Code("the function returned what is not JSON", "See the path inside the result."),
    "result_too_large": Code("the result is larger than a run may keep", "Put it into a file and return where it is."),
    "run_failed": Code("the run failed", "See the node that failed first."),
    "sandbox_unavailable": Code("there is no isolation for author code, or its sandbox failed", "See the message."),
    "script_exhausted": Code("the scripted model has no more answers", "Add one to the script."),
    "secret_missing": Code("a node reads a name of `env` that is not set, or set to nothing", "Set it where the workflow runs."),
    "stalled": Code("nothing could go on; this must not happen", "Report it with the run's events."),
    "timeout": Code("no answer within `timeout_ms`", "Raise it, or retry."),
    "too_large": Code("evaluating the node takes too many steps", "Look at less data, or share the work among several nodes."),
    "too_many_items": Code("more turns than `max_iterations`", "Raise it, or set `truncate: true`."),
    "too_many_redirects": Code("the other side redirects too often", "Check the URL."),
    "too_many_threads": Code("too many calls hang in threads of their own", "Give the functions time-outs of their own."),
    "tool_waits": Code("a node that is run as a tool waits for somebody", "Use it in the graph instead."),
    "too_many_tool_calls": Code("a model asks for more tool calls than one attempt may make", "Tell it when to stop."),
    "too_many_turns": Code("a model asks for tools and never answers", "Tell it when to stop."),
    "unknown_encoding": Code("the response is encoded in a way that is not known", "Ask for another encoding."),
    "unknown_function": Code("no function of that name is registered", "Load its module with STEPLESS_MODULES."),
    "unknown_provider": Code("no provider of models is configured under that name", "See the names that there are."),
    "unknown_operation": Code("AWS has no such operation", "See the name in boto3's documentation."),
    "unknown_route": Code("the node answered an exit that it does not have", "See the exits it has."),
    "unknown_tool": Code("there is no such tool; a model that asks for one is told so", "See the names in the message."),
    "upstream_failure": Code("what the node needs from upstream failed", "See the first failure."),
    "variable_conflict": Code("branches wrote one variable without knowledge of each other", "See `join.on_conflict`."),
    "wait_timeout": Code("nobody answered in time, and no `timeout` exit is wired", "Wire it, or wait longer."),
}

REQUESTS: Final[Table] = {
    "already_decided": Code("409: somebody answered before", "See the first decision in the answer."),
    "answer_invalid": Code("422: the answer does not fit the question, which stays open", "See the violations."),
    "answer_too_large": Code("413: the answer is too large", "Say it in fewer words."),
    "author_error": Code("422: the workflow must be mended", "See the message."),
    "bad_request": Code("400: the request must be mended", "See the message."),
    "bad_signature": Code("401: the signature does not hold", "See the header in the message."),
    "bad_token": Code("401: the bearer token does not hold", "Send the right one."),
    "body_incomplete": Code("400: the body ended too early", "Send it again."),
    "body_too_large": Code("413: the body is too large", "Send less, or a reference to it."),
    "conflict": Code("409: somebody else decided first", "See the message."),
    "cross_site": Code("403: a form of another site", "Open the link itself."),
    "forbidden": Code("403: not allowed", "See the message."),
    "gone": Code("410: it is over", "See the message."),
    "id_mismatch": Code("422: the path and the document name different workflows", "Use one id."),
    "idempotency_key_reused": Code("409: the key was used with other inputs", "Use another key."),
    "inputs_too_large": Code("413: the inputs are too large", "Send a reference to them."),
    "inside_container": Code("422: turns cannot be repeated one by one", "Rerun from the container."),
    "invalid_cursor": Code("400: the cursor is not one of ours", "Start without one."),
    "invalid_event": Code("400: neither an event of EventBridge nor records of S3 or SQS", "Send it as it came."),
    "invalid_form": Code("400: the form cannot be read", "Send it again."),
    "invalid_idempotency_key": Code("400: the key is empty or too long", "Use up to 200 characters."),
    "internal_error": Code("500: a fault of ours", "Try again; if it stays, report it: `report` names the log entry."),
    "invalid_json": Code("400: the body is not JSON", "See the position."),
    "invalid_number": Code("400: a number is too large to be kept", "Use a smaller one."),
    "invalid_range": Code("416: the value has no such bytes", "See its size in the answer that named it."),
    "invalid_request": Code("400: the request cannot be read", "See the fields named."),
    "invalid_response": Code("502: the workflow's `respond` is no HTTP response", "Mend its status or headers."),
    "invalid_text": Code("400: half of a surrogate pair is no character", "Send valid Unicode."),
    "invalid_token": Code("403: the link was not signed by us", "Open it exactly as it was sent."),
    "keys_busy": Code("409: the API keys are being changed by others", "Try again."),
    "limit_exceeded": Code("413: a bound was reached", "See the message."),
    "method_not_allowed": Code("405: the path does not take this method", "See `Allow`."),
    "not_found": Code("404: there is no such thing", "See the message."),
    "nothing_due": Code("409: the run waits for no instant that could be skipped", "Answer what it asks, or let it work."),
    "predecessor_never_ran": Code("409: what the node needs was never there", "Rerun from further up."),
    "request_timeout": Code("408: the request has not come in time", "Send all of it at once."),
    "role_missing": Code("403: the API key does not have the role", "Use a key that has it."),
    "rate_limited": Code("429: the workflow's rate limit is reached", "See `Retry-After`."),
    "run_ended": Code("409 or 410: the run is over", "Start another, or rerun it."),
    "schema_violated": Code("422: the body does not fit the webhook's schema", "See the violations."),
    "secret_missing": Code("503: a secret of the webhook is not set", "Set it in the environment."),
    "signature_replayed": Code("409: this signed request was accepted before", "Sign every request anew."),
    "stale_signature": Code("401: the signature is too old or ahead", "Sign with the present time."),
    "start_delayed": Code("503: the run exists and starts a little later", "Do not start it again."),
    "token_expired": Code("410: the link has expired", "Ask for a new one."),
    "too_many_connections": Code("503: the server holds as many connections as it may", "Close some, or try again."),
    "too_many_keys": Code("413: there are as many API keys as there can be", "Remove one."),
    "too_many_requests": Code("429: not now", "See `Retry-After`."),
    "too_many_runs": Code("429: the workflow's concurrency is reached", "Try again when a run has ended."),
    "unauthorized": Code("401: the API key does not hold", "Send `Authorization: Bearer <key>`."),
    "unavailable": Code("503: try again", "Nothing is wrong with the request."),
    "unknown_entry": Code("422: the run would start at no entry of the workflow", "Start at one, or use an admin's key."),
    "unknown_hook": Code("404: no webhook listens on this path", "Publish a workflow with it."),
    "unknown_key": Code("404: there is no such API key", "See the list of keys."),
    "unknown_node": Code("404: the workflow has no such node", "See its nodes."),
    "unknown_pause": Code("404: the run has no such pause", "See its pauses."),
    "unknown_run": Code("404: there is no such run", "See the list of runs."),
    "unknown_value": Code("404: the run has no value with this hash", "Take the hash from an answer about the run."),
    "unknown_version": Code("404: there is no such version", "See the list of versions."),
    "unknown_workflow": Code("404: there is no such workflow", "Publish it, or see the list."),
    "unsupported_media_type": Code("415: the body is of a type that is not read", "Send JSON."),
    "value_too_large": Code("413: the value does not fit one answer", "Ask for it in pieces: `Range: bytes=0-3999999`."),
    "webhook_path_taken": Code("409: the path belongs to another workflow", "Choose another."),
}

ENGINE: Final[Table] = {
    "append_conflict": Code("somebody else runs this run now", "Nothing: it goes on there."),
    "damaged_log": Code(
        "500: a run's log is not what was written; the run rests, others go on",
        "Restore the run's log from a backup, or start the run anew.",
    ),
    "engine_bug": Code("what must not happen happened; nothing was written", "Report it."),
    "error": Code("an error of no other kind", "See the message."),
    "database_gone": Code("503: the database was deleted or replaced under the server", "Put it back, or restart the server."),
    "extra_missing": Code("a command needs what is not installed", "Install the extra that is named."),
    "fenced": Code("another process owns this run", "Nothing: it goes on there."),
    "file_held": Code("another process serves the file", "Stop it, or use another file."),
    "file_not_read": Code("a file cannot be read", "Check the path."),
    "file_not_written": Code("a file cannot be written", "Check the path."),
    "file_too_large": Code("a file is too large", "Split it."),
    "folder_not_found": Code("a folder does not exist", "Check the path."),
    "folder_not_made": Code("a folder cannot be made", "Check the path."),
    "id_taken": Code("two nodes of one level were given the same id", "Choose another id."),
    "invalid_duration": Code("a text that should be a duration is none", "Write it like 500ms, 90s, 15m, 2h, 3d or PT2H."),
    "invalid_script": Code("a simulation's script cannot be read", "See what it may hold."),
    "invalid_signal": Code("a simulation's signal cannot be read", "See what it may hold."),
    "invalid_plugin": Code("a plug-in announces what is no kind", "See the object named."),
    "kind_taken": Code("a plug-in's kind has the name of another", "Remove one of them, or rename it."),
    "lease_lost": Code("the lease was taken over", "Nothing: the run goes on there."),
    "module_not_loaded": Code("a module of functions cannot be loaded", "See the error inside it."),
    "log_unreadable": Code("a run's log cannot be read", "See the message."),
    "newer_log": Code(
        "503: a newer release wrote a run's log; the run rests unchanged",
        "Deploy a release that knows it.",
    ),
    "no_runs_file": Code("no runs are kept in the file", "Start `stepless dev`, or name the file with --db."),
    "no_sim_export": Code("the file is no export of Sim", "See what was expected."),
    "no_stepless": Code("what answers at the address is no Stepless API", "See what it answered."),
    "nobody_serves": Code("the run is kept, and nobody serves its file", "Start `stepless dev`, or use --go."),
    "port_taken": Code("the port is in use", "Choose another, or 0."),
    "schedule_refused": Code("AWS refuses the rhythm of a schedule", "See the node and the message; publish it mended."),
    "schedules_not_kept": Code("503 or 500: published, but its schedules are not all set", "Publish it again."),
    "project_exists": Code("a file of a new project is there already", "Use an empty folder."),
    "setting_missing": Code("a function of the deployment misses a setting", "Deploy template.yaml, which sets it."),
    "sim_export_too_large": Code("the export is larger than a document may be", "Split it."),
    "store_unavailable": Code("the store is out of reach for a moment", "It is tried again."),
    "store_unusable": Code("the store cannot be used as it is", "See the message."),
    "unreachable": Code("the server cannot be reached, or does not answer", "Check the address."),
    "usage": Code("the command's words are off", "See `--help`."),
}

_FAILED: Final = (
    "The `code` of a failed node's error, in `run.error`, in events and along `error` edges. `run.error` is the first failure in "
    "the order of starts that no `error` edge took; of a container or a child run it is the failure within. A failure that "
    "follows from others lists them in `causes`, in edge order."
)

SECTIONS: Final[Mapping[str, tuple[str, Table]]] = {
    "Findings": ("Why a document is refused, all at once, each with its path, node or edge and mend. Some only warn.", FINDINGS),
    "Failed nodes": (_FAILED, NODES),
    "Requests": ("The `code` of an `application/problem+json` answer.", REQUESTS),
    "Engine and command line": ("What an operator meets.", ENGINE),
}


def all_codes() -> frozenset[str]:
    return frozenset(code for _, table in SECTIONS.values() for code in table)


def render() -> str:
    """docs/errors.md."""
    lines = [_HEAD]
    for title, (intro, table) in SECTIONS.items():
        lines += ["", f"## {title}", "", intro, "", "| code | means | mend |", "|---|---|---|"]
        lines += [f"| `{name}` | {code.meaning} | {code.mend} |" for name, code in sorted(table.items())]
    return "\n".join([*lines, "", _TAIL, ""])


_HEAD = """\
# Errors

Every error carries a stable code, the place and the mend. This page is made by `python -m stepless.codes`."""
_TAIL = """\
A function that raises an exception of its own fails with the exception's name as its code, in snake case; an http node that
meets an unexpected status with `http_<status>`; a call of AWS with `aws_` and the service's own word, in snake case; a child
run that ends badly with `child_<status>`."""


if __name__ == "__main__":
    sys.stdout.write(render())
