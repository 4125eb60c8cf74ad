"""Which tests are the likeliest to notice a change of a module: the order in which they are run for a mutant.

    nearest    those that name the module, and those of the nearest folder in tests/unit that mirrors its own
    room       the other tests of its room: tests/unit/<room> and tests/<room>
    reaching   the others whose imports lead to it, the shortest way first, and then the rest
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Order(NamedTuple):
    """Files of tests, each in one of the three."""

    nearest: tuple[Path, ...]
    room: tuple[Path, ...]
    reaching: tuple[Path, ...]


def order(root: Path, changed: Path, left_out: Iterable[str] = ("house",)) -> Order:
    """The tests of the project in `root` for a change of a file of `engine/`. The folders `left_out` of tests/ are in none."""
    module, parts = module_of(root, changed), changed.relative_to(root / "engine/stepless").parts[:-1]
    tests = [one for one in sorted(root.glob("tests/*/**/test_*.py")) if one.relative_to(root / "tests").parts[0] not in left_out]
    ways = distances(root, module)
    room = [root / "tests/unit" / parts[0], root / "tests" / parts[0]] if parts else []
    mirrors = [root.joinpath("tests/unit", *parts[:depth]) for depth in range(len(parts), 1, -1)]
    mirror = next((folder for folder in mirrors if folder.is_dir()), None)
    known = {one: _rank(one, ways, mirror, room) for one in tests}
    ranked = sorted(tests, key=lambda one: (ways.get(one, len(ways)), one))
    return Order(*(tuple(one for one in ranked if known[one] == rank) for rank in range(3)))


def _rank(test: Path, ways: Mapping[Path, int], mirror: Path | None, room: list[Path]) -> int:
    if ways.get(test) == 1 or mirror in test.parents:
        return 0
    return 1 if any(folder in test.parents for folder in room) else 2


def distances(root: Path, module: str) -> dict[Path, int]:
    """How many imports lead from each file of tests/ to the module, for those from which any do. What a test gets from the
    conftest.py of its folder counts as its own import."""
    known = _imports(root)
    importers: dict[str, set[str]] = {}
    for name, found in known.items():
        for one in found:
            importers.setdefault(one, set()).add(name)
    far, waiting = {module: 0}, deque([module])
    while waiting:
        name = waiting.popleft()
        for one in importers.get(name, set()) - far.keys():
            far[one] = far[name] + 1
            waiting.append(one)
    return {root / name: steps for name, steps in far.items() if name.startswith("tests/")}


@cache
def _imports(root: Path) -> dict[str, frozenset[str]]:
    """Each module of the engine, by its dotted name, and each file of tests/, by its path → what it imports of them."""
    engine = {module_of(root, path): path for path in sorted((root / "engine/stepless").rglob("*.py"))}
    files = {str(path.relative_to(root)): path for path in sorted((root / "tests").rglob("*.py"))}
    helpers = {path.stem: name for name, path in files.items() if not path.name.startswith(("test_", "conftest"))}
    found: dict[str, frozenset[str]] = {}
    for name, path in {**engine, **files}.items():
        asked = set(_asked(ast.parse(path.read_text())))
        named = {one for one in asked if one in engine} | {helpers[one] for one in asked if one in helpers and name in files}
        around = {str(each.relative_to(root)) for each in _conftests(root, path)} if name in files else set()
        found[name] = frozenset(named | around) - {name}
    return found


def _asked(tree: ast.AST) -> Iterable[str]:
    """Every name that an import may mean: of `from a import b`, both `a` and `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)


def _conftests(root: Path, path: Path) -> Iterable[Path]:
    found = [folder / "conftest.py" for folder in path.parents if root in folder.parents]
    return [one for one in found if one.is_file() and one != path]


def module_of(root: Path, path: Path) -> str:
    return ".".join(path.relative_to(root / "engine").with_suffix("").parts).removesuffix(".__init__")
