"""Lists the open questions of all runs, and the decisions that people made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from stepless.errors import Gone, LogUnreadable, NotFound
from stepless.limits import MAX_NOTED_PAUSES, NEVER_MS
from stepless.model.stored.cursors import decode_cursor, encode_cursor
from stepless.ports import RunFilter, RunHead
from stepless.runtime.access.deciders import Decider, approvers_of, is_assigned
from stepless.runtime.access.tokens import Signer
from stepless.runtime.header_notes import pauses_of
from stepless.runtime.inbox import OVER
from stepless.runtime.verbs.changes.answering import linked
from stepless.runtime.verbs.reads.header_reads import read_heads
from stepless.runtime.verbs.reads.inspecting import OpenPause, graph_of, overview
from stepless.runtime.world import World

_REASON = "human_input"


class Question(NamedTuple):
    """An open question of a run; the token of its pause answers it."""

    head: RunHead
    pause: OpenPause
    name: str  # of the workflow


class Questions(NamedTuple):
    """`items`: the nearest deadline first, then those without one, the newest first. `total` is how many there are in all, and
    `more` that there may be others: not all runs were searched, or a run has more than its header notes. `unreadable` are runs
    that wait for answers and whose log cannot be read. `following` says whether other questions come after `items`:
    `cursor_after` the last of them continues."""

    items: Sequence[Question]
    total: int
    more: bool
    unreadable: Sequence[str]
    following: bool


_Key = tuple[int, int, str, str]  # the deadline, the beginning (the newest first), the run, the pause
_FIRST: Final[_Key] = (-1, 0, "", "")
_LAST: Final[_Key] = (NEVER_MS + 1, 0, "", "")


def approvals(
    world: World, signer: Signer, *, workflow: str | None = None, limit: int = 100, cursor: str | None = None,
    decider: Decider, due_ms: int | None = None, assigned: bool = False,
) -> Questions:  # fmt: skip
    """Returns the first `limit` open questions for people, after those that a cursor has listed. A question keeps its place in
    the list: a caller that follows the cursors sees each that is open throughout once. The links are those of `decider`, who may
    not answer all. `due_ms` asks for those with a deadline up to then, `assigned` for those whose approvers name `decider`;
    `total` then counts those that were read. Reads the log of each run with a question among them, and of each run that may have
    more than its header notes. Raises `InvalidRequest` (invalid_cursor)."""
    after: _Key = _FIRST if cursor is None else decode_cursor(cursor, int, int, str, str)
    found = read_heads(world, RunFilter(workflow, waiting="answer"), published=False)
    asking = [(noted, head) for head in found.items if head.status not in OVER and (noted := _noted(head)) is not None]
    if due_ms is not None:
        asking = [one for one in asking if one[0].first[0] <= due_ms]
    asking.sort(key=lambda one: (one[0].first, one[1].run_id))
    is_filtered = due_ms is not None or assigned
    count, more, following = 0, found.more, False
    items, unreadable, end = list[Question](), list[str](), _LAST
    for noted, head in asking:
        count, more = count + (0 if is_filtered else noted.known), more or noted.known >= MAX_NOTED_PAUSES
        if noted.last <= after:
            continue
        if len(items) >= limit and noted.first >= end:
            following, more = True, more or is_filtered
            continue
        try:
            view = overview(world, signer, head.run_id)
        except LogUnreadable:
            unreadable.append(head.run_id)
            continue
        except (NotFound, Gone):  # removed meanwhile
            continue
        pauses = [pause for pause in view.pauses if pause.reason == _REASON and _fits(pause, decider, due_ms, assigned)]
        name = graph_of(world, view.head).name if pauses else ""
        asked = [Question(view.head, linked(signer, pause, decider, bound=True), name) for pause in pauses]
        count += len(asked) - (0 if is_filtered else noted.known)  # the log knows more than five, and what was answered meanwhile
        items += (question for question in asked if _order(question) > after)
        if len(items) >= limit:
            items.sort(key=_order)
            following = following or len(items) > limit
            del items[limit:]
            end = _order(items[-1])
    items.sort(key=_order)
    return Questions(items, max(count, len(items)), more, unreadable, following)


def _fits(pause: OpenPause, decider: Decider, due_ms: int | None, assigned: bool) -> bool:
    is_due = due_ms is None or (pause.deadline_ms is not None and pause.deadline_ms <= due_ms)
    return is_due and (not assigned or is_assigned(decider, approvers_of(pause.details)))


def cursor_after(question: Question) -> str:
    """Continues the list after a question."""
    return encode_cursor(*_order(question))


class _Noted(NamedTuple):
    first: _Key  # the place of the first question in the list; of a run that may have others than those noted, before all
    last: _Key
    known: int


def _noted(head: RunHead) -> _Noted | None:
    """What the header notes of its questions for people; None if it has none. A header of a release that noted nothing counts as
    one question, which the log then corrects."""
    pauses = pauses_of(head)
    asked = [pause for pause in pauses if pause["reason"] == _REASON]
    if not pauses or len(pauses) >= MAX_NOTED_PAUSES:
        return _Noted(_FIRST, _LAST, len(asked) if pauses else 1)
    keys = [_place(int(one.get("deadline") or NEVER_MS), int(one["since"]), head.run_id, str(one["pause"])) for one in asked]
    return _Noted(min(keys), max(keys), len(keys)) if keys else None


def _order(question: Question) -> _Key:
    pause = question.pause
    return _place(pause.deadline_ms or NEVER_MS, pause.since_ms, question.head.run_id, pause.pause)


def _place(deadline_ms: int, since_ms: int, run_id: str, pause: str) -> _Key:
    return (deadline_ms, -since_ms, run_id, pause)
