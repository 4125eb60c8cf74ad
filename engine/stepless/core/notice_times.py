"""Telling people that a run waits for them (docs/semantics.md#pauses): when they are told, again if it did not reach them, and by
reminders.

A pause never depends on its notices: it is in the log before the first is sent, and may be answered whatever becomes of them.
What is in the log about them says when the next is due, so that none is sent again after a crash that was logged as sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappush
from typing import Final

from stepless.core.events import Event
from stepless.core.state import Instance, State, Timer, Wait
from stepless.limits import MAX_NOTICE_BACKOFF_MS, MAX_NOTICE_TRIES, NOTICE_BACKOFF_MS
from stepless.model.json import JSON

NOTIFIED: Final = "notified"
NOT_NOTIFIED: Final = "not_notified"
_TARGET: Final = "notify"
_REMINDERS: Final = "reminders_ms"


def first_notice_ms(details: Mapping[str, JSON], at_ms: int) -> int | None:
    """When the first notice of a pause is due; None when nobody is to be told."""
    return at_ms if details.get(_TARGET) is not None else None


def arm_notice(state: State, instance: Instance) -> None:
    """Puts the next notice of an instance that waits among the timers."""
    wait = instance.wait
    if wait is not None and wait.notice_ms is not None:
        heappush(state.timers, Timer(wait.notice_ms, instance.last_sequence, "notice", instance.id))


def fold_log(state: State, instance: Instance, event: Event) -> None:
    """What a line of the history says about notices; all other lines change nothing."""
    code, wait = event.data.get("code"), instance.wait
    if wait is None or code not in (NOTIFIED, NOT_NOTIFIED):
        return
    if code == NOT_NOTIFIED and wait.tries + 1 < MAX_NOTICE_TRIES:
        delay_ms = min(NOTICE_BACKOFF_MS << wait.tries, MAX_NOTICE_BACKOFF_MS)
        instance.wait = wait._replace(tries=wait.tries + 1, notice_ms=event.at_ms + delay_ms)
    else:
        instance.wait = wait._replace(told=wait.told + 1, tries=0, notice_ms=_reminder_ms(wait))
    arm_notice(state, instance)


def _reminder_ms(wait: Wait) -> int | None:
    """When the next reminder is due, counted from the beginning of the wait."""
    reminders = wait.details.get(_REMINDERS) or []
    return wait.since_ms + reminders[wait.told] if wait.told < len(reminders) else None
