"""Says which settings of a node its kind obeys. A document that has another one is refused, and editors do not offer it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from stepless.model.kind import Kind, Nature

_Rule = Callable[[Kind], bool]


def _makes_attempts(kind: Kind) -> bool:
    return kind.nature is Nature.EFFECT


def _repeats(kind: Kind) -> bool:
    return kind.nature is Nature.EFFECT or kind.encloses


def _joins(kind: Kind) -> bool:
    return kind.nature is not Nature.ENTRY


_RULES: Final[Mapping[str, _Rule]] = {
    **dict.fromkeys(("retry", "timeout_ms"), _repeats),
    **dict.fromkeys(("delivery", "moderation", "moderation_on_error", "concurrency", "rate"), _makes_attempts),
    **dict.fromkeys(("join", "merge", "on_parent_failure", "default"), _joins),
    "inputs": lambda kind: kind.nature is Nature.ENTRY,
    "output_contract": lambda kind: not kind.always_fails,
}
"""By the name of the setting in a document. Nodes of all kinds obey a setting that is not listed."""


def obeys(kind: Kind, setting: str) -> bool:
    """Returns whether the setting has an effect on nodes of the kind."""
    rule = _RULES.get(setting)
    return rule is None or rule(kind)
