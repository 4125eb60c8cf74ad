"""Planted bugs stay planted: a method that takes the place of another one has the name of a method that exists."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

MODULES = sorted(path.stem for path in Path(__file__).parent.glob("mutants*.py"))


class Base:
    def begin(self) -> None: ...


class Renamed(Base):
    def started(self) -> None: ...


def inert(module: ModuleType) -> Iterator[str]:
    """The methods of subclasses that take the place of nothing."""
    for name, kind in vars(module).items():
        bases = kind.__mro__[1:-1] if inspect.isclass(kind) and kind.__module__ == module.__name__ else ()
        for method, value in vars(kind).items() if bases else ():
            if inspect.isfunction(value) and not any(method in vars(base) for base in bases) and not method.startswith("__"):
                yield f"{name}.{method}"


@pytest.mark.parametrize("name", MODULES)
def test_every_planted_method_takes_the_place_of_one(name: str) -> None:
    assert list(inert(import_module(name))) == []


def test_a_method_without_a_former_one_is_found() -> None:
    module = ModuleType(__name__)
    module.__dict__.update(Base=Base, Renamed=Renamed)
    assert list(inert(module)) == ["Renamed.started"]
