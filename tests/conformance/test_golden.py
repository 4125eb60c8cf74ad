"""Golden cases of this project, in the format of the shared ones: rules of docs/understand/semantics.md that the shared cases do
not cover."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from stepless.errors import DocumentRefused
from stepless.model.json import equal
from stepless.testing import Simulation, simulate

Case = dict[str, Any]
CASES: list[Case] = [json.loads(file.read_text("utf-8")) for file in sorted((Path(__file__).parent / "cases").glob("*.json"))]
NODE_ENDS = {f"node.{end}" for end in ("completed", "failed", "cancelled", "skipped", "timed_out", "blocked", "invalidated")}
RUN_ENDS = {"run.completed", "run.failed", "run.cancelled", "run.timed_out"}


Reload = Literal["log", "snapshot"] | None
RELOADS: tuple[Reload, ...] = (None, "log", "snapshot")


def play(case: Case, reload: Reload = None) -> Simulation:
    given = {name: case[name] for name in ("entry", "script", "signals") if name in case}
    return simulate(case["document"], case.get("inputs"), reload=reload, **given)


# -- judging ----------------------------------------------------------------------------------------------------------


def matches(expected: Any, actual: Any) -> bool:
    """Equality of JSON values, where "$any" stands for whatever is not null."""
    if expected == "$any":
        return actual is not None
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(matches(value, actual[key]) for key, value in expected.items())
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(matches, expected, actual))
    return equal(expected, actual)


def status(simulation: Simulation, instance: str) -> tuple[str, str]:
    """A status alone, and with its reason or code behind a colon."""
    record = simulation.nodes.get(instance)
    if record is None:
        return "absent", "absent"
    return record.status, f"{record.status}:{record.reason or record.code}"


def count(simulation: Simulation, key: str) -> int:
    """Events by `type`, `type instance`, `type instance #code`."""
    type, *rest = key.split()
    code = next((word[1:] for word in rest if word.startswith("#")), None)
    about = next((word for word in rest if not word.startswith("#")), None)
    found = [event["payload"] for event in simulation.events if event["type"] == type]
    return sum(about in (None, p.get("instance")) and code in (None, p.get("code")) for p in found)


def pauses(simulation: Simulation) -> list[list[int | None]]:
    found: list[list[int | None]] = []
    for event in simulation.events:
        if event["type"] in RUN_ENDS | {"run.status.changed"}:
            if found and found[-1][1] is None:
                found[-1][1] = event.at_ms
            if event["payload"].get("status") == "paused":
                found.append([event.at_ms, None])
    return [pause for pause in found if pause[0] != pause[1]]


def settles_before(simulation: Simulation, first: str, second: str) -> bool:
    ends = [e["sequence"] for e in simulation.events if e["type"] in NODE_ENDS and e["payload"]["instance"] == first]
    starts = [e["sequence"] for e in simulation.events if e["type"] == "node.started" and e["payload"]["instance"] == second]
    return ends[0] < starts[0]


def faults(case: Case, simulation: Simulation) -> Iterator[tuple[str, Any, Any]]:
    """What is expected and what came, wherever they differ. An expectation that this does not know is a fault."""
    for name, expected in case["expect"].items():
        match name:
            case "nodes":
                yield from ((i, want, status(simulation, i)) for i, want in expected.items() if want not in status(simulation, i))
            case "absent":
                yield from ((i, "absent", status(simulation, i)) for i in expected if i in simulation.nodes)
            case "events":
                yield from ((key, n, count(simulation, key)) for key, n in expected.items() if count(simulation, key) != n)
            case "order":
                yield from ((f"{a} < {b}", True, False) for a, b in expected if not settles_before(simulation, a, b))
            case _:
                actual = ACTUAL[name](simulation)
                if isinstance(expected, dict) and name in PARTIAL:
                    yield from ((f"{name} {k}", v, actual.get(k)) for k, v in expected.items() if not within(v, actual.get(k)))
                elif not matches(expected, actual):
                    yield name, expected, actual


def within(expected: Any, actual: Any) -> bool:
    if isinstance(expected, dict) and isinstance(actual, dict):
        return all(within(value, actual.get(key)) for key, value in expected.items())
    return matches(expected, actual)


PARTIAL = {"variables", "node_inputs", "started_ms", "trace", "tags"}
TRACED = ("index", "predecessor", "attempts", "ended_ms", "wave")
ACTUAL: dict[str, Any] = {
    "run": lambda s: s.status,
    "outputs": lambda s: s.outputs,
    "variables": lambda s: s.variables,
    "node_inputs": lambda s: {instance: dict(record.inputs) for instance, record in s.nodes.items()},
    "started_ms": lambda s: {instance: record.started_ms for instance, record in s.nodes.items()},
    "trace": lambda s: {instance: {field: getattr(record, field) for field in TRACED} for instance, record in s.nodes.items()},
    "tags": lambda s: Counter(tag.tag for tag in s.tags),
    "paused_ms": pauses,
    "failures": lambda s: s.failures,
    "error_node": lambda s: s.error["node"],
    "error_code": lambda s: s.error["code"],
}


def log_faults(simulation: Simulation) -> Iterator[str]:
    """What holds for every log (docs/understand/semantics.md#events)."""
    types = [event["type"] for event in simulation.events]
    if [event["eventId"] for event in simulation.events] != list(range(1, len(types) + 1)):
        yield "the numbers have a gap"
    if any(type in RUN_ENDS for type in types[:-1]):
        yield "something follows the run's end"
    ends = Counter(event["payload"]["instance"] for event in simulation.events if event["type"] in NODE_ENDS)
    yield from (f"{instance} ends {n} times" for instance, n in ends.items() if n > 1)


# -- the cases --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_a_case_comes_out_as_written(case: Case) -> None:
    wanted = case["expect"].get("publish_error")
    if wanted is not None:
        with pytest.raises(DocumentRefused) as refusal:
            play(case)
        told = str(refusal.value)
        parts = [wanted] if isinstance(wanted, str) else wanted
        assert all(any(word in told for word in part.split("|")) for part in parts), told
        return
    for reload in RELOADS:
        simulation = play(case, reload)
        assert not list(log_faults(simulation))
        assert not list(faults(case, simulation))


def test_an_expectation_that_does_not_hold_is_found() -> None:
    case = {"document": {"id": "one", "nodes": {"a": {"type": "function", "with": {"call": "test.echo"}}}}}
    wrong = {"run": "failed", "nodes": {"a": "skipped"}, "absent": ["a"], "events": {"node.started a": 2}, "outputs": {"a": 1},
             "paused_ms": [[0, 1]], "started_ms": {"a": 5}, "failures": 1, "trace": {"a": {"attempts": 2}}}  # fmt: skip
    simulation = play(case)
    assert len(list(faults({"expect": wrong}, simulation))) == len(wrong)
