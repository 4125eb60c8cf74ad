"""The table of codes and the source agree: every code has a meaning, and every meaning a code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepless import codes

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "engine" / "stepless"
POSITIONS = {"Finding": 0, "warning": 0, "processing": 0, "Failure": 1, "NodeFailure": 1}
WORD = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def codes_in(tree: ast.AST) -> Iterator[str]:
    """The literal codes that a source gives to errors, findings and failures."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            given = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
            place = POSITIONS.get(name)
            given += node.args[place : place + 1] if place is not None else []
        elif isinstance(node, ast.ClassDef):
            given = [item.value for item in node.body if isinstance(item, ast.Assign) and _names(item) == ["code"]]
        else:
            continue
        for value in given:
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and WORD.fullmatch(value.value):
                yield value.value


def _names(item: ast.Assign) -> list[str]:
    return [target.id for target in item.targets if isinstance(target, ast.Name)]


def used() -> set[str]:
    return {code for path in ENGINE.rglob("*.py") for code in codes_in(ast.parse(path.read_text()))}


def test_every_code_of_the_source_is_in_the_table() -> None:
    assert sorted(used() - codes.all_codes()) == []


def test_every_code_of_the_table_is_in_the_source() -> None:
    source = "\n".join(path.read_text() for path in ENGINE.rglob("*.py") if not path.name.startswith("codes"))
    assert [code for code in sorted(codes.all_codes()) if f'"{code}"' not in source] == []


def test_the_page_of_errors_is_the_table() -> None:
    assert (ROOT / "docs/run/errors.md").read_text() == codes.render()


@pytest.mark.parametrize(
    "source",
    ['raise Conflict("no", code="seen_code")', 'Finding("seen_code", "path", "no")', 'Failure("cause", "seen_code")',
     'class Odd(SteplessError):\n    code = "seen_code"'],
)  # fmt: skip
def test_a_code_is_found_wherever_it_may_stand(source: str) -> None:
    assert list(codes_in(ast.parse(source))) == ["seen_code"]
