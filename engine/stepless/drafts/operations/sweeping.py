"""Sweeps the drafts of a stack once an hour, in a process that is invoked every minute."""

from __future__ import annotations

import logging
from typing import Final

from stepless.errors import SteplessError
from stepless.limits import DRAFTS_SWEEP_MS, DRAFTS_SWEPT_MS, SWEPT_CHECKPOINT_IDLE_MS
from stepless.runtime.world import World

_log = logging.getLogger(__name__)
_MINUTE_MS: Final = 60_000  # between two invocations of the sweeper


def sweep_drafts(world: World) -> bool:
    """Checks the drafts whose last item is unchecked for long, and completes what a process has left half done. Does so in the
    first minute of each hour, and returns whether it is that. An error is logged: the runs are swept whatever happens here."""
    now_ms = world.clock.now_ms()
    if now_ms % DRAFTS_SWEPT_MS >= _MINUTE_MS:
        return False
    from stepless.drafts.operations.verbs import DraftVerbs  # imported late: it is needed once an hour

    try:
        DraftVerbs(world).sweep(SWEPT_CHECKPOINT_IDLE_MS, now_ms + DRAFTS_SWEEP_MS)
    except SteplessError as error:
        _log.error("a draft could not be checked: %s", error)
    return True
