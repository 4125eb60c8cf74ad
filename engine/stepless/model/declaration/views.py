"""Defines read-only typed views of a document. They copy nothing and validate nothing.

Views read a graph of a hundred thousand nodes without a second copy of its document. A run compiles a version that was validated
when it was published, so it does not need pydantic. `document` declares the views.
"""

from __future__ import annotations

from collections.abc import Callable, KeysView, Mapping
from typing import Any, Final

from stepless.model.json import JSON

NOTHING: Final[Mapping[str, Any]] = {}
_REQUIRED: Final = object()


class _Field:
    """Returns the value under `name`, converted by `read`; `default` if there is none."""

    __slots__ = ("default", "name", "read", "required")

    def __init__(self, default: object = _REQUIRED, name: str = "", read: Callable[[Any], Any] | None = None) -> None:
        self.required = default is _REQUIRED
        self.default: Any = None if self.required else default
        self.name = name
        self.read = read

    def __get__(self, view: View, owner: type[View]) -> Any:
        raw, name = view.raw, self.name
        if name not in raw:
            return self.default
        value: Any = raw[name]
        return value if self.read is None or value is None else self.read(value)


def field(default: object = _REQUIRED, name: str = "", read: Callable[[Any], Any] | None = None) -> Any:
    """Returns a field with another `name` in the document, or converted by `read`. Without a default it is required."""
    return _Field(default, name, read)


_NO_FIELDS: Final[Mapping[str, _Field]] = {}


class View:
    """A part of a document. A subclass declares its fields as annotations, with their defaults: see `document`."""

    __slots__ = ("raw",)
    fields = _NO_FIELDS  # by attribute

    def __init_subclass__(cls) -> None:
        cls.fields = {attribute: _declared(cls, attribute) for attribute in cls.__annotations__}
        for attribute, made in cls.fields.items():
            setattr(cls, attribute, made)

    def __init__(self, raw: Mapping[str, JSON]) -> None:
        self.raw = raw

    @property
    def given(self) -> KeysView[str]:
        """The fields that the author wrote."""
        return self.raw.keys()


def _declared(view: type[View], attribute: str) -> _Field:
    default = view.__dict__.get(attribute, _REQUIRED)
    made = default if isinstance(default, _Field) else _Field(default)
    made.name = made.name or attribute
    return made
