"""Kills the process at every commit of a run, before and after it is durable; another process continues from what was stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import closing, nullcontext, suppress
from dataclasses import replace
from typing import Any

from comparing import PATIENCE_S, Outcome, Program, differ, outcome_of, plainly
from program_steps import LOG
from programs import inputs

from stepless.adapters.memory.run_database import MemoryRunDatabase
from stepless.ports import Batch, OpenStore
from stepless.runtime.wiring.local import Local, local
from stepless.runtime.wiring.single_run import _attend


class Killed(SystemExit):
    """The process ends here. A SystemExit, because it passes through an event loop instead of ending a task."""


class Connection:
    """The store as one process reaches it: the process dies at its commit number `dies_at`, before or after that is
    durable, and reaches nothing afterwards."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._dead = False
        self.arm(None, False)

    def arm(self, dies_at: int | None, after: bool) -> None:
        """Counts commits from here."""
        self._dies_at = dies_at
        self._after = after
        self.commits = 0

    def __getattr__(self, name: str) -> Any:
        reached = getattr(self._store, name)

        def call(*arguments: Any, **named: Any) -> Any:
            if self._dead:
                raise Killed
            return reached(*arguments, **named)

        return call

    def append(self, run_id: str, batch: Batch) -> None:
        if self._dead:
            raise Killed
        self.commits += 1
        if self.commits != self._dies_at:
            self._store.append(run_id, batch)
            return
        self._dead = True
        if self._after:
            self._store.append(run_id, batch)
        raise Killed


class Kept:
    """A place that outlives its processes."""

    def __init__(self) -> None:
        self._opened = MemoryRunDatabase().open()
        self._next = Connection(self._opened.store)

    def connect(self) -> Connection:
        """The connection of the next process."""
        self._next = Connection(self._opened.store)
        return self._next

    def hold(self, now_ms: int) -> Any:
        return nullcontext()

    def open(self) -> OpenStore:
        return replace(self._opened, store=self._next)  # type: ignore[arg-type]


class Process:
    """One process that executes the runs of a place, with an event loop of its own. What the tasks of a dead process still do
    reaches no store."""

    def __init__(self, kept: Kept) -> None:
        self.connection = kept.connect()
        self.built: Local = local(kept)
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_expected)
        self._server = self._loop.create_task(self.built.host.serve())

    def attend(self, run_id: str, approve: Any) -> bool:
        """Executes up to the end of the run, or of the process. Whether the run ended."""
        attended = _attend(self.built, run_id, self._server, approve)
        try:
            self._loop.run_until_complete(asyncio.wait_for(attended, PATIENCE_S))
        except Killed:
            self.bury()
            return False
        return True

    def bury(self) -> None:
        """Cancels what is left. Each task may come to the store once more, which stops the loop."""
        while tasks := asyncio.all_tasks(self._loop):
            for task in tasks:
                task.cancel()
            with suppress(Killed):
                self._loop.run_until_complete(asyncio.wait(tasks))
        self._loop.close()


def _expected(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Reports what asyncio has to report, but for the death itself."""
    if not isinstance(context.get("exception"), Killed):
        loop.default_exception_handler(context)


class Killing:
    """A workflow whose runs die: each process dies in one run, and its successor, which ends that run, dies in the next one."""

    def __init__(self, document: Mapping[str, Any], approve: Any = True) -> None:
        self._kept = Kept()
        self._process = Process(self._kept)
        self._workflow = self._process.built.service.publish(document).version.workflow_id
        self._approve = approve

    def run(self, given: Any, dies_at: int | None, after: bool) -> tuple[Outcome, list[Any], int]:
        """One run, whose first process dies at its commit `dies_at`, if that is not None. Returns the outcome, the effects of
        both processes, and the commits of the first."""
        LOG.clear()
        run_id = self._process.built.service.start(self._workflow, given).run_id
        first = self._process.connection
        first.arm(dies_at, after)
        if not self._process.attend(run_id, self._approve):
            self._process = Process(self._kept)
            assert self._process.attend(run_id, self._approve)
        view = self._process.built.service.run(run_id)
        return outcome_of(view.status, view.outputs, view.error), list(LOG), first.commits

    def close(self) -> None:
        self._process.bury()


def survives(program: Program, number: int = 0, every: int = 1) -> tuple[str, int]:
    """Kills a run of a program at every commit, or at each `every`th. The first difference, and how many processes died. An
    attempt whose result was not stored is made again, so an effect may show twice; what differs otherwise is a fault."""
    given = inputs(program.seed, number)
    plain, effects = plainly(program.flow, given)
    with closing(Killing(program.flow.compile().document)) as runs:
        return _each(runs, given, plain, effects, every)


def _each(runs: Killing, given: Any, plain: Outcome, effects: list[Any], every: int) -> tuple[str, int]:
    deaths = 0
    outcome, _, commits = runs.run(given, None, False)
    if found := differ(plain, outcome, [], []):
        return found, 0
    for dies_at in range(1, commits + 1, every):
        for after in (False, True):
            outcome, seen, _ = runs.run(given, dies_at, after)
            deaths += 1
            if found := differ(plain, outcome, [], []) or _others(effects, seen):
                place = f"{'after' if after else 'before'} commit {dies_at} of {commits}"
                return f"killed {place}, {json.dumps(given)}: {found}", deaths
    return "", deaths


def _others(effects: list[Any], seen: list[Any]) -> str:
    """What differs in effects, of which those around one death may have happened twice."""
    rest = [repr(one) for one in seen]
    for one in map(repr, effects):
        if one not in rest:
            return f"effects {effects} killed {seen}: {one} is missing"
        rest.remove(one)
    known = {repr(one) for one in effects}
    return next((f"effects {effects} killed {seen}: {one} is new" for one in rest if one not in known), "")
