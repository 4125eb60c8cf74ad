"""Signals from outside: how they are written down, and which fact each of them is.

A signal is put once per (kind, identity), and that is the whole single-use rule: the first answer to a pause is the one
that is in the inbox, and a deadline competes for the same key.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from stepless.core.facts import Answered, CancelRequested, ChildChanged, Expired, Fact, HoldChanged
from stepless.core.pauses import TIMEOUT
from stepless.core.state import State
from stepless.limits import MAX_UNMARKED_SIGNALS
from stepless.model.json import JSON
from stepless.ports import Signal

OutcomeOf = Callable[[str], tuple[JSON, Mapping[str, JSON] | None]]
ENDED = frozenset({"completed", "failed", "cancelled", "timed_out"})
RESUME = "resume"
CANCEL = "cancel"
CHILD = "child"
HOLD = "hold"


def answer_signal(pause: str, handle: str, answer: JSON, by: str | None, now_ms: int) -> Signal:
    """Somebody's answer to a pause."""
    return _signal(RESUME, pause, {"handle": handle, "answer": answer, "by": by, "at": now_ms}, now_ms)


def deadline_signal(pause: str, now_ms: int) -> Signal:
    """Nobody's answer: the pause's deadline has passed."""
    return _signal(RESUME, pause, {"handle": TIMEOUT, "at": now_ms}, now_ms)


def cancel_signal(by: str | None, reason: str | None, now_ms: int) -> Signal:
    return _signal(CANCEL, "run", {"by": by, "reason": reason, "at": now_ms}, now_ms)


def hold_signal(number: int, held: bool, by: str | None, reason: str | None, now_ms: int) -> Signal:
    """Somebody holds the run or releases it. The number is the identity: whoever asks at the same time asks for the same."""
    return _signal(HOLD, str(number), {"held": held, "by": by, "reason": reason, "at": now_ms}, now_ms)


def child_signal(instance: str, run_id: str, sequence: int, status: str, now_ms: int) -> Signal:
    """A child run's status after so many events; each change is a signal of its own."""
    return _signal(CHILD, f"{instance}#{sequence}", {"instance": instance, "run": run_id, "status": status}, now_ms)


def _signal(kind: str, identity: str, body: Mapping[str, JSON], now_ms: int) -> Signal:
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return Signal(kind, identity, data, now_ms)


def body_of(signal: Signal) -> Mapping[str, JSON]:
    body: Mapping[str, JSON] = json.loads(signal.body.decode("utf-8", "surrogatepass"))
    return body


def fact_of(signal: Signal, outcome_of: OutcomeOf) -> Fact | None:
    """What a signal tells the core; None for a kind that this version does not know. `outcome_of` reads what a child run that
    has ended came to."""
    body = body_of(signal)
    match signal.kind:
        case "child":
            output, error = outcome_of(body["run"]) if body["status"] in ENDED else (None, None)
            return ChildChanged(body["instance"], body["status"], output, error)
        case "resume" if body["handle"] == TIMEOUT:
            return Expired(signal.identity)
        case "resume":
            return Answered(signal.identity, body["handle"], body.get("answer"), body.get("by"), body.get("at"))
        case "cancel":
            return CancelRequested(body.get("by"), body.get("reason"))
        case "hold":
            return HoldChanged(int(signal.identity), body["held"], body.get("by"), body.get("reason"))
    return None


def holds_first(facts: Iterable[Fact]) -> list[Fact]:
    """A hold counts from when it was asked for, so it is taken before whatever is heard of with it; else in the same order."""
    return sorted(facts, key=lambda fact: not isinstance(fact, HoldChanged))


def is_worth_marking(told: Sequence[Signal]) -> bool:
    """Whether signals whose events are committed are to be marked taken. A mark is a write for each, and only spares later
    sessions to tell them again, which changes nothing: worth it for many, and for news of a child, whose log is read then."""
    return len(told) > MAX_UNMARKED_SIGNALS or any(signal.kind == CHILD for signal in told)


def orphaned_child(state: State, signal: Signal) -> str | None:
    """The child run that a signal tells of, if it is at work and its caller has settled: a process that was frozen made it."""
    if signal.kind != CHILD:
        return None
    body = body_of(signal)
    stray = body["status"] not in ENDED and body["instance"] not in state.waiting
    return str(body["run"]) if stray else None


def is_early(state: State, signal: Signal) -> bool:
    """Whether an answer came before its pause was recorded, or a change of the hold before the one that it follows: it is kept
    until then."""
    if signal.kind == HOLD:
        return int(signal.identity) > state.holds + 1 and not state.ended
    pause = signal.identity.partition("#")[0] if signal.kind == CHILD else signal.identity
    return signal.kind != CANCEL and pause not in state.waiting and not state.is_over(pause)


def split_by_timing(state: State, signals: Iterable[Signal]) -> tuple[list[Signal], list[Signal]]:
    """Those that are early, and the others, each in their order."""
    early: list[Signal] = []
    timely: list[Signal] = []
    for signal in signals:
        (early if is_early(state, signal) else timely).append(signal)
    return early, timely
