"""Resolves references over values that are known already, by the rules of `core/values/reference_values.py`: to show what an
expression would be over a former run. Secrets are not among them: `${NAME}` reads as `***`."""

from __future__ import annotations

from collections.abc import Mapping

from stepless.core.values.masking import HIDDEN
from stepless.core.values.reference_values import missing
from stepless.model.json import JSON, Path, has_step, read_path
from stepless.model.scope import Reference
from stepless.model.steps import Steps


class Remembered(Steps):
    """A `model.scope.Scope` over `values`, by the first name of a reference: the output of a node, the fields of an iteration,
    `input`, `inputs`, `workflow` and `run`. `unread` are the texts of the references to what has no value, and `nulls` of those
    that read null because a path leads nowhere, in order and without duplicates."""

    __slots__ = ("values", "now_ms", "_nulls", "_unread")

    def __init__(self, values: Mapping[str, JSON], now_ms: int) -> None:
        super().__init__()
        self.values = values
        self.now_ms = now_ms
        self._nulls: dict[str, None] = {}
        self._unread: dict[str, None] = {}

    @property
    def nulls(self) -> list[str]:
        return list(self._nulls)

    @property
    def unread(self) -> list[str]:
        return list(self._unread)

    def read(self, reference: Reference) -> JSON:
        if reference.env:
            return HIDDEN
        if reference.root not in self.values:
            self._unread[reference.text] = None
            return None
        held = self.values[reference.root]
        value = read_path(held, reference.path)
        if value is None:
            exists = _exists(held, reference.path)
            if reference.strict and not exists:
                raise missing(reference)
            if not exists:
                self._nulls[reference.text] = None
        return value


def _exists(value: JSON, path: Path) -> bool:
    """Whether there is something at a path whose value is null."""
    return not path or has_step(read_path(value, path[:-1]), path[-1])
