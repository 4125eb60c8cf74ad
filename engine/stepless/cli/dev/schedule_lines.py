"""Prints the lines of `stepless dev` about the schedules of a workflow: when each fires, and when next."""

from __future__ import annotations

from stepless.cli.terminal.formatting import when
from stepless.core.decision import iso
from stepless.errors import StoreUnavailable
from stepless.runtime.service import Service
from stepless.runtime.triggers.schedule_verbs import Schedule


def schedule_lines(service: Service, workflow_id: str) -> list[str]:
    """Returns one line for each schedule; none if the store does not respond now."""
    try:
        found = service.list_schedules(workflow_id).items
    except StoreUnavailable:
        return []
    return [f"    {each.node} fires {_rhythm(each)}: {_next(each)}" for each in found]


def _rhythm(schedule: Schedule) -> str:
    return f"every {schedule.rate}" if schedule.rate else f"at {schedule.cron} {schedule.timezone}"


def _next(schedule: Schedule) -> str:
    if schedule.pause is not None:
        return f"paused, see `stepless schedules resume {schedule.workflow_id} {schedule.node}`"
    return f"next {when(iso(schedule.next_ms))}" if schedule.next_ms is not None else "never again"
