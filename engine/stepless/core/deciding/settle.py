"""Ends an attempt: by completion, another attempt or failure (docs/understand/semantics.md#attempts)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zlib import crc32

from stepless.core.decision import Decision, iso
from stepless.core.events import EventType
from stepless.core.facts import Failure
from stepless.core.state import SUBRUN, Instance, State, is_effect, is_enclosing
from stepless.limits import MAX_RETRY_AFTER_MS
from stepless.model.declaration.policies import Retry
from stepless.model.json import JSON
from stepless.model.kind import SOURCE, Outcome

_NOTHING: Mapping[str, int] = {}
CONTRACT_CODES = frozenset({"contract_violated", "output_contract_violation"})


def complete(
    decision: Decision, instance: Instance, outcome: Outcome, *, usage: Mapping[str, int] | None = None, chance: float = 1.0
) -> None:
    """Settles an instance as completed, unless its output violates its contract or it names an exit that does not exist."""
    node = instance.node
    handle = outcome.handle
    if handle is not None and handle != SOURCE and handle not in node.exits:
        known = ", ".join(node.exits)
        message = f"{handle!r} is not one of its exits, which are {known}"
        fail(decision, instance, Failure("unknown_route", "unknown_route", message))
        return
    if node.output_contract is not None and node.enabled:
        violations = node.output_contract.violations(outcome.value)
        if violations:
            decision.emit(EventType.CONTRACT_VIOLATED, instance, {"phase": "output", "violations": list(violations)})
            failure = Failure("contract_violated", "output_contract_violation", violations[0])
            attempt_failed(decision, instance, failure, chance, usage or _NOTHING)
            return
    data: dict[str, Any] = {} if instance.iterations is not None else {"output": outcome.value}
    if handle != SOURCE:
        data["handle"] = handle
    if outcome.variables:
        data["variables"] = dict(outcome.variables)
    if outcome.respond is not None:
        data["response"] = outcome.respond
    if outcome.halt:
        data["halt"] = True
    if outcome.break_loop:
        data["break"] = True
    if usage:
        data["usage"] = dict(usage)
    if node.pinned:
        data["pinned"] = True
    decision.emit(EventType.NODE_COMPLETED, instance, data)


def attempt_failed(
    decision: Decision, instance: Instance, failure: Failure, chance: float, usage: Mapping[str, int] = _NOTHING
) -> None:
    """Schedules another attempt after a back-off if one is left and `retry_on` lists the cause; otherwise fails the instance,
    also if the service asks for a longer delay than is allowed. Records the usage of the failed attempt."""
    retry, attempt = instance.node.retry, instance.attempt
    if attempt >= retry.attempts or not _is_retried(instance, failure) or decision.state.halting:
        fail(decision, instance, failure, usage)
        return
    delay_ms = backoff_ms(retry, attempt, chance)
    if failure.retry_after_ms is not None:
        longest_ms = max(retry.max_backoff_ms, MAX_RETRY_AFTER_MS)
        if failure.retry_after_ms > longest_ms:
            message = f"it asks for a retry after {failure.retry_after_ms:,} ms, and the longest delay is {longest_ms:,} ms"
            fail(decision, instance, failure._replace(code="rate_limit", message=f"{message}: {failure.message}"), usage)
            return
        delay_ms = max(delay_ms, failure.retry_after_ms)
    data: dict[str, JSON] = {
        "attempt": attempt,
        "cause": failure.cause,
        "code": failure.code or failure.cause,
        "message": failure.message,
        "delay_ms": delay_ms,
        "resume_at": decision.now_ms + delay_ms,
    }
    if usage:
        data["usage"] = dict(usage)
    if failure.exception is not None:
        data["exception"] = dict(failure.exception)
    if instance.wait is not None and instance.wait.reason == SUBRUN:
        data["run"] = instance.wait.details.get("run")  # the next attempt starts another child run
    decision.emit(EventType.NODE_RETRIED, instance, data)


def _is_retried(instance: Instance, failure: Failure) -> bool:
    """Whether `retry_on` lists the cause. An attempt that encloses other work fails by what failed inside of it."""
    listed = instance.node.retry.retry_on
    if is_effect(instance) and not is_enclosing(instance):
        return failure.cause in listed
    if not instance.node.whole:
        return False
    return failure.cause in listed or failure.inner in listed


def drawn(state: State, instance: Instance) -> float:
    """Returns the factor in [0, 1] of the next back-off of an attempt whose end no fact reports: the same for every process that
    decides it, and different for other runs, instances and attempts."""
    return crc32(f"{state.run_id}:{instance.id}:{instance.attempt}".encode("utf-8", "surrogatepass")) / 0xFFFFFFFF


def backoff_ms(retry: Retry, attempt: int, chance: float) -> int:
    """Returns the exponential back-off with jitter on one half: min(max, base·2^(attempt−1))·(0.5 + chance·0.5), in whole
    milliseconds."""
    ceiling = min(retry.max_backoff_ms, retry.backoff_ms << min(attempt - 1, 40))
    return round(ceiling * (0.5 + chance * 0.5))


def fail(decision: Decision, instance: Instance, failure: Failure, usage: Mapping[str, int] = _NOTHING) -> None:
    """Settles an instance as failed."""
    code = failure.code or failure.cause
    error: dict[str, JSON] = {
        "class": failure.family,
        "code": code,
        "message": failure.message or code.replace("_", " "),
        "node": instance.id,
        "attempt": instance.attempt,
        "retryable": failure.cause in instance.node.retry.retry_on,
        "at": iso(decision.now_ms),
    }
    if failure.causes:
        error["causes"] = list(failure.causes)
    if failure.family == "policy":
        phase = failure.phase or ("input" if instance.node.moderation == "input" else "output")
        decision.emit(EventType.MODERATION_FLAGGED, instance, {"phase": phase, "code": code, "message": failure.message})
    data: dict[str, JSON] = {"error": error}
    if (cause := failure.inner or failure.cause) != code:
        data["cause"] = cause
    if usage:
        data["usage"] = dict(usage)
    if failure.exception is not None:  # not in the error: errors on edges and inside other errors carry no traceback
        data["exception"] = dict(failure.exception)
        error["event"] = decision.state.sequence + 1
    decision.emit(_failure_event(code, failure), instance, data)


def _failure_event(code: str, failure: Failure) -> EventType:
    if code == "timeout":
        return EventType.NODE_TIMED_OUT
    if failure.family == "policy":
        return EventType.NODE_BLOCKED
    if code in CONTRACT_CODES or failure.cause in CONTRACT_CODES:
        return EventType.NODE_INVALIDATED
    return EventType.NODE_FAILED


def processing(code: str, message: str) -> Failure:
    """Returns a failure that a retry cannot fix: the author must change the node."""
    return Failure("config", code, message, "processing")
