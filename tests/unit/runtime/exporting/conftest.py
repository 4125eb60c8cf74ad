"""A system outside that receives events, and can be made to fail, to hang and to accept in part."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from stepless.core.events import Event
from stepless.model.graph import Graph
from stepless.runtime.exporting.exporter import ExportedRun
from stepless.runtime.exporting.relay import Relay


class Receiver:
    """Records what arrives. `fails` is how many further calls fail; `most` how many events one call confirms."""

    at_once = 100

    def __init__(self, name: str = "rec") -> None:
        self.name = name
        self.received: list[int] = []
        self.types: list[str] = []
        self.calls = 0
        self.fails = 0
        self.most = 100
        self.hangs = False
        self.opened_at: list[int] = []
        self.wants: Callable[[Event], bool] = lambda event: True

    def concerns(self, graph: Graph) -> bool:
        return True

    def selects(self, event: Event) -> bool:
        return self.wants(event)

    def opened(self, run: ExportedRun) -> None:
        self.opened_at.append(run.state.sequence)

    async def export(self, run: ExportedRun, events: Sequence[Event]) -> int:
        self.calls += 1
        if self.hangs:
            await asyncio.Event().wait()
        if self.fails:
            self.fails -= 1
            raise ConnectionError("refused")
        some = events[: self.most]
        self.received += [event.sequence for event in some]
        self.types += [event.type.value for event in some]
        return some[-1].sequence if some else 0


class Reports:
    """A meter that keeps what it receives."""

    def __init__(self) -> None:
        self.counted: list[str] = []
        self.reports: list[tuple[str, dict[str, Any]]] = []

    def count(self, name: str, number: int = 1) -> None:
        self.counted += [name] * number

    def took(self, name: str, duration_ms: float) -> None:
        return

    def report(self, what: str, facts: Any) -> None:
        self.reports.append((what, dict(facts)))


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def reports() -> Reports:
    return Reports()


@pytest.fixture
def exporting(make_machine: Callable[[], Any], reports: Reports) -> Callable[..., Any]:
    """`exporting(*exporters)`: a machine whose processes export to them. `machine.restart()` is another process."""

    def made(*exporters: Any, store: Any = None) -> Any:
        machine = make_machine(store) if store is not None else make_machine()
        plain = machine.world

        def restart() -> None:
            relay = Relay(exporters, reports, lambda: machine.clock.now_ms() / 1000)
            machine.world = replace(plain, relay=relay)
            machine.runner = machine.process()

        machine.restart = restart
        restart()
        return machine

    return made
