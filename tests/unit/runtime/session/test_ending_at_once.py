"""The last commit of a run and the release of its lease, in one transaction of a store that has transactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stepless.adapters.sqlite.store import SqliteStore
from stepless.errors import LeaseLost, StoreUnavailable
from stepless.ports import Message
from stepless.runtime.commits import Commits
from stepless.runtime.session.invocation_end import InvocationEnd
from stepless.runtime.session.pauses.children import caller

Node = Callable[..., dict[str, Any]]


class Killed(BaseException):
    """The process dies here."""


class Disk:
    """A machine over a file. `seen` has the changes of the runner in order, with a bracket around those of one transaction;
    `ends` has what is raised at the end of the next transactions, after their changes are undone."""

    def __init__(self, machine: Any, path: Path) -> None:
        self.store = SqliteStore(path)
        self.machine = type(machine)(self.store)
        self.seen: list[str] = []
        self.ends: list[BaseException] = []
        self.before: dict[str, BaseException] = {}  # what the next call of a name raises
        self.machine.store = self._watched()
        self.machine.world = replace(self.machine.world, commits=Commits(self.together))
        self.machine.runner = self.machine.process()

    def _watched(self) -> Any:
        disk = self

        class Watched:
            def __getattr__(self, name: str) -> Any:
                verb = getattr(disk.store, name)
                if name not in ("append", "update_run", "put_signal"):
                    return verb

                def call(*given: Any, **named: Any) -> Any:
                    disk.seen.append(name)
                    if (error := disk.before.pop(name, None)) is not None:
                        raise error
                    return verb(*given, **named)

                return call

        return Watched()

    @contextmanager
    def together(self) -> Iterator[None]:
        self.seen.append("(")
        with self.store.together():
            yield
            if self.ends:
                raise self.ends.pop(0)
        self.seen.append(")")


@pytest.fixture
def disk(machine: Any, tmp_path: Path) -> Iterator[Disk]:
    made = Disk(machine, tmp_path / "runs.db")
    yield made
    made.store.close()


def begun(disk: Disk, node: Node) -> str:
    run_id: str = disk.machine.start({"a": node(), "b": node("a")})
    disk.seen.clear()
    return run_id


def test_the_last_events_and_the_release_are_one_transaction(disk: Disk, node: Node) -> None:
    run_id = begun(disk, node)
    assert disk.machine.invoke(Message(run_id, "start")) is InvocationEnd.ENDED
    assert disk.seen == ["append", "append", "(", "append", "update_run", ")"]
    head = disk.store.get_run(run_id)
    assert head is not None
    assert (head.status, head.owner, head.due_ms) == ("completed", None, None)
    assert head.sequence == disk.machine.log(run_id)[-1].sequence


def test_a_process_that_dies_in_between_leaves_neither(disk: Disk, node: Node) -> None:
    run_id = begun(disk, node)
    disk.before["update_run"] = Killed()
    with pytest.raises(Killed):
        disk.machine.invoke(Message(run_id, "start"))
    head = disk.store.get_run(run_id)
    assert head is not None and head.owner is not None
    assert disk.machine.types(run_id)[-1] == "node.started b"
    disk.machine.drain()
    assert disk.machine.view(run_id).status == "completed"
    assert disk.machine.completions(run_id) == Counter({"a": 1, "b": 1})
    assert disk.machine.calls == Counter({"a": 1, "b": 2})


@pytest.mark.parametrize("failures", [1, 3])
def test_a_transaction_that_fails_is_made_again(disk: Disk, node: Node, failures: int) -> None:
    run_id = begun(disk, node)
    disk.ends = [StoreUnavailable("the disk is full") for _ in range(failures)]
    assert disk.machine.invoke(Message(run_id, "start")) is InvocationEnd.ENDED
    assert disk.seen == ["append", "append", *["(", "append", "update_run"] * (failures + 1), ")"]
    assert disk.machine.view(run_id).status == "completed"
    assert disk.machine.calls == disk.machine.completions(run_id) == Counter({"a": 1, "b": 1})


def test_a_lost_lease_does_not_undo_the_commit(disk: Disk, node: Node) -> None:
    """As without a transaction: the process that has taken the lease finds a run that has ended."""
    run_id = begun(disk, node)
    disk.before["update_run"] = LeaseLost("the lease was taken over")
    assert disk.machine.invoke(Message(run_id, "start")) is InvocationEnd.FENCED
    assert disk.machine.types(run_id)[-1] == "run.completed"
    disk.machine.drain()
    assert disk.machine.view(run_id).status == "completed"
    assert disk.machine.calls == disk.machine.completions(run_id) == Counter({"a": 1, "b": 1})


def test_a_child_informs_its_parent_before_it_leaves(disk: Disk, node: Node) -> None:
    disk.machine.world.kind_code["workflow"] = caller(disk.machine.world)
    disk.machine.service.publish({"id": "child", "nodes": {"a": node()}})
    run_id = disk.machine.start({"call": {"type": "workflow", "with": {"workflow": "child"}}})
    disk.machine.drain()
    assert disk.machine.view(run_id).status == "completed"
    ends = [place for place, name in enumerate(disk.seen) if name == "put_signal"]
    assert ends and all("update_run" not in disk.seen[place - 1 : place] for place in ends)
    assert disk.seen[ends[-1] + 1] == "update_run"  # the child's release
