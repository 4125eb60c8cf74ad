"""Implements `start`, and `runs cancel`, `resume`, `rerun`, `hold`, `release`: the verbs that change runs.

A server has a runner that continues the run. Over a file, the verb stores the change, and the process that serves the file
applies it within a second. If no process serves the file, the verb says so; --go runs the run in this process.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from io import UnsupportedOperation
from typing import Any, Final

from stepless.cli.reach.files import read_inputs
from stepless.cli.reach.gateway import Gateway, opened
from stepless.cli.terminal.formatting import put_json
from stepless.cli.terminal.progress import instant_ms
from stepless.cli.terminal.questions import Answers, NoMoreAnswers, Prompt
from stepless.cli.verbs import following, runs
from stepless.cli.verbs.bulk import Change, change_many, is_bulk
from stepless.errors import Conflict, InvalidRequest, SteplessError
from stepless.model.json import JSON
from stepless.runtime.verbs.reads.inspecting import OpenPause

_COMPLETED: Final = "completed"
_FAILED: Final = "failed"  # as the beginning of a rerun


def start(arguments: argparse.Namespace) -> int:
    words = {"tags": arguments.keyword}  # the former name, which older servers accept too
    body = {
        "inputs": read_inputs(arguments.inputs), "entry": arguments.entry, "delay": arguments.delay, "at": arguments.at,
        "key": arguments.key, **words,
    }  # fmt: skip
    sent = {name: value for name, value in body.items() if value not in (None, [])} | {"inputs": body["inputs"]}
    headers = {"idempotency-key": arguments.idempotency_key} if arguments.idempotency_key is not None else {}
    with opened(arguments) as gateway:
        query = {"idempotent": arguments.idempotent}
        started = gateway.ask("POST", "workflows", arguments.workflow, "runs", query=query, body=sent, headers=headers)
        done = f"started, version {started['version']}"
        if started["replay"]:
            done = "was already started with this key"
        elif started.get("joined"):  # an older server has no keys
            done = f"has the key {started['key']} and is live"
        return follow_up(gateway, arguments, started["run_id"], f"{started['run_id']}  {done}", started)


def run_draft(arguments: argparse.Namespace) -> int:
    body: dict[str, JSON] = {
        "seq": arguments.seq, "entry": arguments.entry, "stop_after": arguments.stop_after, "from_run": arguments.from_run,
        "from": arguments.node, "pins": {} if arguments.no_pins else None,
    }  # fmt: skip
    if arguments.pins is not None:
        body["pins"] = read_inputs(arguments.pins)
    sent = {name: value for name, value in body.items() if value is not None}
    if arguments.inputs is not None:
        sent["inputs"] = read_inputs(arguments.inputs)
    with opened(arguments) as gateway:
        started = gateway.ask("POST", "drafts", arguments.workflow, "runs", body=sent)
        line = f"{started['run_id']}  started, a test run of the draft as of item {started['seq']}"
        return follow_up(gateway, arguments, started["run_id"], line, started)


def rerun(arguments: argparse.Namespace) -> int:
    if is_bulk(arguments):
        return _rerun_many(arguments)
    if arguments.again:
        raise InvalidRequest("--again is for a filter", code="usage", mend="leave it out: one run is rerun as often as you ask")
    body = _rerun_body(arguments)
    with opened(arguments) as gateway:
        started, begun = _rerun(gateway, arguments.run, body, chosen=_chooses(arguments))
        line = f"{started['run_id']}  started, a rerun of {arguments.run}{begun}"
        return follow_up(gateway, arguments, started["run_id"], line, started)


def _rerun_many(arguments: argparse.Namespace) -> int:
    body = {"again": arguments.again, **_rerun_body(arguments)}

    def change(gateway: Gateway, run_id: str) -> str:
        started, begun = _rerun(gateway, run_id, body, chosen=_chooses(arguments))
        return f"started again as {started['run_id']}{begun}"

    return change_many(arguments, "rerun", change)


def _rerun_body(arguments: argparse.Namespace) -> dict[str, JSON]:
    if arguments.node is not None and arguments.from_start:
        raise InvalidRequest("--from and --from-start exclude each other", code="usage", mend="leave one of them out")
    body: dict[str, JSON] = {} if arguments.node is None else {"from": arguments.node}
    if arguments.items is not None:
        body["items"] = arguments.items if arguments.items == _FAILED else _numbers(arguments.items)
    if arguments.inputs is not None:
        body["inputs"] = read_inputs(arguments.inputs)
    return body


def _numbers(text: str) -> list[JSON]:
    """The numbers of items, like 3,17."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError as error:
        message = f"--items is {text!r}, which is neither `failed` nor a list of numbers"
        raise InvalidRequest(message, code="usage", mend="use numbers with commas between them, like 3,17") from error


def _chooses(arguments: argparse.Namespace) -> bool:
    """Whether the command says where the rerun begins. Other inputs are for all nodes: such a rerun begins at the start."""
    return arguments.node is not None or arguments.from_start or arguments.inputs is not None


def _rerun(gateway: Gateway, run_id: str, body: Mapping[str, JSON], *, chosen: bool) -> tuple[Any, str]:
    """Starts the rerun. Unless the caller has `chosen` where: from what failed if the run failed, else from the start. Returns
    the answer, and where the rerun begins, as text."""
    if not chosen:
        try:
            return gateway.ask("POST", "runs", run_id, "rerun", body={**body, "from": _FAILED}), ", from what failed"
        except InvalidRequest as error:
            if error.code not in ("nothing_failed", "run_not_ended"):
                raise
    begun = body.get("from")
    said = "" if begun is None else ", from what failed" if begun == _FAILED else f", from {begun}"
    return gateway.ask("POST", "runs", run_id, "rerun", body=dict(body)), said


def cancel(arguments: argparse.Namespace) -> int:
    body = {"by": me(), "reason": arguments.reason}
    if is_bulk(arguments):
        return change_many(arguments, "cancel", _requesting("cancel", "cancel requested", body))
    with opened(arguments) as gateway:
        done = gateway.ask("POST", "runs", arguments.run, "cancel", body=body)
        line = f"{arguments.run}  cancel requested"
        return follow_up(gateway, arguments, arguments.run, line, done, expected="cancelled")


def hold(arguments: argparse.Namespace) -> int:
    return _hold(arguments, "hold", "held: nothing new starts until it is released", {"by": me(), "reason": arguments.reason})


def release(arguments: argparse.Namespace) -> int:
    return _hold(arguments, "release", "released: it continues", {"by": me()})


def _requesting(verb: str, text: str, body: Mapping[str, JSON]) -> Change:
    """A change of one of many runs: `POST /runs/{id}/{verb}`."""

    def change(gateway: Gateway, run_id: str) -> str:
        gateway.ask("POST", "runs", run_id, verb, body=dict(body))
        return text

    return change


def _hold(arguments: argparse.Namespace, verb: str, text: str, body: Mapping[str, JSON]) -> int:
    if is_bulk(arguments):
        return change_many(arguments, verb, _requesting(verb, text, body))
    with opened(arguments) as gateway:
        done = gateway.ask("POST", "runs", arguments.run, verb, body=dict(body))
        _print_change(gateway, arguments, f"{arguments.run}  {text}", done)
    return 0


def me() -> str:
    return os.environ.get("USER") or "command line"


# -- after the change -------------------------------------------------------------------------------------------------


def follow_up(
    gateway: Gateway, arguments: argparse.Namespace, run_id: str, line: str, done: Mapping[str, Any], *,
    expected: str = _COMPLETED,
) -> int:  # fmt: skip
    """Prints the change, then watches the run with --wait or runs it here with --go. Returns 1 if it did not end as
    `expected`."""
    if arguments.go:
        return _go(gateway, arguments, run_id, line, expected)
    if not arguments.wait:
        _print_change(gateway, arguments, line, done)
        return 0
    if gateway.file and not gateway.holder:
        raise InvalidRequest(
            f"no process serves {gateway.where}, so --wait would never return", code="nobody_serves", place=run_id,
            mend=f"the run is stored; start `stepless dev --db {gateway.where}` to run it, or use --go instead of --wait",
        )  # fmt: skip
    if not arguments.json:
        print(line, flush=True)
    progress = following.watch(gateway, gateway.ask("GET", "runs", run_id), silently=arguments.json)
    if arguments.json:
        run = gateway.ask("GET", "runs", run_id)
        put_json(run)
    else:
        run = runs.outcome(gateway, run_id, progress)
    return 0 if run["status"] == expected else 1


def _print_change(gateway: Gateway, arguments: argparse.Namespace, line: str, done: Mapping[str, Any]) -> None:
    if arguments.json:
        put_json(done)
        return
    print(line)
    if gateway.holder:
        print(f"{gateway.holder[:1].upper()}{gateway.holder[1:]} serves {gateway.where} and applies the change.")
    elif gateway.file:
        here = ", or add --go to run it here" if hasattr(arguments, "go") else ""
        print(f"No process serves {gateway.where} now. Start `stepless dev --db {gateway.where}` to apply the change{here}.")


def _go(gateway: Gateway, arguments: argparse.Namespace, run_id: str, line: str, expected: str) -> int:
    """Runs the run in this process, as `stepless run --continue` does."""
    if not gateway.file:
        mend = "use --wait: the server has a runner"
        raise InvalidRequest("--go works only over a file", code="usage", place=run_id, mend=mend)
    if gateway.holder:
        message = f"{gateway.holder} already serves the file and runs the run"
        raise Conflict(message, code="file_held", place=run_id, mend="use --wait instead of --go")
    from stepless.cli.verbs.files.run import continue_run

    if not arguments.json:
        print(line, flush=True)
    return continue_run(gateway.file, run_id, modules=arguments.modules, as_json=arguments.json, expected=expected)


# -- answering --------------------------------------------------------------------------------------------------------


def resume(arguments: argparse.Namespace) -> int:
    answer = None if arguments.answer is None else read_inputs(arguments.answer, "--answer")
    if is_bulk(arguments):
        return _resume_many(arguments, answer)
    with opened(arguments) as gateway:
        run = gateway.ask("GET", "runs", arguments.run)
        waiting = _chosen(run, arguments.pause)
        given = _decided(gateway, waiting, arguments, answer)
        name = f"{arguments.run}  {waiting['pause']}: {given['decision']}"
        return follow_up(gateway, arguments, arguments.run, name, {"run_id": arguments.run, "pause": waiting["pause"], **given})


def _resume_many(arguments: argparse.Namespace, answer: JSON) -> int:
    if arguments.exit is None:
        mend = "give --exit, and --answer if the question has fields"
        raise InvalidRequest("the answer to many questions has no exit", code="usage", mend=mend)

    def change(gateway: Gateway, run_id: str) -> str:
        pause = _chosen(gateway.ask("GET", "runs", run_id), arguments.pause)
        given = _decided(gateway, pause, arguments, answer)
        return f"{pause['pause']}: {given['decision']}"

    return change_many(arguments, "resume", change)


def _chosen(run: Mapping[str, Any], name: str | None) -> Mapping[str, Any]:
    """The pause to answer: the one named, or the only one. Raises if there is none, or if it cannot be answered."""
    pauses: Sequence[Mapping[str, Any]] = run["pauses"]
    named = [pause for pause in pauses if name in (pause["pause"], pause["node"])] if name is not None else []
    exact = [pause for pause in named if pause["pause"] == name] or named
    asked = exact if name is not None else [pause for pause in pauses if pause["resume_at"] is None]
    if len(asked) == 1:
        return _answerable(run, asked[0])
    names = ", ".join(pause["pause"] for pause in (asked or pauses))
    if len(asked) > 1:
        message = "the run waits for several answers"
        raise InvalidRequest(message, code="unknown_pause", place=run["id"], mend=f"name one of {names}")
    message = f"the run does not wait at {name}" if name is not None else "the run does not wait for an answer"
    mend = f"it waits at {names}" if names else f"its status is {run['status']}"
    raise InvalidRequest(message, code="unknown_pause", place=run["id"], mend=mend)


def _answerable(run: Mapping[str, Any], pause: Mapping[str, Any]) -> Mapping[str, Any]:
    place = f"{run['id']} {pause['pause']}"
    if pause["reason"] == "subrun":
        child = pause["details"].get("run")
        mend = f"see what the child run waits for: `stepless runs show {child}`"
        raise InvalidRequest(f"this pause waits for the child run {child}", code="unknown_pause", place=place, mend=mend)
    if pause["resume_at"] is not None:
        raise InvalidRequest("this pause waits for a time, not for an answer", code="unknown_pause", place=place)
    if pause["resume"] is None:
        message, mend = "this API key may not answer questions", "use a key with the role approve"
        raise InvalidRequest(message, code="role_missing", place=place, mend=mend, status=403)
    return pause


def _decided(gateway: Gateway, pause: Mapping[str, Any], arguments: argparse.Namespace, answer: JSON) -> Mapping[str, Any]:
    """Answers the pause, with the options of the command or at the prompt."""
    exits = [exit for exit in pause["exits"] if exit != "timeout"]
    prompt = _prompt() if arguments.exit is None and (len(exits) != 1 or answer is None) and arguments.answer != "-" else None
    if prompt is None and arguments.exit is None and len(exits) != 1:
        mend = f"give --exit with one of {', '.join(exits)}"
        raise InvalidRequest("the answer has no exit", code="usage", place=pause["pause"], mend=mend)
    while True:
        exit = arguments.exit
        if prompt is not None:
            exit, typed = asyncio.run(_asked(prompt, pause))
            answer = typed if answer is None else answer
        body = {"decision": exit, "answer": answer, "by": arguments.by or me()}
        try:
            token = pause["resume"].rpartition("/")[2]
            given: Mapping[str, Any] = gateway.ask("POST", "resume", token, body=body)
            return given
        except SteplessError as error:
            if prompt is None or error.code != "answer_invalid" or arguments.answer is not None:
                raise
            sys.stderr.write(f"{error.message}\n")


def _prompt() -> Prompt | None:
    """A prompt, if standard input and standard error are terminals."""
    try:
        if sys.stdin.isatty() and sys.stderr.isatty():
            return Prompt(Answers(sys.stdin.fileno()), lambda text: sys.stderr.write(text) and sys.stderr.flush())
    except (UnsupportedOperation, ValueError, AttributeError):
        return None
    return None


async def _asked(prompt: Prompt, pause: Mapping[str, Any]) -> tuple[str, JSON]:
    deadline_ms = instant_ms(pause["deadline"]) if pause["deadline"] else None
    question = OpenPause(
        pause["pause"], pause["node"], pause["reason"], tuple(pause["exits"]), pause["details"], instant_ms(pause["since"]),
        deadline_ms, None, None,
    )  # fmt: skip
    try:
        return await prompt.ask(question)
    except NoMoreAnswers:
        message = "the input ended without an answer"
        raise InvalidRequest(message, code="usage", place=pause["pause"], mend="give --exit and --answer") from None
