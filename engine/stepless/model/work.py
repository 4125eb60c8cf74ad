"""How an attempt of an effectful node ends: in a `Result`, or in a `NodeFailure` with its cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from stepless.model.json import JSON
from stepless.model.kind import SOURCE

CAUSES: Final[Mapping[str, str]] = MappingProxyType({
    "timeout": "no answer in time",
    "rate_limit": "the other side asked to come back later",
    "provider_error": "the other side failed, or could not be reached; also a function that raised an exception of its own",
    "moderation": "the input or the output was flagged, or could not be moderated",
    "contract_violated": "the output breaks its contract",
    "http_error": "the other side refused the request",
    "execution": "the work ran, and its result cannot be used",
    "config": "the parameters do not fit once references are filled in",
})
"""Every cause, with its meaning: what `retry_on` may name."""


_NOTHING: Final[Mapping[str, int]] = MappingProxyType({})


@dataclass(slots=True)
class Result:
    """What an attempt puts out: the exit it leaves by, the run variables it writes, and what it used up (tokens…). Never changed
    after it was made."""

    value: JSON = None
    handle: str = SOURCE
    variables: Mapping[str, JSON] = field(default_factory=dict)
    usage: Mapping[str, JSON] = field(default_factory=dict)


class NodeFailure(Exception):
    """An attempt that failed. User functions may raise it too, to say more than an ordinary exception can.

    `cause` is one of CAUSES and decides by `retry_on` whether there is another attempt; `retryable` False forbids one
    whatever `retry_on` says. `retry_after_ms` is the least delay before it. `code` is a stable word for `error` edges. `usage`
    is what the attempt used up all the same (tokens…). `origin` is the exception in author code that it stands for, or
    what `raised.told` said of it in another process. `phase` says of a moderation which side of the work was flagged, `input` or
    `output`.
    """

    def __init__(
        self, cause: str, code: str, message: str, *, retry_after_ms: int | None = None, retryable: bool = True, mend: str = "",
        usage: Mapping[str, int] = _NOTHING, origin: BaseException | Mapping[str, JSON] | None = None, phase: str = "",
    ) -> None:
        super().__init__(message)
        if cause not in CAUSES:
            raise ValueError(f"{cause!r} is no cause of failure; it is one of {', '.join(CAUSES)}")
        self.cause = cause
        self.code = code
        self.message = message
        self.retry_after_ms = retry_after_ms
        self.retryable = retryable
        self.mend = mend
        self.usage = usage
        self.origin = origin
        self.phase = phase

    def __str__(self) -> str:
        return f"{self.message} ({self.mend})" if self.mend else self.message


def added(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Two usages together, by name."""
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def passed_through(inputs: Mapping[str, JSON]) -> JSON:
    """What a node puts out that adds nothing of its own: the value itself when `input` is its only param, else all by
    param; None when nothing arrived."""
    if len(inputs) == 1 and "input" in inputs:
        return inputs["input"]
    return dict(inputs) or None
