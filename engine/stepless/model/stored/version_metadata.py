"""Reads and writes the mutable metadata of a published version: not hashed, never read by runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from stepless.model.json import JSON
from stepless.model.stored.damage import FAULTS, Damage, told_by, why_of
from stepless.model.stored.packing import dump, pack, unpack


class Attached(NamedTuple):
    """`text` is the document as its author wrote it, in YAML or JSON; `layout` where its nodes were placed by hand, and its notes
    (`stepless.drafts.rules.document.layout`): empty without any, None where it is not known. `by`, `message` and `ops` are of a
    version that was published from a draft: the person, what they said of it, and `{epoch, after, seq}`: the items above `after`,
    up to `seq`, lead to it from the version before."""

    text: str | None = None
    layout: Mapping[str, JSON] | None = None
    by: str = ""
    message: str = ""
    ops: Mapping[str, JSON] | None = None

    def updated(self, newer: Attached) -> Attached:
        """Returns this one, with the fields of the newer one."""
        return self._replace(**{name: value for name, value in newer._asdict().items() if value not in (None, "")})


def encode_attached(attached: Attached) -> bytes:
    return pack(dump({name: value for name, value in attached._asdict().items() if value not in (None, "")}))


def decode_attached(data: bytes | None) -> Attached:
    """Fields that only a later release knows are ignored; without data, nothing is attached. Damaged bytes count as nothing: the
    version can be used without its text (`attached_damage` tells them)."""
    try:
        return _decoded(data)
    except FAULTS:
        return Attached()


_TYPES: Final = {"text": str | None, "layout": dict | None, "by": str, "message": str, "ops": dict | None}


def attached_damage(data: bytes | None, place: str) -> Damage | None:
    """Returns the damage to what is attached to a version."""
    try:
        _decoded(data)
    except FAULTS as error:
        told = told_by(data) or Damage(place, why_of(error))
        return told._replace(mend="publish the same text again; the version can be used without it")
    return None


def _decoded(data: bytes | None) -> Attached:
    if data is None:
        return Attached()
    found: Any = unpack(data)
    kept: dict[str, Any] = {name: value for name, value in found.items() if name in _TYPES}
    if not all(isinstance(value, _TYPES[name]) for name, value in kept.items()):
        raise ValueError("a field has another type")
    return Attached(**kept)
