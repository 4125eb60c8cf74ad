"""Remembers the last test runs of a draft, for those who open it: a short list in one record, which is a hint and expires with
the runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from stepless.errors import StoreUnavailable
from stepless.limits import DRAFT_RUN_KEPT_MS, MAX_DRAFT_RUNS, SEQUENCING_TRIES
from stepless.model.stored.damage import FAULTS
from stepless.runtime.world import World


class StartedRun(NamedTuple):
    """A test run of the draft as it was after item `seq` of an epoch. It is no part of the log."""

    run_id: str
    epoch: int
    seq: int
    by: str
    at_ms: int


def note_run(world: World, workflow_id: str, started: StartedRun) -> None:
    """Adds a run to the list. If other runs are added at the same time, again and again, the list stays without it."""
    key = _key(workflow_id)
    for _ in range(SEQUENCING_TRIES):
        now_ms = world.clock.now_ms()
        former = world.store.get_claim(key, now_ms)
        runs = [started, *_read(former)][:MAX_DRAFT_RUNS]
        if world.store.replace_claim(key, former, _written(runs), now_ms, now_ms + DRAFT_RUN_KEPT_MS):
            return


def forget_run(world: World, workflow_id: str, run_id: str) -> None:
    """Removes a run from the list, with the person who started it. Raises `StoreUnavailable` if others keep changing the list."""
    key = _key(workflow_id)
    for _ in range(SEQUENCING_TRIES):
        now_ms = world.clock.now_ms()
        former = world.store.get_claim(key, now_ms)
        noted = _read(former)
        runs = [run for run in noted if run.run_id != run_id]
        if len(runs) == len(noted) or former is None:
            return
        if world.store.replace_claim(key, former, _written(runs), now_ms, now_ms + DRAFT_RUN_KEPT_MS):
            return
    raise StoreUnavailable("others keep starting test runs", place=f"draft of {workflow_id}", mend="try again")


def noted_runs(world: World, workflow_id: str) -> Sequence[StartedRun]:
    """Returns the last test runs, the newest first, at most MAX_DRAFT_RUNS. A run may be gone by now."""
    return _read(world.store.get_claim(_key(workflow_id), world.clock.now_ms()))


def _key(workflow_id: str) -> str:
    return f"draft-runs:{workflow_id}"


def _written(runs: Sequence[StartedRun]) -> bytes:
    return json.dumps([list(run) for run in runs], separators=(",", ":")).encode()


def _read(data: bytes | None) -> list[StartedRun]:
    """The list in a record; empty for a damaged one, which the next run replaces."""
    try:
        return [] if data is None else read_runs(data)
    except FAULTS:
        return []


def read_runs(data: bytes) -> list[StartedRun]:
    """Returns the list in a record. Raises an error of FAULTS for a damaged one."""
    rows = json.loads(data)
    if not isinstance(rows, list):
        raise ValueError("there is no list of runs")
    runs = [StartedRun(*run[: len(StartedRun._fields)]) for run in rows]
    if not all(isinstance(run.run_id, str) for run in runs):
        raise ValueError("a run has no id")
    return runs
