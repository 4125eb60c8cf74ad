"""Loads kinds from other packages. Each is an entry point of the group `stepless.kinds`: an object, usually a module, with `KIND`
and, for an effectful kind, `run`.

They are loaded when a caller first requests a kind that is not built in, or lists all kinds. Using only built-in kinds loads
none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeVar

from stepless.errors import ConfigError
from stepless.model.kind import Kind, Nature
from stepless.plugins import KINDS, announced

_NEEDS: Final = {
    Nature.ENTRY: "evaluate", Nature.PURE: "evaluate", Nature.PAUSE: "suspend", Nature.CONTAINER: "container"
}  # fmt: skip
T = TypeVar("T")


@cache
def plugins() -> Mapping[str, Any]:
    """Returns the objects of all entry points, by the names of their kinds. Raises `ConfigError`: module_not_loaded,
    invalid_plugin, and kind_taken for a name that two packages use."""
    found: dict[str, Any] = {}
    for one in announced(KINDS):
        plugin = one.load()
        kind = getattr(plugin, "KIND", None)
        if not isinstance(kind, Kind) or not kind.name:
            message = f"{one.value} has no `KIND`"
            raise ConfigError(message, code="invalid_plugin", place=one.place, mend="give it a stepless.model.kind.Kind")
        if (needed := _NEEDS.get(kind.nature)) is not None and getattr(kind, needed) is None:
            message = f"the kind {kind.name} of {one.value} has no `{needed}`, which its nature {kind.nature.value} requires"
            raise ConfigError(message, code="invalid_plugin", place=one.place, mend="see stepless.model.kind.Kind")
        if kind.name in found:
            raise _taken(kind.name, one.place)
        found[kind.name] = plugin
    return found


def _taken(name: str, place: str) -> ConfigError:
    return ConfigError(f"the kind {name} already exists", code="kind_taken", place=place, mend="give the kind another name")


class WithPlugins(Mapping[str, T]):
    """`own`, extended by the value that `pick` returns for each plug-in (None: no entry)."""

    def __init__(self, own: Mapping[str, T], pick: Callable[[Any], T | None], reserved: Collection[str]) -> None:
        self._own = own
        self._pick = pick
        self._reserved = reserved
        self._more: Mapping[str, T] | None = None

    def _picked(self) -> Mapping[str, T]:
        if self._more is None:
            for name in plugins():
                if name in self._reserved:
                    raise _taken(name, KINDS)
            self._more = {name: taken for name, plugin in plugins().items() if (taken := self._pick(plugin)) is not None}
        return self._more

    def __getitem__(self, name: str) -> T:
        return self._own[name] if name in self._own else self._picked()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._picked()

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from self._picked()

    def __len__(self) -> int:
        return len(self._own) + len(self._picked())
