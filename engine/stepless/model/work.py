"""Defines how an attempt of an effectful node ends: with a `Result`, or with a `NodeFailure` and its cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from stepless.errors import ConfigError
from stepless.model.json import JSON
from stepless.model.kind import SOURCE

CAUSES: Final[Mapping[str, str]] = MappingProxyType({
    "timeout": "no answer in time",
    "rate_limit": "the remote service asked to retry later",
    "provider_error": "the remote service failed or could not be reached; also a function that raised its own exception",
    "moderation": "the input or the output was flagged, or could not be moderated",
    "contract_violated": "the output violates its contract",
    "http_error": "the remote service rejected the request",
    "execution": "the work ran, but its result cannot be used",
    "config": "the parameters are invalid after references were resolved",
})
"""Every cause that `retry_on` may name, with its meaning."""


_NOTHING: Final[Mapping[str, int]] = MappingProxyType({})


@dataclass(slots=True)
class Result:
    """The result of an attempt: its output, the exit it takes, the run variables it writes, and its usage (tokens…).
    Immutable."""

    value: JSON = None
    handle: str = SOURCE
    variables: Mapping[str, JSON] = field(default_factory=dict)
    usage: Mapping[str, JSON] = field(default_factory=dict)


class NodeFailure(Exception):
    """A failed attempt. User functions may raise it too, to give a cause and a code.

    `cause` is one of CAUSES; `retry_on` lists the causes that allow another attempt. `retryable` False forbids one, whatever
    `retry_on` lists. `retry_after_ms` is the minimum delay before it. `code` is a stable word for `error` edges. `usage` is what
    the attempt used nevertheless (tokens…). `origin` is the exception in author code behind the failure, or its description by
    `raised.described` in another process. For a moderation, `phase` says what was flagged: `input` or `output`.
    """

    def __init__(
        self, cause: str, code: str, message: str, *, retry_after_ms: int | None = None, retryable: bool = True, mend: str = "",
        usage: Mapping[str, int] = _NOTHING, origin: BaseException | Mapping[str, JSON] | None = None, phase: str = "",
    ) -> None:
        super().__init__(message)
        if cause not in CAUSES:
            raise ValueError(f"{cause!r} is not a cause of failure; use one of {', '.join(CAUSES)}")
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


def misconfigured(error: ConfigError) -> NodeFailure:
    """Returns the failure of an attempt whose parameters or settings are invalid: config, not retryable, with the error's
    code."""
    return NodeFailure("config", error.code, f"{error.place}: {error.message}", retryable=False, mend=error.mend)


def added(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Returns the sum of two usages, by name."""
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def passed_through(inputs: Mapping[str, JSON]) -> JSON:
    """Returns the output of a node that passes its inputs through: the value itself if `input` is its only param, else all values
    by param; None without inputs."""
    if len(inputs) == 1 and "input" in inputs:
        return inputs["input"]
    return dict(inputs) or None
