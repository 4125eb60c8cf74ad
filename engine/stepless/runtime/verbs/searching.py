"""Search: finds runs by their headers and by the keywords that they were started with.

Keywords are not indexed: a search reads headers, newest first, and stops after MAX_SEARCHED_RUNS of them. A page may therefore
hold fewer runs than requested and still have a cursor.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from stepless.core.history.waits import ANSWER, RETRY, TIME, failed_node, summary
from stepless.limits import MAX_SEARCHED_RUNS
from stepless.ports import GRANTED, Page, RunFilter, RunHead
from stepless.runtime.inbox import ENDED
from stepless.runtime.world import World


def search(
    world: World, filter: RunFilter, *, keywords: Collection[str] = (), limit: int = 100, cursor: str | None = None
) -> Page[RunHead]:
    """At most `limit` headers that match the filter and have all the keywords, newest first. A caller that follows the cursor to
    its end sees every run that existed throughout exactly once. Raises `InvalidRequest` (invalid_cursor)."""
    wanted, found = frozenset(keywords), list[RunHead]()
    for _ in range(max(1, MAX_SEARCHED_RUNS // limit) if wanted else 1):
        page = world.store.list_runs(filter, limit=limit, cursor=cursor)
        fitting = [head for head in page.items if wanted <= set(keywords_of(head))]
        if len(found) + len(fitting) > limit:  # cursors exist only between pages of the store: read this one again
            return Page(tuple(found), cursor)
        found += fitting
        cursor = page.cursor
        if cursor is None or len(found) == limit:
            break
    return Page(tuple(found), cursor)


def keywords_of(head: RunHead) -> Sequence[str]:
    """The keywords that a run was started with. They are stored under their former name, `tags`."""
    kept = json.loads(head.meta).get("tags", ())
    return [word for word in kept if isinstance(word, str)] if isinstance(kept, list) else ()


def waits_of(head: RunHead) -> Sequence[str]:
    """What the run waited for when its header was last updated, in the terms of `core/history/waits.py`; empty once it has
    ended."""
    return () if head.status in ENDED else head.waits.split()


def failed_node_of(head: RunHead) -> str | None:
    """The node whose failure made the run fail; None for other runs, and for runs of a release that did not store it."""
    return failed_node(head.waits) if head.status == "failed" else None


def duration_of(head: RunHead, now_ms: int) -> int:
    """Milliseconds from the creation of the run to its end, or to now. The end is the last change of the header, some
    milliseconds after the last event."""
    return max(0, (head.updated_ms if head.status in ENDED else now_ms) - head.created_ms)


def summary_of(head: RunHead, now_ms: int) -> str:
    """The current activity of the run, for display. Includes the instant that the run waits for if that is all it waits for."""
    waits, busy = waits_of(head), _is_leased(head, now_ms)
    until_ms = head.due_ms if not busy and TIME in waits and not {ANSWER, RETRY} & set(waits) else None
    return summary(status_of(head, now_ms), waits, busy=busy, until_ms=until_ms)


def _is_leased(head: RunHead, now_ms: int) -> bool:
    return head.owner not in (None, *GRANTED) and head.lease_until_ms > now_ms


def status_of(head: RunHead, now_ms: int) -> str:
    """The current status of the run. The header is updated only when the lease is renewed or released, so a live lease shows
    earlier that the run is running."""
    return "running" if _is_leased(head, now_ms) and head.status not in ENDED else head.status
