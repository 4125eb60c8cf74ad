"""Defines the roles of callers of the API, and which roles one role implies."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final


class Role(StrEnum):
    READ = "read"  # read lists, runs and events; every caller with another role than SEND has this one
    RUN = "run"  # start, cancel, rerun, send messages
    SEND = "send"  # send messages, and nothing else: no list, no run, no event
    EDIT = "edit"  # change drafts, and with RUN try what in them was published or is pinned
    APPROVE = "approve"  # see the links that answer questions
    ADMIN = "admin"  # everything, including publish and keys


ALL_ROLES: Final = frozenset(Role)


def implied(roles: Iterable[str]) -> frozenset[Role]:
    """Returns the roles and what they imply: all by `admin`, `send` by `run`, `read` by every other than `send`. No roles imply
    none."""
    given = frozenset(map(Role, roles))
    if Role.ADMIN in given:
        return ALL_ROLES
    if Role.RUN in given:
        given |= {Role.SEND}
    return given | {Role.READ} if given - {Role.SEND} else given
