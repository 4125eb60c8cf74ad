"""Warns of schedules that fall into a change of the clocks, and of those that will not fire again. Both depend on the present."""

from __future__ import annotations

from collections.abc import Iterator
from zoneinfo import ZoneInfoNotFoundError

from stepless.model.findings import Finding, Severity
from stepless.model.graph import Graph
from stepless.model.triggers.clock_changes import clock_changes, fires_after, sentence
from stepless.ports import Rhythm
from stepless.runtime.verbs.publication.calendar_registration import rhythms_of


def clock_warnings(graph: Graph, now_ms: int) -> tuple[Finding, ...]:
    """Returns the warnings for the schedules of a graph. None for a zone that this machine does not know."""
    found = list[Finding]()
    for rhythm in rhythms_of(graph):
        try:
            found += _of(rhythm, now_ms)
        except (ZoneInfoNotFoundError, OSError):  # no time zone database
            continue
    return tuple(found)


def _of(rhythm: Rhythm, now_ms: int) -> Iterator[Finding]:
    if rhythm.cron is None:
        return
    path = f"nodes.{rhythm.node}.with.cron"
    if not fires_after(rhythm.cron, rhythm.timezone, now_ms):
        message = f"`{rhythm.cron}` does not fire again"
        yield _warning("never_fires", path, message, "Correct the years, or remove the schedule.", rhythm)
        return
    changes = clock_changes(rhythm.cron, rhythm.timezone, now_ms)
    first_of_each = [next((each for each in changes if each.kind == kind), None) for kind in ("skipped", "repeated")]
    told = [sentence(change.kind, change.first, change.last) for change in first_of_each if change is not None]
    if told:
        mend = "Choose a time outside of the changed hour, or `timezone: UTC`, if each day needs exactly one run."
        yield _warning("clock_change", path, f"in {rhythm.timezone}, {'; '.join(told)}", mend, rhythm)


def _warning(code: str, path: str, message: str, mend: str, rhythm: Rhythm) -> Finding:
    return Finding(code, path, message, mend, node=rhythm.node, severity=Severity.WARNING)
