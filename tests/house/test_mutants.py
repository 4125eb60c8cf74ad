"""The mutants of `make check-mutants`: each changes one expression, stays Python, and is the same for the same seed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from source_mutants import mutants

SAMPLES = [  # a line of code, and what may stand there instead
    ("x = a < b", {"x = (a <= b)"}),
    ("x = a is not None", {"x = (a is None)"}),
    ("x = a and not b", {"x = (a or not b)", "x = (a)", "x = a and (b)"}),
    ("x = n + 1", {"x = (n - 1)", "x = n + (2)"}),
    ("x = set.intersection(*sets)", {"x = (set.union(*sets))"}),
    ("x = a | b", {"x = (a & b)"}),
    ("x = f(flag=True)", {"x = f(flag=(False))"}),
    ("x = 'ä' if min(ns) else ''", {"x = 'ä' if (max(ns)) else ''"}),
    ("x: int = y", set()),
    ("x = f'{a < b}'", set()),
]  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), SAMPLES)
def test_a_line_has_these_mutants(line: str, expected: set[str]) -> None:
    assert {one.source for one in mutants(line)} == expected


def test_a_handler_loses_its_last_error() -> None:
    [mutant] = mutants("try:\n    f()\nexcept (KeyError, ValueError) as error:\n    g(error)  # why\n")
    assert mutant.source == "try:\n    f()\nexcept ((KeyError,)) as error:\n    g(error)  # why\n"
    assert (mutant.line, mutant.before) == (3, "(KeyError, ValueError)")


def test_every_mutant_of_a_module_is_python_and_differs(root: Path) -> None:
    source = (root / "engine/stepless/runtime/session/budget.py").read_text()
    found = mutants(source)
    assert len(found) > 10 and found == mutants(source)
    assert len({one.source for one in found} | {source}) == len(found) + 1
    for one in found:
        assert ast.dump(ast.parse(one.source)) != ast.dump(ast.parse(source))
        assert one.source.count("\n") == source.count("\n")
