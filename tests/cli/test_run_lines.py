"""The lines of `stepless dev` about runs: what they say, and how many are printed at once."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, Literal, cast

import pytest
from pydantic import BaseModel

from stepless.cli.dev.folder import Served
from stepless.cli.dev.run_lines import RunLines, announcement
from stepless.core.state import RunStatus, State
from stepless.errors import StoreUnavailable
from stepless.limits import MAX_EXPLAINED_RUNS, MAX_PRINTED_RUN_LINES
from stepless.ports import RunHead
from stepless.runtime.service import Service

HEAD = RunHead("run_1", "orders", "hash", "created", 0, 0, b"{}")


def state(status: RunStatus) -> State:
    return cast("State", SimpleNamespace(status=status, ended=True, started_ms=1_000, ended_ms=1_250))


class Overviews:
    """Counts how often the log of a failed run is read."""

    def __init__(self) -> None:
        self.asked = 0
        self.trouble: Exception | None = None

    def overview(self, run_id: str) -> Any:
        self.asked += 1
        if self.trouble is not None:
            raise self.trouble
        return SimpleNamespace(error={"node": "pay", "message": "no money", "code": "node_failed"}, exception=None)


def scene(act: Callable[[RunLines], Awaitable[None]], overviews: Overviews | None = None) -> None:
    async def inside() -> None:
        await act(RunLines(cast("Service", overviews or Overviews()), "http://here"))

    asyncio.run(inside())


def test_the_first_line_is_printed_at_once_and_the_next_ones_together(capsys: pytest.CaptureFixture[str]) -> None:
    async def act(lines: RunLines) -> None:
        lines.opened(HEAD)
        await asyncio.sleep(0)
        assert capsys.readouterr().out == "orders started: http://here/runs/run_1/view\n"
        lines.left(HEAD, state(RunStatus.COMPLETED))
        lines.opened(head("run_2"))
        await asyncio.sleep(0)
        assert capsys.readouterr().out == ""
        lines.flush()
        ended, started = capsys.readouterr().out.splitlines()
        assert ended.startswith("orders completed in ") and ended.endswith(": run_1") and "run_2" in started

    scene(act)


def head(run_id: str) -> RunHead:
    return HEAD._replace(run_id=run_id)


def test_a_failure_is_printed_with_its_cause(capsys: pytest.CaptureFixture[str]) -> None:
    async def act(lines: RunLines) -> None:
        lines.opened(HEAD)
        lines.left(HEAD, state(RunStatus.FAILED))
        lines.flush()
        assert ", pay: no money [node_failed]: run_1" in capsys.readouterr().out

    scene(act)


def test_a_failure_whose_log_cannot_be_read_is_printed_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    overviews = Overviews()
    overviews.trouble = StoreUnavailable("not now")

    async def act(lines: RunLines) -> None:
        lines.opened(HEAD)
        lines.left(HEAD, state(RunStatus.TIMED_OUT))
        lines.flush()
        assert capsys.readouterr().out.splitlines()[1].startswith("orders timed out in ")

    scene(act, overviews)


def test_a_storm_of_runs_prints_and_reads_a_bounded_number(capsys: pytest.CaptureFixture[str]) -> None:
    overviews = Overviews()

    async def act(lines: RunLines) -> None:
        for number in range(1_000):
            lines.opened(head(f"run_{number}"))
            lines.left(head(f"run_{number}"), state(RunStatus.FAILED))
        lines.flush()

    scene(act, overviews)
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == MAX_PRINTED_RUN_LINES + 1 and overviews.asked == MAX_EXPLAINED_RUNS
    assert printed[-1] == f"… and {2_000 - MAX_PRINTED_RUN_LINES:,} more lines about runs: stepless runs list"


def test_a_run_that_was_over_before_is_not_announced(capsys: pytest.CaptureFixture[str]) -> None:
    async def act(lines: RunLines) -> None:
        lines.opened(HEAD._replace(status="completed"))
        lines.left(HEAD, state(RunStatus.COMPLETED))
        lines.flush()
        assert capsys.readouterr().out == ""

    scene(act)


class Item(BaseModel):
    sku: str
    count: int


class Order(BaseModel):
    id: str
    amount: float
    first: Item
    rest: list[Item]
    express: bool
    way: Literal["post", "courier"]
    note: str = "it's late"


SELF = {"$ref": "#/$defs/Self"}
ENDLESS = {**SELF, "$defs": {"Self": {"type": "object", "required": ["next"], "properties": {"next": SELF}}}}


def body_to_start(served: Served) -> Any:
    said = announcement(
        "http://127.0.0.1:8000", "k", [served], [], folder=".", db=".stepless/dev.db", adopted=0, open_to_all=False,
        schedules=lambda _: [], code="c",
    )  # fmt: skip
    command = said[said.index("  curl ") :].partition("\n\n")[0].replace("\\\n", " ")
    return json.loads(shlex.split(command)[-1])


def test_the_command_that_starts_a_run_sends_inputs_that_it_takes() -> None:
    sent = body_to_start(Served("order.py", "order", 1, [], Order.model_json_schema()))
    assert Order.model_validate(sent["inputs"], strict=True).way == "post"
    hook = {"path": "/o", "schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}}
    assert body_to_start(Served("order.yaml", "order", 1, [hook])) == {"inputs": {"body": {"id": "A-1"}}}
    assert body_to_start(Served("order.yaml", "order", 1, [])) == {"inputs": {}}
    assert "next" in body_to_start(Served("order.yaml", "order", 1, [], ENDLESS))["inputs"]
