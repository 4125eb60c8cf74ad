"""Decides when notices of a pause are due (docs/understand/semantics.md#pauses): the first notice, retries of failed ones, and
reminders.

A pause never depends on its notices: it is in the log before the first one is sent, and it can be answered even if they all fail.
The log also records the notices. It determines when the next one is due, so that a crash never repeats a notice logged as sent.
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
    """Returns when the first notice of a pause is due; None when the pause has no recipients."""
    return at_ms if details.get(_TARGET) is not None else None


def arm_notice(state: State, instance: Instance) -> None:
    """Arms a timer for the next notice of a waiting instance."""
    wait = instance.wait
    if wait is not None and wait.notice_ms is not None:
        heappush(state.timers, Timer(wait.notice_ms, instance.last_sequence, "notice", instance.id))


def fold_log(state: State, instance: Instance, event: Event) -> None:
    """Applies a log line about a notice; other log lines change nothing."""
    code, wait = event.data.get("code"), instance.wait
    if wait is None or code not in (NOTIFIED, NOT_NOTIFIED):
        return
    if code == NOT_NOTIFIED and wait.tries + 1 < MAX_NOTICE_TRIES:
        delay_ms = min(NOTICE_BACKOFF_MS << wait.tries, MAX_NOTICE_BACKOFF_MS)
        instance.wait = wait._replace(tries=wait.tries + 1, notice_ms=event.at_ms + delay_ms)
    else:
        instance.wait = wait._replace(sent=wait.sent + 1, tries=0, notice_ms=_reminder_ms(wait))
    arm_notice(state, instance)


def _reminder_ms(wait: Wait) -> int | None:
    """When the next reminder is due. Reminders count from the start of the wait."""
    reminders = wait.details.get(_REMINDERS) or []
    return wait.since_ms + reminders[wait.sent] if wait.sent < len(reminders) else None
