"""Builds references step by step, which become text in the document."""

from __future__ import annotations

import re
from typing import Final, NoReturn

from stepless.errors import InvalidRequest

_STEP: Final = re.compile(r"[\w-]+")


class Ref:
    """A reference to a value of the later run: `order.ref.body.items[0]` becomes `<order.body.items[0]>`.

    A reference as a whole value keeps its JSON type; in an f-string it becomes part of a text or an expression. Use
    `ref["from"]` for a field whose name is not a Python identifier. A reference has no value while the workflow is built: it
    cannot be compared, counted or iterated.
    """

    __slots__ = ("_written",)
    __iter__ = None  # every index has a value, so a loop over a reference would never end
    __contains__ = None

    def __init__(self, written: str) -> None:
        self._written = written

    def __getattr__(self, name: str) -> Ref:
        if name.startswith("__"):  # names that copying and printing look up
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, step: str | int) -> Ref:
        """One step down: a field by name, an element by number. Raises `InvalidRequest` for a name that a reference cannot
        contain."""
        written = self._written.removesuffix("!")
        mark = self._written[len(written) :]
        if isinstance(step, int):
            return Ref(f"{written}[{step}]{mark}")
        if not _STEP.fullmatch(step):
            mend = "use letters, digits, _ and -, or an expression for other names: {{ <node>['a b'] }}"
            raise InvalidRequest(f"{step!r} cannot be a step of a reference", code="malformed_id", place=str(self), mend=mend)
        return Ref(f"{written}.{step}{mark}")

    def __pos__(self) -> Ref:
        """The strict reference, also in its further steps: `+order.ref.id` becomes `<order.id!>`, and reading it fails with
        `missing_value` where there is nothing to read."""
        return self if self._written.endswith("!") else Ref(f"{self._written}!")

    def __str__(self) -> str:
        return f"<{self._written}>"

    def __repr__(self) -> str:
        return f"Ref({self._written!r})"

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{self} has no value while the workflow is built: use a `condition` node to decide")
