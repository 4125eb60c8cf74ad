"""Defines the kind `fail`, which fails with a code and a message, or again with the error of another node."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field

from stepless.errors import ConfigError
from stepless.limits import MAX_ERROR_CHARACTERS, MAX_ID_CHARACTERS
from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.model.kind import Failing, Kind, Nature, Outcome, Work
from stepless.nodes.params import Params, exactly_one, rendered

_FACTS: Final = ("class", "code", "message", "node")
"""The texts that every error of a node or a run has."""


class FailParams(Params):
    """Exactly one of `code` and `error` says what the failure is."""

    code: str | None = Field(None, min_length=1, max_length=MAX_ID_CHARACTERS)
    """The code of the failure, like `card_declined`. Error edges and callers can branch on it."""
    message: str | None = None
    """What happened, for people. Without it, the code in words."""
    error: dict[str, Any] | None = None
    """The error of another node, as its `error` edge carries it: the node fails with the same code and message, and the run
    reports the original failure."""


def no_exits(params: FailParams) -> tuple[str, ...]:
    return ()


def check(params: FailParams, path: str) -> list[Finding]:
    findings = exactly_one(params, path, ("code", "error"))
    if params.error is not None and params.message is not None:
        message = "`error` has a message of its own, and `message` contradicts it"
        findings.append(Finding("contradiction", f"{path}.message", message, "Keep `error`, or write `code` and `message`."))
    return findings


def evaluate(work: Work) -> Outcome:
    """Raises `ConfigError` for parameters that do not fit, and for an `error` without a code."""
    params = rendered(FailParams, work.params, check=check)
    error = params.error
    if error is None:
        return Outcome(failure=Failing(params.code or "", _cut(params.message)))
    code = error.get("code")
    if not isinstance(code, str) or not code:
        mend = "give it the error of a node, such as `<pay.error>` behind an error edge"
        raise ConfigError("`error` has no `code`", place="with.error", mend=mend)
    return Outcome(failure=Failing(code, _cut(error.get("message")), _root(error)))


def _cut(message: JSON) -> str:
    return message[:MAX_ERROR_CHARACTERS] if isinstance(message, str) else ""


def _root(error: JSON) -> JSON:
    """The failure that the error results from, without causes of its own; None for an object that is no error of the engine."""
    root = None
    while isinstance(error, dict) and all(isinstance(error.get(fact), str) for fact in _FACTS):
        root, causes = error, error.get("causes")
        error = causes[0] if isinstance(causes, list) and causes else None
    return None if root is None else {fact: value for fact, value in root.items() if fact != "causes"}


KIND = Kind(
    "fail", Nature.PURE, FailParams, "fails with a code and a message, or with the error of another node",
    exits=no_exits, evaluate=evaluate, check=check, terminal=True, always_fails=True,
    brief=("code", "message"),
    icon="M5.500 2h5L14 5.500v5L10.500 14h-5L2 10.500v-5L5.500 2ZM6 6l4 4M10 6l-4 4",
)
