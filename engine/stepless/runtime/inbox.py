"""Signals from outside: how they are written down, and which fact each of them is.

A signal is put once per (kind, identity), and that is the whole single-use rule: the first answer to a pause is the one
that is in the inbox, and a deadline competes for the same key.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from stepless.core.facts import Answered, CancelRequested, ChildChanged, Expired, Fact
from stepless.core.pauses import TIMEOUT
from stepless.core.state import State
from stepless.model.json import JSON
from stepless.ports import Signal

OutcomeOf = Callable[[str], tuple[JSON, Mapping[str, JSON] | None]]
ENDED = frozenset({"completed", "failed", "cancelled", "timed_out"})
RESUME = "resume"
CANCEL = "cancel"
CHILD = "child"


def answer_signal(pause: str, handle: str, answer: JSON, by: str | None, now_ms: int) -> Signal:
    """Somebody's answer to a pause."""
    return _signal(RESUME, pause, {"handle": handle, "answer": answer, "by": by, "at": now_ms}, now_ms)


def deadline_signal(pause: str, now_ms: int) -> Signal:
    """Nobody's answer: the pause's deadline has passed."""
    return _signal(RESUME, pause, {"handle": TIMEOUT, "at": now_ms}, now_ms)


def cancel_signal(by: str | None, reason: str | None, now_ms: int) -> Signal:
    return _signal(CANCEL, "run", {"by": by, "reason": reason, "at": now_ms}, now_ms)


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
            return Answered(signal.identity, body["handle"], body.get("answer"), body.get("by"))
        case "cancel":
            return CancelRequested(body.get("by"), body.get("reason"))
    return None


def stray_child(state: State, signal: Signal) -> str | None:
    """The child run that a signal tells of, if it is at work and its caller has settled: a process that was frozen made it."""
    if signal.kind != CHILD:
        return None
    body = body_of(signal)
    stray = body["status"] not in ENDED and body["instance"] not in state.waiting
    return str(body["run"]) if stray else None


def is_early(state: State, signal: Signal) -> bool:
    """Whether an answer came before its pause was recorded: it is kept until then."""
    pause = signal.identity.partition("#")[0] if signal.kind == CHILD else signal.identity
    return signal.kind != CANCEL and pause not in state.waiting and not state.is_over(pause)
