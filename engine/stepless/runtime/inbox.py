"""Encodes the signals from outside a run, and decodes each to the fact that it becomes.

The store keeps one signal per (kind, identity). This implements single use: the first answer to a pause is the one in the inbox,
and the deadline of the pause competes for the same key.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from stepless.core.deciding.pauses import TIMEOUT
from stepless.core.facts import Answered, CancelRequested, ChildChanged, Expired, Fact, HoldChanged, Received
from stepless.core.state import State
from stepless.limits import MAX_KNOWN_MESSAGES, MAX_MAILBOX, MAX_UNMARKED_SIGNALS
from stepless.model.json import JSON
from stepless.model.runs.statuses import ENDED
from stepless.model.stored.damage import decoding, json_object
from stepless.ports import ERASED, Signal
from stepless.ports import MESSAGE as MESSAGE


class ChildOutcome(NamedTuple):
    """How a child run has ended: its output, its error, and the cause of that as `retry_on` names it."""

    output: JSON = None
    error: Mapping[str, JSON] | None = None
    cause: str = ""


OutcomeOf = Callable[[str], ChildOutcome]
ValueOf = Callable[[str], Any]
_FIX = "restore the store from a backup, or erase the run; the run stays unchanged until then"
OVER = ENDED | {ERASED}
RESUME = "resume"
CANCEL = "cancel"
CHILD = "child"
HOLD = "hold"
BLOB = "blob"  # in the body of a large message: the key of the value that holds its `data` and `start`
RERUN = "rerun"  # never delivered: a note, in the inbox of a run, of a run that repeats it


def answer_signal(pause: str, handle: str, answer: JSON, by: str | None, now_ms: int) -> Signal:
    """Returns an answer to a pause, from a person or another system."""
    return _signal(RESUME, pause, {"handle": handle, "answer": answer, "by": by, "at": now_ms}, now_ms)


def deadline_signal(pause: str, now_ms: int) -> Signal:
    """Returns the signal that the deadline of the pause has passed without an answer."""
    return _signal(RESUME, pause, {"handle": TIMEOUT, "at": now_ms}, now_ms)


def cancel_signal(by: str | None, reason: str | None, now_ms: int) -> Signal:
    return _signal(CANCEL, "run", {"by": by, "reason": reason, "at": now_ms}, now_ms)


def hold_signal(number: int, held: bool, by: str | None, reason: str | None, now_ms: int) -> Signal:
    """Returns the signal by which an operator holds the run or releases it. The number is the identity, so concurrent requests
    compete for one change."""
    return _signal(HOLD, str(number), {"held": held, "by": by, "reason": reason, "at": now_ms}, now_ms)


def child_signal(instance: str, run_id: str, sequence: int, status: str, now_ms: int, *, first: bool = True) -> Signal:
    """Returns the signal of a child run's status after `sequence` events. Each change of status is a separate signal, also of
    each child run that an instance calls; `first` is false for those after the first."""
    identity = f"{instance}#{sequence}" if first else f"{instance}#{run_id}#{sequence}"
    return _signal(CHILD, identity, {"instance": instance, "run": run_id, "status": status}, now_ms)


def message_signal(
    identity: str, name: str, data: JSON, now_ms: int, *, key: str | None = None, by: str | None = None,
    start: JSON = None,
) -> Signal:
    """Returns a message for the run. `identity` names it among all messages of the run. `start` is None if the message starts no
    run, `{inputs}` if it does, and `{}` if its data are the inputs."""
    body = {"name": name, "data": data, "key": key, "by": by, "at": now_ms, **({"start": start} if start is not None else {})}
    return _signal(MESSAGE, identity, body, now_ms)


def rerun_note(number: int, run_id: str, now_ms: int) -> Signal:
    """Returns a note of the number-th rerun. It is stored as taken, so that no session reads it."""
    return _signal(RERUN, str(number), {"run": run_id}, now_ms)._replace(taken=True)


def _signal(kind: str, identity: str, body: Mapping[str, JSON], now_ms: int) -> Signal:
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return Signal(kind, identity, data, now_ms)


def body_of(signal: Signal) -> Mapping[str, JSON]:
    """Reads a signal. Raises `Damaged`."""
    return json_object(signal.body, _place_of(signal), _FIX)


def check_signal_body(signal: Signal) -> None:
    """Decodes a signal of any kind. Raises `Damaged`, or an error of `FAULTS`."""
    body = body_of(signal)
    needed: tuple[str, ...] = _NEEDED.get(signal.kind, ())
    missing = [name for name in needed if name not in body]
    if missing:
        raise ValueError(f"`{missing[0]}` is missing")
    if signal.kind in (HOLD, RERUN) and not signal.identity.isdecimal():
        raise ValueError("its identity is no number")


_NEEDED: Mapping[str, tuple[str, ...]] = {
    RESUME: ("handle",), CHILD: ("instance", "run", "status"), HOLD: ("held",), RERUN: ("run",), MESSAGE: ("name", "at"),
}  # what each kind of signal says


def _place_of(signal: Signal) -> str:
    return f"inbox.body of {signal.kind}/{signal.identity}"


def fact_of(signal: Signal, outcome_of: OutcomeOf, value_of: ValueOf) -> Fact | None:
    """Returns the fact that a signal becomes for the core; None for a kind that this version does not know. `outcome_of` reads
    the outcome of a child run that has ended, `value_of` a stored value."""
    body = body_of(signal)
    with decoding(signal.body, _place_of(signal), _FIX):
        return _fact(signal, body, outcome_of, value_of)


def whole_body(signal: Signal, value_of: ValueOf) -> Mapping[str, Any]:
    """Reads a message, with its stored value in place. Raises as `fact_of`."""
    body = body_of(signal)
    return {**body, **value_of(body[BLOB])} if BLOB in body else body


def _fact(signal: Signal, body: Mapping[str, Any], outcome_of: OutcomeOf, value_of: ValueOf) -> Fact | None:
    match signal.kind:
        case "child":
            output, error, cause = outcome_of(body["run"]) if body["status"] in ENDED else ChildOutcome()
            return ChildChanged(body["instance"], body["status"], output, error, body["run"], cause)
        case "resume" if body["handle"] == TIMEOUT:
            return Expired(signal.identity)
        case "resume":
            return Answered(signal.identity, body["handle"], body.get("answer"), body.get("by"), body.get("at"))
        case "cancel":
            return CancelRequested(body.get("by"), body.get("reason"))
        case "message":
            said = whole_body(signal, value_of)
            return Received(signal.identity, said["name"], said["data"], said.get("key"), said.get("by"), said["at"])
        case "hold":
            return HoldChanged(int(signal.identity), body["held"], body.get("by"), body.get("reason"))
    return None


def holds_first(facts: Iterable[Fact]) -> list[Fact]:
    """Returns the facts with changes of the hold first, otherwise in the same order: a hold takes effect before facts read with
    it."""
    return sorted(facts, key=lambda fact: not isinstance(fact, HoldChanged))


def is_worth_marking(signals: Sequence[Signal]) -> bool:
    """Returns whether to mark signals as taken after their events are committed. A mark costs one write per signal. Without it,
    later sessions process the signals again, without effect. Marking pays off for many signals, and for signals of a child run,
    whose log is read each time. Messages are always marked: `core/mailbox.py` says why."""
    return len(signals) > MAX_UNMARKED_SIGNALS or any(signal.kind in (CHILD, MESSAGE) for signal in signals)


def orphaned_child(state: State, signal: Signal) -> str | None:
    """Returns the child run that sent the signal, if it is still running and its caller has settled or waits for another one: a
    frozen process started it, or the attempt that waited for it has ended."""
    if signal.kind != CHILD:
        return None
    body = body_of(signal)
    caller = state.waiting.get(body["instance"])
    waits = caller is not None and caller.wait is not None and caller.wait.details.get("run") in (None, body["run"])
    return str(body["run"]) if body["status"] not in ENDED and not waits else None


def is_early(state: State, signal: Signal) -> bool:
    """Returns whether an answer arrived before its pause was recorded, or a change of the hold before the one with the preceding
    number. Such a signal is kept until then."""
    if signal.kind == HOLD:
        number = int(signal.identity) if signal.identity.isdecimal() else 0  # damaged: told when it is taken
        return number > state.holds + 1 and not state.ended
    pause = signal.identity.partition("#")[0] if signal.kind == CHILD else signal.identity
    return signal.kind not in (CANCEL, MESSAGE) and pause not in state.waiting and not state.is_over(pause)


class Split(NamedTuple):
    """Signals in their original order. `more`: some of the early ones can be taken when the timely ones are marked."""

    early: list[Signal]
    timely: list[Signal]
    more: bool


def split_by_timing(state: State, signals: Sequence[Signal]) -> Split:
    """Parts signals into those to take now, and those to keep: early ones, messages for which the mailbox has no space, and what
    follows MAX_KNOWN_MESSAGES messages. Messages that the run has received come first and alone: they are to be marked before
    others are taken (`core/mailbox.py`)."""
    found = Split([], [], False)
    knows = state.mailbox.knows
    received = {signal.identity for signal in signals if signal.kind == MESSAGE and knows(signal.identity)}
    space, left = MAX_MAILBOX - len(state.mailbox), 0 if received else MAX_KNOWN_MESSAGES
    for signal in signals:
        is_message = signal.kind == MESSAGE
        if is_message and signal.identity in received:
            found.timely.append(signal)
        elif not left:
            found.early.append(signal)
            found = found._replace(more=True)
        elif is_early(state, signal) or (is_message and space <= 0 and not _is_awaited(state, signal)):
            found.early.append(signal)
        else:
            found.timely.append(signal)
            space, left = space - is_message, left - is_message
    return found


def _is_awaited(state: State, signal: Signal) -> bool:
    """Whether a node waits for a message of this name, or it cancels the run: it is taken even while the mailbox is full, or the
    run would wait for ever for what is in its inbox."""
    awaited = state.receivers.keys() | state.graph.cancel_on
    return bool(awaited) and body_of(signal).get("name") in awaited
