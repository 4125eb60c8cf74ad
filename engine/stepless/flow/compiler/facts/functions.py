"""Defines the types of values that name a function: a step, a part or a workflow, with the arguments that were bound to it. In a
document such a value is an object: `{"call": …, "args": […], "named": {…}}`."""

from __future__ import annotations

import typing
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final

from stepless.flow.words import word_of
from stepless.limits import MAX_CACHED_SIGNATURES

CALL: Final = "call"
ARGS: Final = "args"
NAMED: Final = "named"
WORDS: Final = ("step", "part", "flow")
"""The words of what a value may name."""


@dataclass(frozen=True)
class Member:
    """One function that a value may name. `tag` is its name in the value, `args` and `named` are the types of what is bound."""

    tag: str
    target: Any
    args: tuple[Any, ...] = ()
    named: tuple[tuple[str, Any], ...] = ()


class Named:
    """The base of the types of such values. `members` are those that it may name; none where it is mixed with other values."""

    members: ClassVar[tuple[Member, ...]] = ()


@lru_cache(MAX_CACHED_SIGNATURES)
def named(members: tuple[Member, ...]) -> type[Named]:
    """Returns the type of values that name one of these functions."""
    return type("Named", (Named,), {"members": members})


MIXED: Final = named(())


def is_named(kind: Any) -> bool:
    """Returns whether the values of a type, but for null, name functions."""
    return isinstance(kind, type) and issubclass(kind, Named)


def united(kinds: list[Any]) -> Any:
    """Returns the type of values of several, one of which names functions."""
    if not all(map(is_named, kinds)) or MIXED in kinds:
        return MIXED
    found = dict.fromkeys(member for kind in kinds for member in kind.members)
    return named(tuple(found))


@lru_cache(MAX_CACHED_SIGNATURES)
def holds_named(kind: Any) -> bool:
    """Returns whether a value of a type names functions, or holds one that does."""
    return is_named(kind) or any(holds_named(one) for one in typing.get_args(kind) if one is not ...)


def tag_of(target: Any) -> str:
    """Returns the name of a step, a part or a workflow in a value."""
    match word_of(target):
        case "step":
            return str(target.name)
        case "flow":
            return str(target.id)
    function = target.function
    return f"{function.__module__}.{function.__qualname__}"


def member_of(target: Any, args: tuple[Any, ...] = (), named: tuple[tuple[str, Any], ...] = ()) -> Member:
    bound = [*map(_told, args), *(f"{name}={_told(kind)}" for name, kind in named)]
    return Member(f"{tag_of(target)}({', '.join(bound)})" if bound else tag_of(target), target, args, named)


def _told(kind: Any) -> str:
    return kind.__qualname__ if isinstance(kind, type) else str(kind)
