"""Executes one run in this process, from start to end: for scripts, tests and the command line."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import TypeAlias, TypedDict, Unpack

from stepless.compile import parse
from stepless.core.history.tags import Tag
from stepless.core.history.trace import NodeRecord
from stepless.errors import Conflict, InvalidRequest
from stepless.limits import FOLLOW_MS, MAX_CALL_DEPTH, MAX_DOCUMENT_BYTES
from stepless.model.json import JSON
from stepless.ports import SHARD, Models
from stepless.runtime.header_notes import notes_in
from stepless.runtime.verbs.reads.inspecting import OpenPause
from stepless.runtime.wiring.local import Local, local

Envelope: TypeAlias = Mapping[str, JSON]
Answer: TypeAlias = tuple[str, JSON]  # the exit to leave by, and the answer's fields
Approve: TypeAlias = bool | Callable[[OpenPause], Answer | None]


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    `status` is completed, failed, cancelled, timed_out, or paused when the run waits for an answer that was not given. `nodes`
    maps instance id to its record, and `events` is the whole log as envelopes in order. `error` is the root cause of a failed
    run, and `exception` what author code raised: {type, message, file, line, function, traceback}. `tags` has one row per
    transition of an instance, in order.
    """

    run_id: str
    status: str
    outputs: JSON
    nodes: Mapping[str, NodeRecord] = field(repr=False)
    events: Sequence[Envelope] = field(repr=False)
    error: Mapping[str, JSON] | None = None
    variables: Mapping[str, JSON] = field(default_factory=dict, repr=False)
    exception: Mapping[str, JSON] | None = field(default=None, repr=False)
    tags: Sequence[Tag] = field(default=(), repr=False)


class RunOptions(TypedDict, total=False):
    """The options of `arun`, for functions that pass them on."""

    entry: str | Sequence[str] | None
    db: str | os.PathLike[str] | None
    approve: Approve | None
    models: Models | None


def run(
    document: str | os.PathLike[str] | Mapping[str, JSON], inputs: JSON = None, **options: Unpack[RunOptions]
) -> RunResult:
    """Publishes a document (a file, or its content) and runs it to its end. Blocks until then, timers included.

    `entry` chooses among the entries, or names any other node to begin at. Without `db` the run exists only in memory; with it
    the run is stored in that SQLite file, or in the store of that URL. `approve` answers the questions that the run asks: True
    approves and False rejects each, without filling in fields; a callable receives the `OpenPause` and returns (exit, fields),
    or None to leave it open. A run that waits only for unanswered questions returns as `paused`. `models` replaces the models
    that the environment configures.

    Raises `DocumentRefused` with every finding, `Conflict` when another process serves the file, `InvalidRequest` for an entry
    that does not exist and for an answer that its question refuses. A failed run raises nothing. From async code call `arun`.
    """
    return asyncio.run(arun(document, inputs, **options))


async def arun(
    document: str | os.PathLike[str] | Mapping[str, JSON],
    inputs: JSON = None,
    *,
    entry: str | Sequence[str] | None = None,
    db: str | os.PathLike[str] | None = None,
    approve: Approve | None = None,
    models: Models | None = None,
) -> RunResult:
    """Runs like `run`, in the caller's event loop."""
    content = document if isinstance(document, Mapping) else parse(read_document(document))
    folder = "." if isinstance(document, Mapping) else Path(document).parent
    built = local(db, models=models, folder=folder)
    try:
        workflow_id = built.service.publish(content).version.workflow_id
        entries = [entry] if isinstance(entry, str) else entry
        run_id = built.service.start(workflow_id, inputs, entry=entries, anywhere=True).run_id
        async with serving(built, run_id) as server:
            events = await _attend(built, run_id, server, approve)
        view = built.service.run(run_id)
        return RunResult(
            run_id, view.status, view.outputs, view.nodes, events, view.error, view.variables, view.exception, view.tags,
        )  # fmt: skip
    finally:
        built.close()


run.__signature__ = signature(arun)  # type: ignore[attr-defined]  # `help` shows the options by name


def read_document(path: str | os.PathLike[str]) -> bytes:
    """Returns a file's bytes. Raises `InvalidRequest` when the file cannot be read or exceeds MAX_DOCUMENT_BYTES."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_DOCUMENT_BYTES + 1)
    except OSError as error:
        message = f"it cannot be read: {error.strerror or error}"
        raise InvalidRequest(message, code="file_not_read", place=os.fspath(path), mend="check the path") from error
    if len(data) > MAX_DOCUMENT_BYTES:
        message = f"it has more than {MAX_DOCUMENT_BYTES:,} bytes"
        raise InvalidRequest(message, code="file_too_large", place=os.fspath(path), mend="split it", status=413)
    return data


async def _attend(built: Local, run_id: str, server: asyncio.Task[None], approve: Approve | None) -> list[Envelope]:
    events: list[Envelope] = []
    asking = Asking(built, run_id)
    async with aclosing(follow(built, run_id, server)) as pages:
        async for page in pages:
            events += page
            asked = asking.new(page)
            answered = [_answer(built, question, approve) for question in asked]
            if any(answered):
                asking.answered()
            elif asking.stuck:
                break
    return events


def _answer(built: Local, question: Question, approve: Approve | None) -> bool:
    """Whether the question was answered."""
    if approve is None:
        return False
    answer = approve(question.pause) if callable(approve) else plain_answer(question.pause, approve)
    if answer is None:
        return False
    return give_answer(built, question, answer)


def plain_answer(pause: OpenPause, approve: bool) -> Answer | None:
    """Returns the answer yes or no, without fields. A callback has no exit for no, so no leaves it open."""
    exit = "approved" if approve else "rejected"
    if exit in pause.exits:
        return exit, {}
    return (pause.exits[0], {}) if approve and pause.exits else None


def give_answer(built: Local, question: Question, answer: Answer, by: str | None = None) -> bool:
    """Decides a pause. An earlier answer keeps its effect. Raises `InvalidRequest` when the answer is invalid; the pause then
    stays open."""
    try:
        built.service.answer_pause(question.run_id, question.pause.pause, answer[0], answer[1], by)
    except Conflict as error:
        if error.code != "already_decided":
            raise
    return True


# -- watching ---------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def serving(built: Local, run_id: str | None = None) -> AsyncIterator[asyncio.Task[None]]:
    """Serves runs (this one and its children, or all) inside the block, and drains the attempts in progress at its end. Yields
    the serving task, which ends early only when it fails."""
    if run_id is not None:
        built.host.serves = _family(built, run_id)
    server = asyncio.get_running_loop().create_task(built.host.serve())
    try:
        yield server
    finally:
        await built.host.stop()
        await server


async def follow(
    built: Local, run_id: str, server: asyncio.Task[None], after: int = 0
) -> AsyncGenerator[Sequence[Envelope], None]:
    """Yields a run's events above `after` as they are committed, in order; an empty page at intervals when there are none. Ends
    after the run's terminal event. Raises the exception that stopped the server."""
    stirred = asyncio.Event()
    built.host.on_ending = lambda ended: stirred.set()
    while True:
        stirred.clear()
        page = built.service.events(run_id, after=after)
        after = page.cursor
        yield page.events
        if page.ended:
            return
        if server.done():
            server.result()
        if (fault := built.host.faults.get(run_id)) is not None:
            raise fault
        if not page.events:
            await _stir(stirred)


def _family(built: Local, run_id: str) -> Callable[[str], bool]:
    """Whether a run is this one or was called by it, directly or not."""
    members = {run_id}

    def belongs(other: str) -> bool:
        line: list[str] = []
        while other not in members:
            head = built.world.store.get_run(other)
            parent = notes_in(head).get("parent") if head is not None else None
            if parent is None or len(line) > MAX_CALL_DEPTH:
                return False
            line.append(other)
            other = parent["run"]
        members.update(line)
        return True

    return belongs


async def _stir(stirred: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(FOLLOW_MS / 1000):
            await stirred.wait()
    except TimeoutError:
        return


@dataclass(frozen=True, slots=True)
class Question:
    """A pause that a person may answer, with its run: this run, or a child of it."""

    run_id: str
    pause: OpenPause


@dataclass(slots=True)
class Asking:
    """The questions that a run and its children ask people, each reported once. `stuck` says that only an answer can continue
    the run."""

    built: Local
    run_id: str
    stuck: bool = False
    _reported: set[tuple[str, str]] = field(default_factory=set)
    _changed: bool = True

    def new(self, page: Sequence[Envelope]) -> list[Question]:
        """Returns the questions in this page of events, and the open ones of a run that became idle."""
        self._changed = self._changed or bool(page)
        rests = not page and self._changed and self._rests()
        self.stuck = False
        if not rests and not any(_asks(envelope) for envelope in page):
            return []
        self._changed = not rests
        asked, self.stuck = open_questions(self.built, self.run_id)
        self.stuck = self.stuck and rests
        new = [question for question in asked if (question.run_id, question.pause.pause) not in self._reported]
        self._reported.update((question.run_id, question.pause.pause) for question in new)
        return new

    def answered(self) -> None:
        """Notes that an answer was given: until its events arrive, the run is not idle although it appears so."""
        self._changed = False

    def _rests(self) -> bool:
        head = self.built.world.store.get_run(self.run_id)
        return head is not None and head.status == "paused" and self.run_id not in self.built.runner.sessions


def _asks(envelope: Envelope) -> bool:
    return envelope["type"] == "node.waiting" and envelope["payload"].get("resume_at") is None


def open_questions(built: Local, run_id: str) -> tuple[list[Question], bool]:
    """Returns the questions that a run and its children ask people, and whether no timer will continue them. (The deadline of a
    question does not count.)"""
    asked: list[Question] = []
    stuck, runs = True, [run_id]
    while runs:
        view = built.service.run(run := runs.pop())
        stuck = stuck and view.status == "paused" and not any(map(_backs_off, view.nodes.values()))
        for pause in view.pauses:
            if pause.reason == "subrun" and str(pause.details["run"]).startswith(SHARD):
                stuck = False  # its items go on without an answer
            elif pause.reason == "subrun":
                runs.append(str(pause.details["run"]))
            elif pause.resume_at_ms is not None:
                stuck = False
            else:
                asked.append(Question(run, pause))
    return asked, stuck


def _backs_off(record: NodeRecord) -> bool:
    return record.status == "waiting" and (record.waiting or {}).get("resume_at") is not None
