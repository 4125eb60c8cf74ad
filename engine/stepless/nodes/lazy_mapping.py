"""Tables whose entries are loaded when they are first asked for: a run needs few of the kinds, and no library of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


def attribute(module: str, name: str) -> Callable[[], Any]:
    """What loads that name of `stepless.nodes.<module>`."""
    return lambda: getattr(import_module(f"stepless.nodes.{module}"), name)


class LazyMapping(Mapping[str, T]):
    """By name what `make` makes of it, once. Names are known, counted and told without making anything."""

    def __init__(self, make: Mapping[str, Callable[[], T]]) -> None:
        self._make = make
        self._made: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._made:
            self._made[name] = self._make[name]()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._make

    def __iter__(self) -> Iterator[str]:
        return iter(self._make)

    def __len__(self) -> int:
        return len(self._make)


class LayeredMapping(Mapping[str, T]):
    """Several tables as one: the first that has a name answers."""

    def __init__(self, *tables: Mapping[str, T]) -> None:
        self._tables = tables

    def __getitem__(self, name: str) -> T:
        for table in self._tables:
            if name in table:
                return table[name]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(name in table for table in self._tables)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for table in self._tables for name in table))

    def __len__(self) -> int:
        return len(set().union(*self._tables))
