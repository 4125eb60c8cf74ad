"""References that grow step by step, and are written down as text."""

from __future__ import annotations

import re
from typing import Final, NoReturn

from stepless.errors import InvalidRequest

_STEP: Final = re.compile(r"[\w-]+")


class Ref:
    """A reference to a value that a run will have: `order.ref.body.items[0]` stands for `<order.body.items[0]>`.

    As a whole value it keeps the JSON type, in an f-string it becomes part of a text or an expression. A field whose name is no
    word of Python is reached by `ref["from"]`. Nothing is read while the workflow is written: a reference cannot be compared,
    counted or iterated.
    """

    __slots__ = ("_written",)
    __iter__ = None  # `[0]` answers forever: without this, a loop over a reference would never end
    __contains__ = None

    def __init__(self, written: str) -> None:
        self._written = written

    def __getattr__(self, name: str) -> Ref:
        if name.startswith("__"):  # what copying and printing look for
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, step: str | int) -> Ref:
        """One step down: a field by its name, an element by its number. Raises `InvalidRequest` for a name that no reference
        can hold."""
        if isinstance(step, int):
            return Ref(f"{self._written}[{step}]")
        if not _STEP.fullmatch(step):
            mend = "a step has letters, digits, _ and -; reach other names by an expression: {{ <node>['a b'] }}"
            raise InvalidRequest(f"{step!r} is no step of a reference", code="malformed_id", place=str(self), mend=mend)
        return Ref(f"{self._written}.{step}")

    def __str__(self) -> str:
        return f"<{self._written}>"

    def __repr__(self) -> str:
        return f"Ref({self._written!r})"

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{self} has no value while the workflow is written: decide in a `condition` node")
