"""Finds runs by their headers, by the keywords that they were started with, and by the notes in their headers.

Only what a `RunFilter` has is indexed: a search reads headers, newest first, and stops after MAX_SEARCHED_RUNS of them. A page
may therefore hold fewer runs than requested and still have a cursor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from stepless.core.history.waits import ANSWER, HELD, RETRY, START, TIME, failed_node, failures_in, summary
from stepless.limits import MAX_PAGE_ITEMS, MAX_SEARCHED_RUNS, NEVER_MS
from stepless.model.runs.statuses import ENDED
from stepless.ports import GRANTED, Page, RunFilter, RunHead
from stepless.runtime.header_notes import DAMAGED, damage_of, error_of, notes_in, pauses_of
from stepless.runtime.headers import number_of
from stepless.runtime.messages.keys import key_in
from stepless.runtime.world import World

Wanted = Mapping[str, Any]
"""The conditions on a header that a `RunFilter` does not express, by the names of RUN_FILTERS. All given values must match."""

ANY: Final[Wanted] = {}


def _asked(keywords: Collection[str], wanted: Wanted) -> Wanted:
    return {"keyword": keywords, **wanted} if keywords else wanted


def fits(wanted: Wanted, head: RunHead, now_ms: int) -> bool:
    """Returns whether the header fits each of the values."""
    return all(FITS[name](value, head, now_ms) for name, value in wanted.items())


def _has_error(code: str, head: RunHead, now_ms: int) -> bool:
    return (error_of(head) or {}).get("code") == code


def _has_words(words: Collection[str], head: RunHead, now_ms: int) -> bool:
    text = _text_of(head)
    return all(word.casefold() in text for word in words)


FITS: Final[Mapping[str, Callable[[Any, RunHead, int], bool]]] = {  # one for each filter that the store does not apply
    "until": lambda until_ms, head, now_ms: head.created_ms < until_ms,
    "keyword": lambda keywords, head, now_ms: set(keywords) <= set(keywords_of(head)),
    "key": lambda key, head, now_ms: key_in(head) == key,
    "min_duration_ms": lambda least_ms, head, now_ms: duration_of(head, now_ms) >= least_ms,
    "max_duration_ms": lambda most_ms, head, now_ms: duration_of(head, now_ms) <= most_ms,
    "error": _has_error,
    "search": _has_words,
}


def _text_of(head: RunHead) -> str:
    """What words are searched in."""
    error, number = error_of(head) or {}, number_of(head)
    parts = [head.run_id, head.workflow_id, *keywords_of(head)]
    parts += [str(error.get(name, "")) for name in ("code", "message", "node")]
    parts += ["" if number is None else f"#{number}", failed_node_of(head) or ""]
    parts += [str(pause.get(name, "")) for pause in pauses_of(head) for name in ("node", "message")]
    return "\n".join(parts).casefold()


def search(
    world: World, filter: RunFilter, *, keywords: Collection[str] = (), wanted: Wanted = ANY, limit: int = 100,
    cursor: str | None = None,
) -> Page[RunHead]:  # fmt: skip
    """Returns at most `limit` headers that match the filter, have all the keywords and are `wanted`, newest first. A caller that
    follows the cursor to its end sees every run that existed throughout exactly once. Raises `InvalidRequest`
    (invalid_cursor)."""
    asked, now_ms, found = _asked(keywords, wanted), world.clock.now_ms(), list[RunHead]()
    for _ in range(max(1, MAX_SEARCHED_RUNS // limit) if asked else 1):
        page = world.store.list_runs(filter, limit=limit, cursor=cursor)
        fitting = [head for head in page.items if fits(asked, head, now_ms)]
        if len(found) + len(fitting) > limit:  # cursors exist only between pages of the store: read this one again
            return Page(tuple(found), cursor)
        found += fitting
        cursor = page.cursor
        if cursor is None or len(found) == limit:
            break
    return Page(tuple(found), cursor)


class Count(NamedTuple):
    """How many headers a search finds, also by their current status, and those of them that wait for an operator's release.
    `cursor` counts on; None where all were counted."""

    total: int
    statuses: Mapping[str, int]
    held: int
    cursor: str | None


def count(
    world: World, filter: RunFilter, *, keywords: Collection[str] = (), wanted: Wanted = ANY, cursor: str | None = None
) -> Count:
    """Counts what `search` finds, among the next MAX_SEARCHED_RUNS headers that match the filter."""
    return counted(matching(world, filter, keywords=keywords, wanted=wanted, cursor=cursor), world.clock.now_ms())


def matching(
    world: World, filter: RunFilter, *, keywords: Collection[str] = (), wanted: Wanted = ANY, cursor: str | None = None
) -> Page[RunHead]:
    """Returns the results of `search` among the next MAX_SEARCHED_RUNS headers that match the filter."""
    asked, now_ms, found, read = _asked(keywords, wanted), world.clock.now_ms(), list[RunHead](), 0
    while True:
        page = world.store.list_runs(filter, limit=min(MAX_PAGE_ITEMS, MAX_SEARCHED_RUNS - read), cursor=cursor)
        found += (head for head in page.items if fits(asked, head, now_ms))
        read, cursor = read + len(page.items), page.cursor
        if cursor is None or read >= MAX_SEARCHED_RUNS:
            return Page(tuple(found), cursor)


def counted(found: Page[RunHead], now_ms: int) -> Count:
    statuses = Counter(status_of(head, now_ms) for head in found.items)
    return Count(len(found.items), statuses, sum(HELD in waits_of(head) for head in found.items), found.cursor)


def keywords_of(head: RunHead) -> Sequence[str]:
    """Returns the keywords that a run was started with. They are stored under their former name, `tags`."""
    kept = notes_in(head).get("tags", ())
    return [word for word in kept if isinstance(word, str)] if isinstance(kept, list) else ()


def waits_of(head: RunHead) -> Sequence[str]:
    """Returns the reasons why the run waited when its header was last updated, in the terms of `core/history/waits.py`; empty
    once it has ended. A run that has begun waits to start no more, also before its header is updated."""
    begins = head.owner not in (None, *GRANTED)
    return () if head.status in ENDED else [word for word in head.waits.split() if not (begins and word == START)]


def failed_node_of(head: RunHead) -> str | None:
    """Returns the node whose failure made the run fail; None for other runs, and for runs of a release that did not store it."""
    return failed_node(head.waits) if head.status == "failed" else None


def duration_of(head: RunHead, now_ms: int) -> int:
    """Milliseconds from the creation of the run to its end, or to now. The end is the last change of the header, some
    milliseconds after the last event."""
    return max(0, (head.updated_ms if head.status in ENDED else now_ms) - head.created_ms)


def summary_of(head: RunHead, now_ms: int) -> str:
    """Returns the current activity of the run, for display. Includes the instant that the run waits for if that is all it waits
    for."""
    waits, busy = waits_of(head), _is_leased(head, now_ms)
    until_ms = head.due_ms if not busy and {START, TIME} & set(waits) and not {ANSWER, RETRY} & set(waits) else None
    if until_ms is not None and not 0 <= until_ms <= NEVER_MS:
        until_ms = None  # damaged, and no reason not to list the run
    return summary(status_of(head, now_ms), waits, busy=busy, until_ms=until_ms, failures=failures_in(head.waits))


def _is_leased(head: RunHead, now_ms: int) -> bool:
    return head.owner not in (None, *GRANTED) and head.lease_until_ms > now_ms


def status_of(head: RunHead, now_ms: int) -> str:
    """Returns the current status of the run. The header is updated only when the lease is renewed or released, so a live lease
    shows earlier that the run is running. DAMAGED if the header is."""
    if damage_of(head) is not None:
        return DAMAGED
    return "running" if _is_leased(head, now_ms) and head.status not in ENDED else head.status
