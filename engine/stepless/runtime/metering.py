"""Reports to operators: the names of the metrics, and which events become a line of the operator's log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from stepless.core.events import ROWS, Event, EventType
from stepless.model.runs.tally import Tally
from stepless.ports import Meter, RunHead

COMMITS: Final = "Commits"
HAND_OVERS: Final = "HandOvers"
LEASE_CONFLICTS: Final = "LeaseConflicts"  # refused because of a live lease, or fenced off during the invocation
FAIL_OPENS: Final = "FailOpens"  # starts that a rate limit allowed because they could not be counted
NODE_TIME: Final = "NodeTime"
DUE_RUNS: Final = "DueRuns"
REVIVED_RUNS: Final = "RevivedRuns"  # overdue runs for which the parts of a divided sweep sent a hint
OLDEST_DUE_AGE: Final = "OldestDueAge"  # how long the longest overdue run has been due
REMOVED_RUNS: Final = "RemovedRuns"  # whose time was over
DEAD_LETTERS: Final = "DeadLetters"
EXPORT_FAILURES: Final = "ExportFailures"  # calls of an exporter that failed; the events are sent again
EXPORTS_DROPPED: Final = "ExportsDropped"  # runs whose remaining events an exporter never confirmed: given up
OUTCOMES: Final[Mapping[EventType, str]] = {type: row.metric for type, row in ROWS.items() if row.metric}
_REPORTED: Final = frozenset(type for type, row in ROWS.items() if row.reported)


class NullMeter:
    """A meter that discards everything."""

    def count(self, name: str, number: int = 1) -> None:
        return

    def took(self, name: str, duration_ms: float) -> None:
        return

    def report(self, what: str, facts: Mapping[str, str | int]) -> None:
        return


class NullTallies:
    """Tallies for a process whose requests are not billed."""

    def open(self, begun: Tally) -> AbstractContextManager[None]:
        return nullcontext()

    def take(self) -> Tally | None:
        return None


def committed(meter: Meter, head: RunHead, events: Sequence[Event]) -> None:
    """Counts the events of one commit by outcome, and reports those that matter to an operator."""
    if not events or type(meter) is NullMeter:
        return
    meter.count(COMMITS)
    for event in events:
        if event.type in OUTCOMES:
            meter.count(OUTCOMES[event.type])
        if event.type in _REPORTED:
            meter.report(event.type.value, _facts(head, event))


def _facts(head: RunHead, event: Event) -> Mapping[str, str | int]:
    facts: dict[str, str | int] = {"run": head.run_id, "workflow": head.workflow_id, "sequence": event.sequence}
    if event.instance:
        facts["instance"] = event.instance
    error = event.data.get("error")
    code = error.get("code") if isinstance(error, Mapping) else event.data.get("code")
    if isinstance(code, str):
        facts["code"] = code
    exception = event.data.get("exception")
    if isinstance(exception, Mapping):  # its message may hold personal data: it is shown to readers of the run only
        facts |= {name: exception[name] for name in ("type", "file", "line") if name in exception}
    return facts
