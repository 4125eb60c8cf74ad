"""Implements `run`: runs one workflow in the terminal, from its start (or from where it stopped) to its end."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from functools import partial
from io import UnsupportedOperation
from pathlib import Path
from typing import Any

from stepless.cli.reach.files import Refused, Source, load_functions, read_inputs
from stepless.cli.reach.flows import matched_with, one_source, print_source, read_sources, refusal_of, sources_in
from stepless.cli.terminal.exceptions import Raised, failure_lines
from stepless.cli.terminal.live import PlainLines, Silence, Tree, Watcher, can_move
from stepless.cli.terminal.progress import Progress, duration
from stepless.cli.terminal.questions import Answers, NoMoreAnswers, Prompt
from stepless.cli.terminal.timeline import ASCII, glyphs_for, timeline
from stepless.compile import check_document
from stepless.errors import ConfigError, DocumentRefused, InvalidRequest, SteplessError
from stepless.limits import LOCAL_BUDGET_MS
from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.nodes import KINDS
from stepless.nodes.function import names, register_waiting, signatures
from stepless.runtime.inbox import RESUME
from stepless.runtime.verbs.reads.inspecting import RunView, graph_of
from stepless.runtime.wiring.local import Local, local
from stepless.runtime.wiring.single_run import Asking, Question, follow, give_answer, open_questions, plain_answer, serving
from stepless.runtime.wiring.stores import shown

DONE, FAILED, INTERRUPTED = 0, 1, 130
MAX_WIDTH = 100


def run(arguments: argparse.Namespace) -> int:
    if bool(arguments.file) == bool(arguments.run_id):
        message = "give a workflow to run, or --continue with a run of --db"
        raise InvalidRequest(message, code="usage", mend="see `stepless run --help`")
    if arguments.run_id and not arguments.db:
        raise InvalidRequest("--continue needs the file that stores the run", code="usage", mend="add --db FILE")
    inputs = read_inputs(arguments.inputs)
    begin = _begin if arguments.file else _found
    if arguments.file:
        arguments.source = one_source(arguments.file, arguments.modules, _not_known_yet)
        load_functions(Path(arguments.source.file).parent, arguments.modules)
    folder = Path(arguments.source.file).parent if arguments.file else "."
    built = local(arguments.db, budget_ms=arguments.budget_ms or LOCAL_BUDGET_MS, folder=folder)
    try:
        run_id = begin(built, arguments, inputs)
        return asyncio.run(_attended(built, run_id, arguments))
    finally:
        built.close()


def _begin(built: Local, arguments: argparse.Namespace, inputs: JSON) -> str:
    """Publishes the file and starts a run of it. The run stores where its functions are."""
    source = matched_with(arguments.source, partial(_newest, built))
    try:
        published = built.service.publish(source.document, functions=signatures(), graph=source.graph)
    except DocumentRefused as error:
        raise (refusal_of(source, error.findings) if source.is_flow else Refused(error, source.file, source.text)) from error
    if source.is_flow and not arguments.json:
        print_source(source, ())
    if "workflow" in published.graph.kinds:
        _publish_others(built, source)
    meta = {"trigger": {"kind": "cli"}, "source": os.path.abspath(source.file), "modules": arguments.modules}
    started = built.service.start(published.version.workflow_id, inputs, entry=arguments.entry, anywhere=True, meta=meta)
    return started.run_id


def _not_known_yet(workflow_id: str) -> None:
    """The newest version before --db is open: the file is compiled before that, so that a refused one makes no database."""


def _newest(built: Local, workflow_id: str) -> Mapping[str, JSON] | None:
    """The document of the newest version in --db; None if there is no version."""
    newest = built.world.store.newest_version(workflow_id)
    return None if newest is None else built.world.versions.document(workflow_id, newest.hash)


def _publish_others(built: Local, source: Source) -> None:
    """Publishes the other workflows of the file and of its folder, which this one may call. A refused one is reported and does
    not stop the run."""
    for path in sources_in(Path(source.file).parent):
        try:
            for other in read_sources(str(path), former=partial(_newest, built)):
                if other.document["id"] != source.document["id"]:
                    built.service.publish(other.document, functions=signatures(), graph=other.graph)
        except SteplessError as error:
            sys.stderr.write(f"{path}: not published [{error.code}]. Run `stepless validate {path}` to see why.\n")


def _found(built: Local, arguments: argparse.Namespace, inputs: JSON) -> str:
    """Finds an unfinished run and loads its functions again. Raises `NotFound`."""
    run_id: str = arguments.run_id
    head = built.service.run(run_id).head
    meta: Mapping[str, Any] = json.loads(head.meta)
    source = meta.get("source")
    if source is not None:
        built.files.folder = os.path.dirname(source)
    load_functions(Path(source).parent if source else None, arguments.modules or meta.get("modules"))
    document = built.world.versions.document(head.workflow_id, head.version)
    if source is None and _unknown_functions(document):  # not started by `stepless run`
        load_functions(Path.cwd(), None)
    if unknown := _unknown_functions(document):
        mend = "name the module that registers it with --modules"
        raise ConfigError(unknown[0].message, code="module_not_loaded", place=run_id, mend=mend)
    return run_id


def _unknown_functions(document: Mapping[str, JSON]) -> Sequence[Finding]:
    """The calls of functions that are not registered, after what flows lift is registered if there are any."""
    for registering in (False, True):
        if registering:
            register_waiting()
        findings = check_document(document, KINDS, functions=names())
        unknown = [finding for finding in findings if finding.code == "unknown_callable"]
        if not unknown:
            break
    return unknown


def continue_run(db: str, run_id: str, *, modules: str | None, as_json: bool, expected: str) -> int:
    """Continues a run of a file in this process, until it ends or waits for an answer. Returns 0 if it ended as `expected`. Shows
    no prompt if `expected` is another end than completion."""
    settings = {"approve": None, "inputs": None, "budget_ms": None, "expected": expected}
    return run(argparse.Namespace(file=None, run_id=run_id, db=db, modules=modules, json=as_json, **settings))


# -- attending --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Attendant:
    """Shows a run and answers its questions."""

    built: Local
    run_id: str
    progress: Progress
    watcher: Watcher
    approve: str | None
    prompt: Prompt | None

    async def attend(self, server: asyncio.Task[None]) -> None:
        """Returns when the run has ended, or when only unanswered questions are left."""
        asking = Asking(self.built, self.run_id)
        async with aclosing(follow(self.built, self.run_id, server)) as pages:
            async for page in pages:
                self.progress.add(page)
                self.watcher.show(page)
                answered = [await self._ask(question) for question in asking.new(page)]
                if any(answered):
                    asking.answered()
                elif asking.stuck:
                    return

    async def _ask(self, question: Question) -> bool:
        """Answers a question if it can; returns whether it is answered, now or earlier."""
        if self.built.world.store.get_signal(question.run_id, RESUME, question.pause.pause) is not None:
            return True
        if self.approve is not None:
            answer = plain_answer(question.pause, self.approve == "yes")
            return answer is not None and give_answer(self.built, question, answer, _me())
        while self.prompt is not None:
            self.watcher.yield_terminal()
            try:
                return give_answer(self.built, question, await self.prompt.ask(question.pause), _me())
            except NoMoreAnswers:
                self.prompt.write("\n")
                self.prompt = None
            except InvalidRequest as error:
                self.prompt.write(f"{error}\n")
        return False


def _me() -> str:
    return os.environ.get("USER") or "command line"


async def _attended(built: Local, run_id: str, arguments: argparse.Namespace) -> int:
    head = built.service.run(run_id).head
    graph = graph_of(built.world, head)
    progress = Progress(graph)
    watcher = _watcher(progress, f"{graph.name or graph.workflow_id}  {run_id}", built, arguments)
    attendant = _Attendant(built, run_id, progress, watcher, arguments.approve, _prompt(arguments))
    interrupted = False
    with _signals() as stop:
        async with serving(built, run_id) as server:
            attending = asyncio.create_task(attendant.attend(server))
            stopping = asyncio.create_task(stop.wait())
            try:
                await asyncio.wait({attending, stopping}, return_when=asyncio.FIRST_COMPLETED)
                interrupted = not attending.done()
            finally:
                stopping.cancel()
                attending.cancel()
                await asyncio.wait({attending})
                watcher.close()
            if interrupted:
                sys.stderr.write("\nStopping after the running nodes end. Press Ctrl-C again to stop at once.\n")
        if not interrupted:
            attending.result()
    while page := built.service.events(run_id, after=progress.sequence).events:  # what happened while it drained
        progress.add(page)
    view = built.service.run(run_id)
    asked = [question.pause.pause for question in open_questions(built, run_id)[0]]
    return _report(view, asked, progress, arguments, interrupted)


@contextmanager
def _signals() -> Any:
    """An event that the first Ctrl-C (or SIGTERM) sets; the second one has its default effect."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)

    def first() -> None:
        stop.set()
        for number in numbers:
            loop.remove_signal_handler(number)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    for number in numbers:
        loop.add_signal_handler(number, first)
    try:
        yield stop
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def _watcher(progress: Progress, title: str, built: Local, arguments: argparse.Namespace) -> Watcher:
    if arguments.json:
        return Silence()
    if not can_move():
        return PlainLines(progress)
    from rich.console import Console

    return Tree(progress, title, glyphs_for(sys.stdout.encoding), built.world.clock.now_ms, Console(highlight=False))


def _prompt(arguments: argparse.Namespace) -> Prompt | None:
    """A prompt on standard input, unless the inputs were read from it."""
    if arguments.inputs == "-" or arguments.expected != "completed":
        return None
    try:
        answers = Answers(sys.stdin.fileno())
    except (UnsupportedOperation, ValueError, AttributeError):
        return None
    stream = sys.stderr if arguments.json else sys.stdout

    def write(text: str) -> None:
        stream.write(text)
        stream.flush()

    return Prompt(answers, write)


# -- the report -------------------------------------------------------------------------------------------------------


def _report(view: RunView, asked: Sequence[str], progress: Progress, arguments: argparse.Namespace, interrupted: bool) -> int:
    ended = view.ended_ms is not None
    if arguments.json:
        print(json.dumps(_summary(view, asked), ensure_ascii=False))
    else:
        _print_report(view, progress, ended)
    if not ended:
        sys.stderr.write(_how_to_continue(view, asked, arguments))
    if interrupted and not ended:
        return INTERRUPTED
    return DONE if view.status == arguments.expected else FAILED


def _print_report(view: RunView, progress: Progress, ended: bool) -> None:
    width = min(MAX_WIDTH, shutil.get_terminal_size((80, 24)).columns)
    glyphs = glyphs_for(sys.stdout.encoding)
    print()
    for line in timeline(progress, width, glyphs):
        print(line)
    print()
    elapsed = duration((view.ended_ms or progress.now_ms) - (view.started_ms or progress.now_ms))
    took = f" {'in' if ended else 'after'} {elapsed}" if view.started_ms else ""
    failures = f", {view.failures} node{'s' if view.failures > 1 else ''} failed" if view.failures and ended else ""
    arrow = "->" if glyphs is ASCII else "→"
    print(f"{'' if ended else 'stopped: '}{view.summary}{took}{failures} {arrow} {view.head.run_id}")
    for line in failure_lines(_raised(view)):
        print(line)
    if ended and view.outputs not in (None, {}):
        print(json.dumps(view.outputs, ensure_ascii=sys.stdout.encoding.lower().replace("-", "") != "utf8", indent=2))


def _raised(view: RunView) -> list[Raised]:
    """The error of the run, then the other exceptions raised in it."""
    found = [] if view.error is None else [Raised("run", view.error, view.exception)]
    behind = view.error.get("event") if view.error is not None else None
    for record in view.nodes.values():
        if record.exception is not None and record.error is not None and record.error.get("event") != behind:
            found.append(Raised(record.instance, record.error, record.exception))
    return found


def _how_to_continue(view: RunView, asked: Sequence[str], arguments: argparse.Namespace) -> str:
    asks = f"The run waits for an answer: {', '.join(asked)}.\n" if asked else ""
    if not arguments.db:
        mend = "Answer at the prompt or with --approve, or store" if asked else "Store"
        return f"{asks}The run was only in memory and is lost. {mend} the run with --db FILE.\n"
    return f"{asks}Continue it with:\n    stepless run --db {shown(arguments.db)} --continue {view.head.run_id}\n"


def _summary(view: RunView, asked: Sequence[str]) -> dict[str, JSON]:
    took_ms = view.ended_ms - view.started_ms if view.ended_ms is not None and view.started_ms is not None else None
    return {
        "run_id": view.head.run_id,
        "workflow_id": view.head.workflow_id,
        "status": view.status,
        "outputs": view.outputs,
        "error": view.error,
        "exception": view.exception,
        "failures": view.failures,
        "duration_ms": took_ms,
        "waiting_for": list(asked),
        "nodes": {instance: _node_summary(record) for instance, record in view.nodes.items()},
    }


def _node_summary(record: Any) -> dict[str, JSON]:
    facts: dict[str, Callable[[], JSON]] = {
        "status": lambda: record.status,
        "reason": lambda: record.reason,
        "output": lambda: record.output,
        "error": lambda: record.error,
        "exception": lambda: record.exception,
        "attempts": lambda: record.attempts or None,
        "duration_ms": lambda: record.ended_ms - record.started_ms if record.ended_ms and record.started_ms else None,
    }
    return {name: value for name, read in facts.items() if (value := read()) is not None}
