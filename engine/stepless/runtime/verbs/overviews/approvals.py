"""Approvals: the open questions of all runs, and the decisions that people made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from stepless.errors import Gone, LogUnreadable, NotFound
from stepless.limits import MAX_NOTED_PAUSES, NEVER_MS
from stepless.ports import RunFilter, RunHead
from stepless.runtime.access.tokens import Signer
from stepless.runtime.header_notes import pauses_of
from stepless.runtime.inbox import OVER
from stepless.runtime.verbs.heads import read_heads
from stepless.runtime.verbs.inspecting import OpenPause, overview
from stepless.runtime.world import World

_REASON = "human_input"


class Question(NamedTuple):
    """An open question of a run; the token of its pause answers it."""

    head: RunHead
    pause: OpenPause


class Questions(NamedTuple):
    """`items`: the nearest deadline first, then those without one, the newest first. `total` is how many there are in all, and
    `more` that there may be others: not all runs were searched, or a run has more than its header notes. `unreadable` are runs
    that wait for answers and whose log cannot be read."""

    items: Sequence[Question]
    total: int
    more: bool
    unreadable: Sequence[str]


def approvals(
    world: World, signer: Signer, *, workflow: str | None = None, limit: int = 100, approver: str | None = None
) -> Questions:
    """The first `limit` open questions for people. With `approver`, the links record this person as the decider. Reads the log of
    each run with a question among them."""
    found = read_heads(world, RunFilter(workflow, waiting="answer"), published=False)
    asking = [(noted, head) for head in found.items if head.status not in OVER and (noted := _noted(head)) is not None]
    asking.sort(key=lambda one: (one[0].first_ms, -one[1].updated_ms, one[1].run_id))
    count, more = 0, found.more
    items, unreadable, due_ms = list[Question](), list[str](), NEVER_MS
    for noted, head in asking:
        count, more = count + noted.known, more or noted.known >= MAX_NOTED_PAUSES
        if len(items) >= limit and noted.first_ms >= due_ms:
            continue
        try:
            view = overview(world, signer, head.run_id)
        except LogUnreadable:
            unreadable.append(head.run_id)
            continue
        except (NotFound, Gone):  # removed meanwhile
            continue
        asked = [Question(view.head, _signed(signer, pause, approver)) for pause in view.pauses if pause.reason == _REASON]
        count += len(asked) - noted.known  # the log knows more than five, and what was answered meanwhile
        items += asked
        if len(items) >= limit:
            items.sort(key=_order)
            del items[limit:]
            due_ms = items[-1].pause.deadline_ms or NEVER_MS
    items.sort(key=_order)
    return Questions(items, max(count, len(items)), more, unreadable)


class _Noted(NamedTuple):
    first_ms: int  # the nearest deadline
    known: int


def _noted(head: RunHead) -> _Noted | None:
    """What the header notes of its questions for people; None if it has none. A header of a release that noted nothing counts as
    one question, which the log then corrects."""
    pauses = pauses_of(head)
    if not pauses:
        return _Noted(NEVER_MS, 1)
    asked = [pause for pause in pauses if pause["reason"] == _REASON]
    if not asked and len(pauses) < MAX_NOTED_PAUSES:
        return None
    return _Noted(min((int(pause.get("deadline") or NEVER_MS) for pause in asked), default=NEVER_MS), len(asked))


def _order(question: Question) -> tuple[int, int, str, str]:
    pause = question.pause
    return (pause.deadline_ms or NEVER_MS, -pause.since_ms, question.head.run_id, pause.pause)


def _signed(signer: Signer, pause: OpenPause, approver: str | None) -> OpenPause:
    if approver is None or pause.token is None:
        return pause
    return replace(pause, token=signer.sign(replace(signer.read(pause.token), approver=approver)))
