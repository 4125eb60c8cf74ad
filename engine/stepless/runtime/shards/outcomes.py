"""Reads how a distribution has ended, for the run that waits for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepless.model.stored.packing import unpack
from stepless.runtime.inbox import ChildOutcome
from stepless.runtime.shards.records import read_records, value_of
from stepless.runtime.world import World


def outcome_of(world: World, run_id: str) -> ChildOutcome:
    """Returns the outcome of a distribution that has ended."""
    done: Mapping[str, Any] = {}
    for _, record in read_records(world.store, run_id):
        done = record.get("done", done)
    if "output" in done:
        return ChildOutcome(unpack(value_of(world, done["output"], "output", run_id)))
    error = done.get("error")
    return ChildOutcome(None, error, str((error or {}).get("code", "")))


