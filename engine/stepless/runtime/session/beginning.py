"""Collects the first facts of a run: its inputs, what the header says about its start, and what its inbox holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stepless.core.facts import Begin, Fact, HoldChanged
from stepless.model.json import JSON
from stepless.model.runs.traceparent import TRACE
from stepless.ports import RunHead
from stepless.runtime import inbox
from stepless.runtime.header_notes import inputs_of
from stepless.runtime.world import World

_RECORDED = ("trigger", "tags", "parent", "rerun", "non_entries", "draft", TRACE)  # of the header's meta: for the first event


def first_facts(world: World, head: RunHead, meta: Mapping[str, JSON], signals: Iterable[Fact]) -> list[Fact]:
    """Returns the facts of a run without events. `signals` are the facts of its inbox; a hold among them takes effect at once."""
    recorded = {name: value for name, value in meta.items() if name in _RECORDED}
    reused, kept, erased = _reused(world, head, meta) if "rerun" in meta or "draft" in meta else ({}, {}, [])
    looked = inbox.holds_first([*signals, *erased])
    holds = tuple(fact for fact in looked if isinstance(fact, HoldChanged))
    inputs = inputs_of(head)
    return [Begin(inputs, recorded, reused, holds, kept), *looked[len(holds) :]]


def _reused(
    world: World, head: RunHead, meta: Mapping[str, JSON]
) -> tuple[Mapping[str, Mapping[str, JSON]], Mapping[str, JSON], list[Fact]]:
    from stepless.runtime.verbs.starts.reruns import reused_or_cancelled  # imported late: few runs are reruns

    if "rerun" in meta:
        return reused_or_cancelled(world, meta["rerun"])
    return reused_or_cancelled(world, meta["draft"], world.versions.graph(head.workflow_id, head.version, meta.get("entry")))
