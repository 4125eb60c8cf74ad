"""Parses the settings that give roles to groups or principals: `name=role` entries, separated by commas.

A setting is read whole or refused whole: with one malformed entry no entry counts, so that a typing error never gives a role to
more callers than the operator meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stepless.errors import ConfigError
from stepless.limits import MAX_GRANTS
from stepless.runtime.access.roles import Role


@dataclass(frozen=True, slots=True)
class Grant:
    """`name` is the group or the principal's pattern that has the role."""

    name: str
    role: Role


def parse_grants(text: str, place: str) -> tuple[Grant, ...]:
    """Returns the entries of a setting, in order; none for an empty text. What follows the last `=` of an entry is its role, so a
    name may contain `=`. Spaces around entries, names and roles do not count. Raises `ConfigError` (invalid_roles) at `place`."""
    entries = text.split(",") if text.strip(" ") else []
    if len(entries) > MAX_GRANTS:
        raise _refused(place, f"it has {len(entries)} entries", f"use at most {MAX_GRANTS}")
    return tuple(_grants(entries, place))


def _grants(entries: list[str], place: str) -> Iterator[Grant]:
    for entry in entries:
        name, equals, role = (part.strip(" ") for part in entry.rpartition("="))
        if not equals or not name:
            raise _refused(place, f"the entry {entry!r} is not name=role", "write name=role, and commas between entries")
        if role not in set(Role):
            raise _refused(place, f"{role!r} is not a role", f"use one of {', '.join(Role)}")
        yield Grant(name, Role(role))


def _refused(place: str, message: str, mend: str) -> ConfigError:
    return ConfigError(message, code="invalid_roles", place=place, mend=mend)
