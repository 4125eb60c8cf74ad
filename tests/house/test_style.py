"""The project's rules that no linter checks: sizes, names, promises, swallowed errors, paths of one machine.

Each rule is a function from a file's path and text to its errors, one sentence each; `FILE_RULES` says where it applies.
Below, every rule is tested with a sample that it must refuse and one that it must accept.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import pytest

MAX_FILE_LINES = 400
TABLES = {"engine/stepless/limits.py"}  # a list of constants is searched, not read
MAX_CONSOLE_LINES = 300
MAX_HANDLER_LINES = 40  # functions/*/app.py: payload, one verb, answer
VAGUE_WORDS = {"common", "context", "helper", "helpers", "manager", "managers", "misc", "util", "utils"}
BROAD_ERRORS = {"Exception", "BaseException"}
API_LIBRARIES = {"fastapi", "mangum", "starlette"}

PROMISES = re.compile(r"\b(?:" + "|".join(("TO" + "DO", "FIX" + "ME", "X" * 3)) + r")\b")
MACHINE_PLACES = re.compile(r"(?<![\w./:*-])/(?:home|root|Users|work)/[\w.-]+")
REGISTRY_HOSTS = re.compile(r"\b(?:pypi|pythonhosted|npmjs|crates|rubygems)\.(?:org|com|io)\b|\bproxy\.golang\.org\b")
FOREIGN_NAMES = {MACHINE_PLACES: "a path of one machine", REGISTRY_HOSTS: "a package registry, which is for the machine to name"}

Rule = Callable[[PurePosixPath, str], Iterator[str]]


def stays_short(path: PurePosixPath, text: str) -> Iterator[str]:
    lines, most = text.count("\n"), MAX_CONSOLE_LINES if path.parts[0] == "console" else MAX_FILE_LINES
    if lines > most and str(path) not in TABLES:
        yield f"{lines} lines, at most {most}: split it by idea"


def has_a_telling_name(path: PurePosixPath, text: str) -> Iterator[str]:
    for word in sorted(VAGUE_WORDS & set(re.split(r"[_.-]", path.stem.lower()))):
        yield f"a module named {word!r} holds anything: name it after its one idea"


def makes_no_promises(path: PurePosixPath, text: str) -> Iterator[str]:
    for match in PROMISES.finditer(text):
        yield f"line {line_of(text, match)}: {match[0]}: do it now, or leave it out"


def swallows_no_error(path: PurePosixPath, text: str) -> Iterator[str]:
    """A broad `except` whose body does nothing, or a broad `suppress`."""
    if re.search(r"\bexcept\s*:|Exception\b", text) is None:
        return  # parsing every file takes seconds
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.ExceptHandler(type=caught, body=body) if all(map(does_nothing, body)):
                if caught is None or names_in(caught) & BROAD_ERRORS:
                    yield f"line {node.lineno}: swallows every error: name the one that is meant, or let it through"
            case ast.Call(func=called, args=args) if called_name(called) in {"suppress", "contextlib.suppress"}:
                if any(names_in(argument) & BROAD_ERRORS for argument in args):
                    yield f"line {node.lineno}: suppresses every error: name the one that is meant"


def opens_with_a_docstring(path: PurePosixPath, text: str) -> Iterator[str]:
    if not ast.get_docstring(ast.parse(text)):
        yield "a room says in its docstring what it is for and what it promises"


def names_no_machine(path: PurePosixPath, text: str) -> Iterator[str]:
    for pattern, what in FOREIGN_NAMES.items():
        for match in pattern.finditer(text):
            yield f"line {line_of(text, match)}: {match[0]!r} is {what}"


def never_sleeps(path: PurePosixPath, text: str) -> Iterator[str]:
    """`asyncio.sleep(0)` is a turn for the others, not a wait; `sleep("30d")` is a node of a flow."""
    if "sleep" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(func=called, args=[ast.Constant(value=0)]) if called_name(called) in {"asyncio.sleep", "anyio.sleep"}:
                continue
            case ast.Call(func=ast.Name("sleep"), args=[ast.Constant(value=str())]):
                continue
            case ast.Call(func=called) if called_name(called) in {"time.sleep", "asyncio.sleep", "anyio.sleep", "sleep"}:
                yield f"line {node.lineno}: a test never sleeps: wait for the fact, or use the virtual clock"


def never_sleeps_in_a_page(path: PurePosixPath, text: str) -> Iterator[str]:
    """In TypeScript, where a test has a clock of its own to move."""
    for match in re.finditer(r"\b(?:setTimeout|setInterval|waitForTimeout)\(", text):
        yield f"line {line_of(text, match)}: {match[0]}…): a test never sleeps: wait for the fact, or move the clock"


def patches_nothing(path: PurePosixPath, text: str) -> Iterator[str]:
    if re.search("mock|setattr|patch", text) is None:
        return
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import() | ast.ImportFrom() if any(name.startswith(("unittest.mock", "mock.")) for name in imported(node)):
                yield f"line {node.lineno}: imports mocks: use a fake of the port"
            case ast.Call(func=called) if called_name(called) in {"monkeypatch.setattr", "mocker.patch"}:
                yield f"line {node.lineno}: patches internals: pass a fake in instead"


def is_a_thin_handler(path: PurePosixPath, text: str) -> Iterator[str]:
    lines = text.count("\n")
    if lines > MAX_HANDLER_LINES:
        yield f"{lines} lines, at most {MAX_HANDLER_LINES}: what decides belongs into the engine"


def starts_without_the_api(path: PurePosixPath, text: str) -> Iterator[str]:
    """Every function but `functions/api` starts cold without the web framework."""
    if path.parts[1] == "api":
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in imported(node):
                if name.split(".")[0] in API_LIBRARIES or f"{name}.".startswith("stepless.api."):
                    yield f"line {node.lineno}: imports {name}, which only functions/api needs"


CONSOLE = ("console/src/**", "console/tests/**")
CODE = ("engine/**/*.py", "functions/**/*.py", "tests/**/*.py", "examples/**/*.py", "benchmarks/**/*.py")
FILE_RULES: list[tuple[Rule, tuple[str, ...]]] = [
    (stays_short, ("engine/**/*.py", "console/src/**")),
    (has_a_telling_name, ("engine/**/*.py", "functions/**/*.py", *CONSOLE)),
    (makes_no_promises, (*CODE, *CONSOLE)),
    (swallows_no_error, CODE),
    (opens_with_a_docstring, ("engine/**/__init__.py",)),
    (names_no_machine, ("**",)),
    (never_sleeps, ("tests/**/*.py",)),
    (never_sleeps_in_a_page, ("console/tests/**",)),
    (patches_nothing, ("tests/**/*.py",)),
    (is_a_thin_handler, ("functions/*/app.py",)),
    (starts_without_the_api, ("functions/*/*.py",)),
]
EXEMPT: dict[Rule, set[str]] = {
    names_no_machine: {"uv.lock"},
    stays_short: {"console/src/wire/contract.ts"},  # generated: one interface for each schema of the API
}


# -- where a test lives -----------------------------------------------------------------------------------------------


def unmirrored(tests: list[PurePosixPath], engine: set[PurePosixPath]) -> Iterator[str]:
    """tests/unit/<room>/ stands for engine/stepless/<room>/, tests/unit/test_<module>.py for engine/stepless/<module>.py."""
    for path in tests:
        room = PurePosixPath("engine/stepless", *path.parts[2:-1])
        if path.name == "conftest.py" or (len(path.parts) > 3 and any(room in file.parents for file in engine)):
            continue
        if len(path.parts) == 3 and room / path.name.removeprefix("test_") in engine:
            continue
        yield f"{path}: there is no {room}/ that it mirrors"


# -- reading syntax trees ---------------------------------------------------------------------------------------------


def line_of(text: str, match: re.Match[str]) -> int:
    return text.count("\n", 0, match.start()) + 1


def does_nothing(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass | ast.Continue) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def names_in(node: ast.expr) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def called_name(node: ast.expr) -> str:
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""


def imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
    return [f"{prefix}{alias.name}" for alias in node.names]


def matches(path: PurePosixPath, pattern: str) -> bool:
    """`*` within one folder, `**` over any number of them."""
    parts = re.escape(pattern).replace(r"\*\*/", "(?:.+/)?").replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
    return re.fullmatch(parts, str(path)) is not None


# -- the project ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rule", "patterns"), FILE_RULES, ids=lambda value: getattr(value, "__name__", ""))
def test_every_file_of_the_project(rule: Rule, patterns: tuple[str, ...], root: Path, files: list[Path]) -> None:
    faults: list[str] = []
    for file in files:
        path = PurePosixPath(file.relative_to(root).as_posix())
        if str(path) in EXEMPT.get(rule, ()) or not any(matches(path, pattern) for pattern in patterns):
            continue
        content = file.read_bytes()
        if b"\0" not in content:  # a picture has no words
            faults += (f"{path}: {fault}" for fault in rule(path, content.decode("utf-8")))
    assert not faults, "\n".join(faults)


def test_unit_tests_mirror_the_rooms(root: Path, files: list[Path]) -> None:
    paths = [PurePosixPath(file.relative_to(root).as_posix()) for file in files]
    engine = {path for path in paths if matches(path, "engine/**/*.py")}
    faults = list(unmirrored([path for path in paths if matches(path, "tests/unit/**/*.py")], engine))
    assert not faults, "\n".join(faults)


# -- the rules themselves ---------------------------------------------------------------------------------------------

SOME = PurePosixPath("engine/stepless/core/fold.py")
RUNNER = PurePosixPath("functions/runner/app.py")
PAGE = PurePosixPath("console/src/editing/fold.ts")


REFUSED: list[tuple[Rule, PurePosixPath, str]] = [
    (stays_short, SOME, "\n" * (MAX_FILE_LINES + 1)),
    (stays_short, PAGE, "\n" * (MAX_CONSOLE_LINES + 1)),
    (has_a_telling_name, SOME.with_name("run_helpers.py"), ""),
    (has_a_telling_name, PAGE.with_name("edge-utils.test.ts"), ""),
    (has_a_telling_name, SOME.with_name("Manager.py"), ""),
    (makes_no_promises, SOME, "# " + "TO" + "DO: later"),
    (swallows_no_error, SOME, "try: f()\nexcept Exception: pass"),
    (swallows_no_error, SOME, "for x in y:\n try: f()\n except: continue"),
    (swallows_no_error, SOME, "try: f()\nexcept (KeyError, BaseException) as error: ..."),
    (swallows_no_error, SOME, "with contextlib.suppress(Exception): f()"),
    (opens_with_a_docstring, SOME, "from __future__ import annotations"),
    (names_no_machine, SOME, "open('/" + "root/notes')"),
    (names_no_machine, SOME, "cd /" + "home/ada/stepless"),
    (names_no_machine, SOME, "index-url = https://" + "pypi" + ".org/simple"),
    (never_sleeps, SOME, "import time\ntime.sleep(0.1)"),
    (never_sleeps, SOME, "async def f(): await asyncio.sleep(1)"),
    (never_sleeps, SOME, "from time import sleep\nsleep(n)"),
    (never_sleeps_in_a_page, PAGE, "await new Promise((done) => setTimeout(done, 50))"),
    (patches_nothing, SOME, "from unittest.mock import patch"),
    (patches_nothing, SOME, "import unittest.mock"),
    (patches_nothing, SOME, "monkeypatch.setattr(runner, 'clock', None)"),
    (is_a_thin_handler, RUNNER, "\n" * (MAX_HANDLER_LINES + 1)),
    (starts_without_the_api, RUNNER, "from mangum import Mangum"),
    (starts_without_the_api, RUNNER, "from stepless.api import app"),
    (starts_without_the_api, RUNNER, "from stepless import api"),
]
LET_PASS: list[tuple[Rule, PurePosixPath, str]] = [
    (stays_short, SOME, "\n" * MAX_FILE_LINES),
    (stays_short, PAGE, "\n" * MAX_CONSOLE_LINES),
    (has_a_telling_name, SOME.with_name("scope.py"), ""),
    (makes_no_promises, SOME, "# the word todos is fine"),
    (swallows_no_error, SOME, "try: f()\nexcept KeyError: pass"),
    (swallows_no_error, SOME, "try: f()\nexcept Exception as error:\n    settle(error)"),
    (swallows_no_error, SOME, "with suppress(FileNotFoundError): f()"),
    (opens_with_a_docstring, SOME, '"""What a room promises."""'),
    (names_no_machine, SOME, "GET /workflows/x, /opt/python, https://example.com/home/page, ~/.aws"),
    (never_sleeps, SOME, "async def f(): await asyncio.sleep(0)"),
    (never_sleeps_in_a_page, PAGE, "clock.advance(50)"),
    (patches_nothing, SOME, "monkeypatch.setenv('TOKEN', 'x')\nfrom moto import mock_aws"),
    (is_a_thin_handler, RUNNER, "\n" * MAX_HANDLER_LINES),
    (starts_without_the_api, RUNNER, "from stepless.runtime.wiring.local import service"),
    (starts_without_the_api, PurePosixPath("functions/api/app.py"), "from mangum import Mangum"),
]


@pytest.mark.parametrize(("rule", "path", "text"), REFUSED)
def test_a_rule_refuses(rule: Rule, path: PurePosixPath, text: str) -> None:
    assert len(list(rule(path, text))) == 1


@pytest.mark.parametrize(("rule", "path", "text"), LET_PASS)
def test_a_rule_lets_pass(rule: Rule, path: PurePosixPath, text: str) -> None:
    assert list(rule(path, text)) == []


def test_every_rule_is_seen_to_refuse() -> None:
    assert {rule for rule, _, _ in REFUSED} == {rule for rule, _ in FILE_RULES}


def test_a_unit_test_without_a_room_is_found() -> None:
    engine = {SOME, PurePosixPath("engine/stepless/errors.py")}
    good = ["tests/unit/core/test_fold.py", "tests/unit/test_errors.py", "tests/unit/conftest.py"]
    bad = ["tests/unit/kernel/test_fold.py", "tests/unit/test_colours.py"]
    assert list(unmirrored([PurePosixPath(name) for name in good], engine)) == []
    assert len(list(unmirrored([PurePosixPath(name) for name in bad], engine))) == len(bad)


def test_a_pattern_spans_folders_only_where_it_says_so() -> None:
    assert matches(PurePosixPath("engine/stepless/core/fold.py"), "engine/**/*.py")
    assert matches(PurePosixPath("engine/setup.py"), "engine/**/*.py")
    assert matches(PurePosixPath("functions/api/app.py"), "functions/*/app.py")
    assert not matches(PurePosixPath("functions/api/routes/app.py"), "functions/*/app.py")
    assert not matches(PurePosixPath("engine/notes.md"), "engine/**/*.py")
