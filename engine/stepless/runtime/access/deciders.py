"""Decides who may answer a question for people, and whom the decision names.

An API caller is a person (of a login or a local session), or a key, which several people may use. A key decides as itself: a
person that its holder names is recorded together with the key, because the key alone is proven. Where an approval names
approvers, only they may answer it, and admins, who could change the workflow instead. A caller gets a link only for what they
may answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stepless.errors import Forbidden
from stepless.limits import PREVIEW_CHARACTERS
from stepless.model.json import JSON
from stepless.runtime.access.roles import Role

KEY: Final = "key "  # how the names of keys begin that were made by `POST /keys`


@dataclass(frozen=True, slots=True)
class Decider:
    """A caller who decides. `person` is None for a key; `label` names the caller in a decision; `names` are those under which an
    approval may name the caller as an approver."""

    person: str | None
    label: str
    names: frozenset[str]
    is_admin: bool

    def recorded(self, by: str | None) -> str:
        """Returns the person that a decision names. `by` is the person that the caller names; of a person it does not count."""
        return self.person or named(by, self.label)


def decider_of(caller: str, roles: Collection[Role]) -> Decider:
    """`caller` is as the API names it: `jwt SUBJECT NAME`, `local NAME`, `key ID NAME`, `configured key HASH`, `iam ARN`."""
    kind, _, rest = caller.partition(" ")
    first, _, name = rest.partition(" ")
    is_admin = Role.ADMIN in roles
    if kind == "key":
        return Decider(None, f"{KEY}{name or first}", _names(first, name), is_admin)
    if kind == "configured" or not rest:
        return Decider(None, caller, frozenset(), is_admin)
    person = (name or first) if kind == "jwt" else rest
    return Decider(person, person, _names(first, name, rest), is_admin)


def person_of(caller: str) -> str | None:
    """Returns the person whom a caller is known as; None for a key."""
    return decider_of(caller, ()).person


def named(by: str | None, label: str) -> str:
    """Returns the person that a decision names where the caller is a key, or the holder of a link that was made for `label`."""
    if not by:
        return label
    return f"{by} ({label})" if label.startswith(KEY) else by


def may_decide(decider: Decider, approvers: Sequence[str]) -> bool:
    return not approvers or decider.is_admin or is_assigned(decider, approvers)


def is_assigned(decider: Decider, approvers: Sequence[str]) -> bool:
    """Returns whether the approvers name this caller. An admin may answer others, too."""
    return any(name.casefold() in decider.names for name in approvers)


def approvers_of(details: Mapping[str, JSON]) -> list[str]:
    found = details.get("approvers")
    return [str(name) for name in found] if isinstance(found, list) else []


def check_may_decide(decider: Decider, details: Mapping[str, JSON]) -> None:
    """Raises `Forbidden` (not_an_approver)."""
    approvers = approvers_of(details)
    if not may_decide(decider, approvers):
        listed = ", ".join(approvers)
        shown = listed if len(listed) <= PREVIEW_CHARACTERS else f"{listed[:PREVIEW_CHARACTERS]}…"
        message, mend = f"{decider.label} is none of the approvers: {shown}", "ask one of them, or an admin"
        raise Forbidden(message, code="not_an_approver", mend=mend)


def _names(*names: str) -> frozenset[str]:
    return frozenset(name.casefold() for name in names if name)
