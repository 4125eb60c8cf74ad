"""Loads an entry of a mapping on its first use: a run needs few kinds, and should not import the libraries of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


def attribute(module: str, name: str) -> Callable[[], Any]:
    """Returns a function that loads an attribute of `stepless.nodes.<module>`."""
    return lambda: getattr(import_module(f"stepless.nodes.{module}"), name)


class LazyMapping(Mapping[str, T]):
    """Creates each value once, on first use, with the function that `make` has for its name. Listing names creates no value."""

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
    """Combines several mappings, which do not change: the first one that has a name provides its value."""

    def __init__(self, *tables: Mapping[str, T]) -> None:
        self._tables = tables
        self._found: dict[str, T] = {}  # every session asks again

    def __getitem__(self, name: str) -> T:
        if name in self._found:
            return self._found[name]
        for table in self._tables:
            if name in table:
                self._found[name] = table[name]
                return self._found[name]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(name in table for table in self._tables)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for table in self._tables for name in table))

    def __len__(self) -> int:
        return len(set().union(*self._tables))
