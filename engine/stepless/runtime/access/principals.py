"""Maps IAM principals to roles: matches patterns of ARNs with the ARN of the caller that the gateway has authenticated.

A caller that assumed a role arrives as `arn:aws:sts::ACCOUNT:assumed-role/NAME/SESSION`: without the role's path, and with a
session name that the caller chose. The patterns that are accepted follow from that:

* `…:iam::ACCOUNT:role/NAME` means every session of that role. With a path (`role/team/NAME`) the name must be exact: names of
  roles are unique in an account, whereas a path cannot be seen in a request, and `role/team/*` would mean every role.
* `…:sts::ACCOUNT:assumed-role/NAME/SESSION` means sessions of that name, and takes an exact role, since any other role of the
  account may have a session of the same name.
* `*` stands for any characters of one part between slashes. Partition, service and account are exact.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from stepless.errors import ConfigError, Forbidden
from stepless.runtime.access.grants import parse_grants
from stepless.runtime.access.roles import Role, implied

PLACE: Final = "IamRoles"
_NAME: Final = "[A-Za-z0-9_+=.@-]+"
_PART: Final = "[A-Za-z0-9_+=.@*-]+"  # of a pattern: a name with wildcards
PATTERN: Final = (  # template.yaml has the same
    r"arn:aws[a-z-]*:"
    rf"(iam::[0-9]{{12}}:(root|user(/{_PART})+|role/{_PART}|role(/{_NAME}){{2,}})"
    rf"|sts::[0-9]{{12}}:(assumed-role/{_PART}/[*]|assumed-role/{_NAME}/{_PART}|federated-user/{_PART}))"
)
_FITTING: Final = re.compile(PATTERN)
_ARN: Final = re.compile(rf"arn:(aws[a-z-]*):(iam|sts)::([0-9]{{12}}):((?:{_NAME}/)*(?:{_NAME}))")


@dataclass(frozen=True, slots=True)
class _Principal:
    """An ARN or a pattern in parts. `account` is partition, service and number."""

    account: tuple[str, ...]
    parts: tuple[str, ...]

    def fits(self, caller: _Principal) -> bool:
        if self.account != caller.account or len(self.parts) != len(caller.parts):
            return False
        return all(map(_fits, self.parts, caller.parts))


class PrincipalRoles:
    """The roles that `IamRoles` gives to principals. Raises `ConfigError` (invalid_roles) for a malformed setting."""

    def __init__(self, setting: str) -> None:
        self._granted = [(_pattern(grant.name), grant.role) for grant in parse_grants(setting, PLACE)]

    def __call__(self, authorizer: Mapping[str, Any], headers: Sequence[str], now_ms: int) -> frozenset[Role]:
        """The roles of the caller that the gateway names in `authorizer`. Raises `Forbidden`: 401 (unauthorized) if it names
        none, 403 (no_role) if no pattern fits."""
        named = authorizer.get("iam")
        arn = named.get("userArn") if isinstance(named, Mapping) else None
        if not isinstance(arn, str) or not arn:
            message, mend = "the gateway has not authenticated this request", "sign it with AWS Signature Version 4"
            raise Forbidden(message, code="unauthorized", status=401, mend=mend)
        caller = _principal(arn)
        roles = {role for pattern, role in self._granted if pattern.fits(caller)} if caller is not None else set()
        if not roles:
            mend = f"ask an admin to give it a role, with the parameter {PLACE}"
            raise Forbidden("no role is given to this principal", code="no_role", place=arn, mend=mend)
        return implied(roles)


def _pattern(text: str) -> _Principal:
    if _FITTING.fullmatch(text) is None:
        mend = "write arn:aws:iam::123456789012:role/NAME, user/NAME or root, or arn:aws:sts::123456789012:assumed-role/NAME/*; "
        mend += "`*` fits within one part, not together with a path of a role, nor with the name of a session"
        raise ConfigError(f"{text!r} is not the pattern of a principal", code="invalid_roles", place=PLACE, mend=mend)
    _, partition, service, _, number, resource = text.split(":", 5)
    kind, *names = resource.split("/")
    if kind == "role":
        return _Principal((partition, "sts", number), ("assumed-role", names[-1], "*"))
    return _Principal((partition, service, number), (kind, *names))


def _principal(arn: str) -> _Principal | None:
    """None for an ARN that no pattern fits."""
    found = _ARN.fullmatch(arn)
    return _Principal(found.groups()[:3], tuple(found[4].split("/"))) if found is not None else None


def _fits(pattern: str, text: str) -> bool:
    """Whether a text is the pattern, in which `*` stands for any characters. Each piece is looked for once: no backtracking."""
    first, *more = pattern.split("*")
    if not more:
        return text == first
    *middle, last = more
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in middle:
        if (found := text.find(piece, at, end)) < 0:
            return False
        at = found + len(piece)
    return True
