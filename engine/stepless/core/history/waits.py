"""Describes what a run waits for: with fixed words for programs, and with a phrase for people. It does not change the status."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from stepless.core.decision import iso
from stepless.core.state import RUN_TERMINAL, RunStatus, State

HELD: Final = "held"  # by an operator: nothing new starts
ANSWER: Final = "answer"  # from a person, or from a program that calls back
TIME: Final = "time"  # an instant
RETRY: Final = "retry"  # the next attempt of a failed node
CHILD: Final = "child"  # a child run
LIMIT: Final = "limit"  # a slot or an instant of a limit per key
MESSAGE: Final = "message"
START: Final = "start"  # the instant at which it is to begin
WORDS: Final = (HELD, ANSWER, TIME, RETRY, CHILD, LIMIT, MESSAGE, START)

_FAILED: Final = "failed:"  # before the failed node of a run that has failed, or the number of them in one that completed

_BY_REASON: Final[Mapping[str, str]] = {
    "human_input": ANSWER, "callback": ANSWER, "timer": TIME, "subrun": CHILD, "retry_backoff": RETRY, "limit": LIMIT,
    "message": MESSAGE,
}  # fmt: skip
_PHRASES: Final[Mapping[str, str]] = {
    ANSWER: "for an answer", RETRY: "for a retry", CHILD: "for a child run", LIMIT: "for a limit", MESSAGE: "for a message",
}  # fmt: skip
_ENDED: Final = frozenset(status.value for status in RUN_TERMINAL)


def word_of(reason: str) -> str:
    """Returns the word for why an instance waits."""
    return _BY_REASON.get(reason, ANSWER)


def waits_of(state: State) -> tuple[str, ...]:
    """Returns the reasons why a run waits, in the order of WORDS; empty after its end."""
    if state.ended:
        return ()
    found = {word_of(one.wait.reason) for one in state.waiting.values() if one.wait is not None}
    if state.backing_off:
        found.add(RETRY)
    if state.limited or state.paced:
        found.add(LIMIT)
    if state.held is not None:
        found.add(HELD)
    return tuple(word for word in WORDS if word in found)


def header_words(state: State) -> str:
    """Returns the text that the header of a run keeps: `waits_of`, after a failure the node that failed, after completion how
    many nodes failed. All ride in a write that is made anyway, and the release before ignores the words of a run that has
    ended."""
    if state.status is RunStatus.COMPLETED and state.failures:
        return f"{_FAILED}{state.failures}"
    if state.status is not RunStatus.FAILED:
        return " ".join(waits_of(state))
    node = (state.ending_error or state.root.error or {}).get("node")
    return f"{_FAILED}{node}" if node else ""


def failed_node(words: str) -> str | None:
    """Returns the failed node in the words of a header, None if they name none."""
    return words.removeprefix(_FAILED) if words.startswith(_FAILED) else None


def failures_in(words: str) -> int:
    """Returns how many nodes failed in a completed run, by the words of its header; 0 if they do not say."""
    count = words.removeprefix(_FAILED)
    return int(count) if words.startswith(_FAILED) and count.isdecimal() else 0


def until_of(state: State) -> int | None:
    """Returns the first instant that a run waits for, whatever else it waits for."""
    instants = [one.wait.resume_at_ms for one in state.waiting.values() if one.wait is not None]
    return min((instant for instant in instants if instant is not None), default=None)


def summary(status: str, waits: Collection[str], *, busy: bool, until_ms: int | None = None, failures: int = 0) -> str:
    """Returns a run's present state for people: its status, or `held`, `waiting for an answer`, `waiting until
    2026-01-31T12:00:00.000Z`, `waiting for a retry`, `waiting for a child run`, `waiting for a limit`, `waiting for a message`,
    and of one that is to start later, `created, waiting until` the instant. With `busy`, attempts are in progress as well. A run
    that completed although nodes failed is `completed, 4 failed`."""
    if status == RunStatus.COMPLETED.value and failures:
        return f"{status}, {failures:,} failed"
    if status in _ENDED or not waits:
        return status.replace("_", " ")
    until = f"until {iso(until_ms)}" if until_ms is not None else "for a time"
    parts = [_PHRASES.get(word, until) for word in WORDS if word in waits and word != HELD]
    phrases = [RunStatus.RUNNING.value] if busy else [status] if START in waits else []
    phrases += [HELD] if HELD in waits else []
    phrases += [f"waiting {' and '.join(parts)}"] if parts else []
    return ", ".join(phrases)
