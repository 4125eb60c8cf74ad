"""Describes the parameters of a registered callable, so that a document that calls it can be checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from stepless.model.declaration.misfits import IsOpen, Misfit
from stepless.model.json import JSON


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters that can be passed by name, in the callable's own order. With `takes_any`, others are accepted too.
    `filled_in` is the parameter that the engine passes. `misfits` validates a value for one parameter, as a call would, without
    errors that are open."""

    parameters: tuple[str, ...]
    required: frozenset[str]
    takes_any: bool
    filled_in: str | None
    misfits: Callable[[str, JSON, IsOpen], Sequence[Misfit]]


ReadSignature: TypeAlias = Callable[[], Signature]
"""Raises `NodeFailure` (config, `invalid_function`) for a callable that no node can call."""

Callables: TypeAlias = Collection[str] | Mapping[str, ReadSignature]
"""The registered callables: only their names, or a mapping from name to a function that reads the signature."""
