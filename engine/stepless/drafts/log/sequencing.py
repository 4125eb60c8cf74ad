"""Decides requests over the log of a draft: any process may commit, none owns a draft.

An entry is appended on condition that its number in the log is free.

A process decides over what it has read so far. If that is not all, its append fails, and it reads the rest and decides again. So
a decision that ends in an entry needs no read before it; one that ends in an answer is made only over the end of the log.
"""

from __future__ import annotations

from stepless.drafts.log.editing import S, Undecided
from stepless.drafts.log.entries import Answer, Last, LogEntry
from stepless.drafts.log.records import Records
from stepless.drafts.log.warm_draft import WarmDraft
from stepless.drafts.rules.requests import EditRequest
from stepless.limits import BUSY_RETRY_MS, SEQUENCING_TRIES
from stepless.model.json import JSON
from stepless.ports import Clock

BUSY = Answer("busy", BUSY_RETRY_MS)
REPLACED = Answer("replaced")


def close(records: Records, checked: int, successor: JSON, by: str, clock: Clock) -> LogEntry | Answer:
    """Ends an epoch with an entry that carries the next head. Returns the entry that has ended it: with another head, if another
    process was first. `busy` as above. Needs the end of the log only, so a draft that cannot be opened can be left."""
    for _ in range(SEQUENCING_TRIES):
        last = records.last_entry()
        if last is not None and last.closes is not None:
            return last
        seq, at_ms = (last.seq, last.at_ms) if last is not None else (0, 0)
        entry = LogEntry(max(seq, checked) + 1, "", 0, "", by, max(clock.now_ms(), at_ms + 1), (), closes=successor)
        if records.append(entry):
            return entry
    return BUSY


def entry_for(warm: WarmDraft[S], request: EditRequest, by: str, clock: Clock) -> LogEntry | Answer:
    """Decides a request over what was read so far: the entry to append, the one that is there already, or an answer. See
    `DraftLogs.commit`."""
    if warm.closes is not None:
        return REPLACED
    last = warm.last.get(request.client, Last(0, 0, ""))
    if last.by not in ("", by):
        return Answer("forked")
    if request.n <= last.n:
        return _repeated(warm, request, last)
    since = warm.since(request.base)
    if request.n > last.n + 1 or since is None:
        return Answer("stale")
    for entry in since:
        if _identity(entry) == _identity(request):  # of a client that was renamed, of a copy of its tab, or forgotten since
            return entry
    # A copy of the tab of a client that was forgotten.
    if any(entry.client == request.client and entry.n >= request.n for entry in since):
        return Answer("forked")
    try:
        decided = warm.editing.resolve(warm.state, request, [entry for entry in since if entry.client != request.client])
    except Undecided as undecided:
        return Answer(undecided.code)
    at_ms = max(clock.now_ms(), warm.at_ms + 1)
    return LogEntry(
        warm.seq + 1, request.client, request.n, request.tag, by, at_ms, tuple(decided.effects), tuple(decided.outcomes),
        first=request.first,
    )


def _identity(one: EditRequest | LogEntry) -> tuple[str, str]:
    """By what a request is recognized in the log."""
    return one.first or one.client, one.tag


def _repeated(warm: WarmDraft[S], request: EditRequest, last: Last) -> LogEntry | Answer:
    if (request.n, request.tag) != (last.n, last.tag):
        return Answer("forked")
    found = warm.records.some_entries(last.seq - 1, 1)
    return found[0] if found and found[0].seq == last.seq else Answer("stale")
