"""Search: runs by what their headers say and by the keywords that they were started with.

Keywords are in no index: a search reads headers, newest first, and stops after MAX_SEARCHED_RUNS of them. A page may therefore
hold fewer runs than were asked for and still have a cursor that goes on.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from stepless.core.history.waits import ANSWER, RETRY, TIME, summary
from stepless.limits import MAX_SEARCHED_RUNS
from stepless.ports import Page, RunFilter, RunHead
from stepless.runtime.inbox import ENDED
from stepless.runtime.world import World


def search(
    world: World, filter: RunFilter, *, keywords: Collection[str] = (), limit: int = 100, cursor: str | None = None
) -> Page[RunHead]:
    """At most `limit` headers that fit the filter and have all the keywords, newest first. Whoever follows the cursor to its end
    has seen every run once that existed throughout. Raises `InvalidRequest` (invalid_cursor)."""
    wanted, found = frozenset(keywords), list[RunHead]()
    for _ in range(max(1, MAX_SEARCHED_RUNS // limit) if wanted else 1):
        page = world.store.list_runs(filter, limit=limit, cursor=cursor)
        fitting = [head for head in page.items if wanted <= set(keywords_of(head))]
        if len(found) + len(fitting) > limit:  # a cursor stands between pages of the store: this one is read again
            return Page(tuple(found), cursor)
        found += fitting
        cursor = page.cursor
        if cursor is None or len(found) == limit:
            break
    return Page(tuple(found), cursor)


def keywords_of(head: RunHead) -> Sequence[str]:
    """The keywords that a run was started with; kept under their former name."""
    kept = json.loads(head.meta).get("tags", ())
    return [word for word in kept if isinstance(word, str)] if isinstance(kept, list) else ()


def waits_of(head: RunHead) -> Sequence[str]:
    """What the run waited for when it last came to rest, in the words of `core.waits`; nothing once it has ended."""
    return () if head.status in ENDED else head.waits.split()


def summary_of(head: RunHead, now_ms: int) -> str:
    """What the run is at, for people. The instant that it waits for is known where it waits for nothing else."""
    waits, busy = waits_of(head), _in_hand(head, now_ms)
    until_ms = head.due_ms if not busy and TIME in waits and not {ANSWER, RETRY} & set(waits) else None
    return summary(status_of(head, now_ms), waits, busy=busy, until_ms=until_ms)


def _in_hand(head: RunHead, now_ms: int) -> bool:
    return head.owner is not None and head.lease_until_ms > now_ms


def status_of(head: RunHead, now_ms: int) -> str:
    """What the run is at. The header follows only when the run comes to rest or renews its lease; that somebody holds the
    lease says sooner that it is running."""
    return "running" if _in_hand(head, now_ms) and head.status not in ENDED else head.status
