"""The compiler of flows is pure: it imports nothing that reads files, the clock or chance, and executes nothing of a source."""

from __future__ import annotations

import ast
from pathlib import Path

import stepless.flow.compiler

FOLDER = Path(stepless.flow.compiler.__file__).parent
ALLOWED = {
    "__future__", "ast", "builtins", "collections", "contextlib", "copy", "dataclasses", "difflib", "enum", "functools",
    "hashlib", "inspect", "keyword", "pydantic", "re", "types", "typing", "typing_extensions",
    "datetime", "decimal", "sys", "uuid",  # types of values, and what is loaded; CALLED must not be called
}  # fmt: skip
CALLED = {"now", "utcnow", "today", "uuid1", "uuid4"}
OF_SYS = {"modules", "stdlib_module_names"}
ROOMS = ("stepless.flow.compiler", "stepless.flow.words", "stepless.limits", "stepless.errors", "stepless.model")


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_the_compiler_reads_no_clock_and_draws_no_number() -> None:
    calls = [
        node.func.attr for path in FOLDER.rglob("*.py") for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]  # fmt: skip
    assert [name for name in calls if name in CALLED] == []


def test_the_compiler_only_looks_up_modules_in_sys() -> None:
    read = {
        node.attr for path in FOLDER.rglob("*.py") for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sys"
    }  # fmt: skip
    assert read == OF_SYS


def test_the_compiler_imports_nothing_that_touches_the_world() -> None:
    modules = {name for path in FOLDER.rglob("*.py") for name in imported(path)}
    assert [name for name in sorted(modules) if name.partition(".")[0] not in ALLOWED and not name.startswith(ROOMS)] == []
