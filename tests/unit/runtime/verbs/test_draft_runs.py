"""Test runs over every store, and under faults: a process may die at any call, and a pinned node is never called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dynamo_table import DirectClient, Table

from stepless.adapters.aws.dynamo.drafts import DynamoDrafts
from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.memory.drafts import MemoryDrafts
from stepless.adapters.memory.store import MemoryStore
from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.database import Database
from stepless.adapters.sqlite.drafts import SqliteDrafts
from stepless.adapters.sqlite.store import SqliteStore
from stepless.drafts.operations.runs import Asked, run_draft
from stepless.drafts.operations.verbs import DraftVerbs
from stepless.errors import DamagedVersion
from stepless.limits import DRAFT_RUN_KEPT_MS
from stepless.model.stored.draft_run import Pin
from stepless.runtime.removal import remove_expired
from stepless.runtime.versions import Versions

Node = Callable[..., dict[str, Any]]
PINS = {"b": Pin({"n": 7}), "x@l": Pin("same")}


def document(node: Node) -> dict[str, Any]:
    return {
        "id": "small",
        "nodes": {
            "a": node(), "b": node("a"),
            "c": {"type": "transform", "after": "b", "with": {"value": "{{ <b.n> + 1 }}"}},
            "l": {"type": "loop", "after": "c", "with": {"times": 2, "body": {"nodes": {"x": node(), "y": node("x")}}}},
            "z": node("l"),
        },
    }  # fmt: skip


NAMES = ("a", "b", "c", "l", "x@l[0]", "y@l[0]", "x@l[1]", "y@l[1]", "z")


def begun(machine: Any, node: Node, drafts: Any = None, **asked: Any) -> str:
    """A test run of a new draft, not run yet."""
    verbs = DraftVerbs(replace(machine.world, drafts=drafts or MemoryDrafts()))
    verbs.open_document("small", document(node), None, "ada")
    return run_draft(verbs, "small", Asked(**{"pins": PINS, **asked}), "ada", anything=True).run_id


def check(machine: Any, run_id: str) -> None:
    assert machine.view(run_id).status == "completed"
    assert machine.completions(run_id) == dict.fromkeys(NAMES, 1), "each exactly once"
    outputs = {event.instance: event.data.get("output") for event in machine.log(run_id) if event.type == "node.completed"}
    assert (outputs["b"], outputs["c"], outputs["x@l[0]"], outputs["x@l[1]"]) == ({"n": 7}, 8, "same", "same")
    assert {name.partition("@")[0] for name in machine.calls} == {"a", "y", "z"}, "a pinned node is not called"


@pytest.mark.parametrize("place", ["memory", "sqlite", "dynamo"])
def test_a_draft_runs_over_every_store(
    make_machine: Any, node: Node, place: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    database, file = Database(tmp_path / "drafts.db"), SqliteStore(tmp_path / "store.db")
    request.addfinalizer(database.close)
    request.addfinalizer(file.close)
    if place == "memory":
        machine, drafts = make_machine(MemoryStore()), MemoryDrafts()
    elif place == "sqlite":
        machine, drafts = make_machine(file, SqliteBlobs(database)), SqliteDrafts(database)
    else:
        client = DirectClient(Table())
        machine, drafts = make_machine(DynamoStore(client, "table", shards=3)), DynamoDrafts(client, "table")
    run_id = begun(machine, node, drafts)
    machine.drain()
    check(machine, run_id)
    assert machine.store.get_version("small") is None and machine.store.list_workflows().items == ()


@pytest.mark.parametrize("after", [False, True], ids=["before it", "after it"])
def test_a_process_may_die_at_any_call_of_a_test_run(make_machine: Any, node: Node, after: bool) -> None:
    whole = make_machine()
    begun(whole, node)
    whole.drain()
    for call in range(1, whole.faults.calls + 1):
        machine = make_machine()
        run_id = begun(machine, node)
        machine.faults.at, machine.faults.after = call, after
        for _ in range(200):
            try:
                if not machine.step():
                    break
            except type(machine.faults.error):
                machine.runner = machine.process()
        check(machine, run_id)


def test_a_test_run_goes_with_its_version_seven_days_after_its_end(machine: Any, node: Node) -> None:
    run_id = begun(machine, node)
    machine.drain()
    head = machine.store.get_run(run_id)
    assert head.expires_ms - machine.clock.now_ms() == DRAFT_RUN_KEPT_MS
    machine.clock.set(head.expires_ms)
    assert remove_expired(machine.world) == 1
    with pytest.raises(DamagedVersion, match="missing"):
        Versions(machine.store, machine.world.kinds, machine.blobs).graph("small", head.version)
    assert machine.store.get_run(run_id) is None


def test_a_pin_counts_where_the_run_begins_at_a_node_of_a_former_one(machine: Any, node: Node) -> None:
    former = begun(machine, node)
    machine.drain()
    machine.calls.clear()
    run_id = begun(machine, node, from_run=former, from_node="l", pins={"a": Pin("pinned")})
    machine.drain()
    outputs = {event.instance: event.data for event in machine.log(run_id) if event.type == "node.completed"}
    assert (outputs["a"]["output"], outputs["a"].get("pinned"), outputs["a"].get("reused")) == ("pinned", True, None)
    assert (outputs["c"]["output"], outputs["c"].get("reused")) == (8, True)
    assert {name.partition("@")[0] for name in machine.calls} == {"x", "y", "z"}


def test_a_former_run_that_is_gone_cancels_what_would_begin_with_it(machine: Any, node: Node) -> None:
    former = begun(machine, node)
    machine.drain()
    run_id = begun(machine, node, from_run=former, from_node="l")
    machine.service.erase(former)
    machine.drain()
    assert machine.view(run_id).status == "cancelled"
