"""What a registered callable takes, for those who judge a document that calls it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from stepless.model.json import JSON
from stepless.model.misfits import Misfit


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters that can be given by name, in the callable's own order. With `takes_any` others are taken too; `filled_in`
    is the one that the engine gives. `misfits` tells what is wrong with a value for one of them, as a call would find it."""

    parameters: tuple[str, ...]
    required: frozenset[str]
    takes_any: bool
    filled_in: str | None
    misfits: Callable[[str, JSON], Sequence[Misfit]]


ReadSignature: TypeAlias = Callable[[], Signature]
"""Raises `NodeFailure` (config, `invalid_function`) for a callable that no node can call."""

Callables: TypeAlias = Collection[str] | Mapping[str, ReadSignature]
"""The callables that are registered: their names, or also what reads the signature of each."""
