"""docs/write/python.md lists all public names and no others; code that uses them passes a strict type checker."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT, prose

import stepless
import stepless.client
import stepless.errors
import stepless.testing

PAGE = ROOT / "docs/write/python.md"
ERRORS = {name for name, value in vars(stepless.errors).items() if getattr(value, "__module__", "") == "stepless.errors"}
PUBLIC = {
    "stepless": set(stepless.__all__), "stepless.testing": set(stepless.testing.__all__), "stepless.errors": ERRORS,
    "stepless.client": set(stepless.client.__all__),
}  # fmt: skip
USER = '''
from collections.abc import Mapping

from stepless import Container, Finding, FunctionCall, NodeRecord, Ref, RunResult, Step, Workflow, function, node, run
from stepless.client import AsyncClient, Client
from stepless.client.contract import EventOut, RunOut
from stepless.errors import DocumentRefused
from stepless.testing import Simulation, simulate


@function("pay")
def pay(amount: float, call: FunctionCall) -> dict[str, float]:
    call.log("pays")
    return {"paid": amount}


@node("later")
async def later(amount: float) -> float:
    return amount


def build() -> Workflow:
    flow = Workflow("pay", env=["KEY"], timeout="1h", on_failure="halt")
    order: Step = flow.webhook("order", path="/orders", auth={"bearer": flow.env("KEY")}, label="An order")
    amount: Ref = order.ref.body.lines[0].amount
    with flow.loop("each", after=order, items=[1, 2], on_error="continue") as each:
        each.function("pay", call=pay, args={"amount": each.item}, retry={"attempts": 2}, timeout_ms=10)
    flow.join("both", after=[order["error"], each.into("rest", merge="array")], join={"mode": "any"})
    flow.edge(order, "both", param="more")
    container: Container = each
    flow.transform("last", after=container, value=amount)
    return flow


def call(client: Client) -> str | None:
    run_id: str = client.start("pay", {"amount": 1}, key="k", keywords=["a"])["run_id"]
    run: RunOut = client.wait(run_id, until="ended")
    events: list[EventOut] = list(client.events(run_id))
    client.answer(run_id, events[0]["payload"]["pause"], "approved", {"limit": 1})
    return next(client.runs(workflow="pay", waiting="answer", limit=1))["failed_node"] or run["ended_at"]


async def call_async(client: AsyncClient) -> list[int]:
    run = await client.rerun((await client.start("pay"))["run_id"])
    return [event["sequence"] async for event in client.events(run["run_id"])]


def use(flow: Workflow) -> float:
    findings: tuple[Finding, ...] = flow.validate()
    result: RunResult = flow.run({"body": {}}, approve=lambda pause: (pause.exits[0], {}))
    records: Mapping[str, NodeRecord] = run(flow.document()).nodes
    simulation: Simulation = simulate(flow.document())
    return pay(2.0, later) if len(findings) else len(records) + len(result.events) + len(simulation.events)  # wrong, see below
'''


def tables() -> dict[str, set[str]]:
    """The names in the first column of each table below "All that is public", by the module that stands above it."""
    found: dict[str, set[str]] = {}
    module = ""
    for line in prose(PAGE).partition("## All that is public")[2].splitlines():
        if named := re.match(r"`(stepless[\w.]*)`", line):
            module = named[1]
        elif line.startswith("| `"):
            found.setdefault(module, set()).update(re.findall(r"`(\w+)`", line.split("|")[1]))
    return found


def test_the_page_lists_every_public_name_and_no_other() -> None:
    assert tables() == PUBLIC


@pytest.mark.parametrize("module", sorted(PUBLIC))
def test_every_public_name_says_what_it_is(module: str) -> None:
    there = sys.modules[module]
    assert [name for name in sorted(PUBLIC[module]) if not inspect.getdoc(getattr(there, name))] == []


def test_both_names_of_the_decorator_are_one_thing() -> None:
    assert stepless.node is stepless.function


@pytest.mark.check
def test_whoever_uses_it_is_understood_by_a_strict_type_checker(tmp_path: Path) -> None:
    """One line of the sample is wrong on purpose: a checker that sees nothing would find nothing."""
    sample = tmp_path / "sample.py"
    sample.write_text(USER)
    strictly = ["-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml")]
    checked = subprocess.run(
        [sys.executable, *strictly, str(sample)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    wrong = USER.splitlines().index(next(line for line in USER.splitlines() if "wrong, see below" in line)) + 1
    faults = [line for line in checked.stdout.splitlines() if "error:" in line]
    assert faults and all(f"sample.py:{wrong}:" in fault for fault in faults), checked.stdout + checked.stderr
