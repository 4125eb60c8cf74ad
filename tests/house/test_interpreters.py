"""What every Python from 3.11.2 on must be able to read and run, also those that this machine does not have.

Each rule is a function from a module's syntax tree to its errors, one sentence each. Below, each is tested with a sample that it
must refuse and one that it must accept.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import pytest
from interpreters import OLDEST, Interpreter, asked, candidates, chosen

Rule = Callable[[ast.AST], Iterator[str]]

POSSESSIVE = re.compile(r"(?<!\\)(?:[*+?}]\+|\(\?>)")  # or an atomic group
SET = re.compile(r"(?<!\\)\[\^?\]?(?:\\.|[^\]\\])*\]")

GONE = {  # by the last release that has it without complaint: names that raise or warn in a later one
    "3.11": (
        "datetime.utcfromtimestamp", "datetime.utcnow", "datetime.datetime.utcfromtimestamp", "datetime.datetime.utcnow",
        "collections.abc.ByteString", "typing.ByteString", "pkgutil.find_loader", "pkgutil.get_loader", "sqlite3.version",
        "sqlite3.version_info", "ast.Num", "ast.Str", "ast.Bytes", "ast.NameConstant", "ast.Ellipsis",
        "asyncio.get_child_watcher", "asyncio.set_child_watcher",
        "asyncio.SafeChildWatcher", "asyncio.FastChildWatcher",
        "asyncio.MultiLoopChildWatcher",
        "importlib.abc.ResourceReader", "importlib.abc.Traversable", "importlib.abc.TraversableResources", "pty.master_open",
        "pty.slave_open", "urllib.parse.Quoter", "urllib.request.URLopener", "urllib.request.FancyURLopener", "shutil.ExecError",
        "calendar.January", "calendar.February",
    ),
    "3.12": (
        "ctypes.SetPointerType", "glob.glob0", "glob.glob1", "http.server.CGIHTTPRequestHandler", "platform.java_ver",
        "typing.no_type_check_decorator", "locale.getdefaultlocale", "typing.Text", "re.template",
    ),
    "3.13": (
        "asyncio.iscoroutinefunction", "asyncio.get_event_loop", "asyncio.get_event_loop_policy", "asyncio.set_event_loop_policy",
        "asyncio.AbstractEventLoopPolicy", "asyncio.DefaultEventLoopPolicy", "argparse.FileType", "codecs.open",
        "nturl2path.pathname2url", "os.popen", "symtable.Class.get_methods",
    ),
    "3.14": (
        "sre_compile.compile", "sre_constants.error", "sre_parse.parse", "json.__version__", "re.__version__", "csv.__version__",
        "logging.__version__", "decimal.__version__", "argparse.__version__", "ipaddress.__version__", "zlib.__version__",
    ),
}  # fmt: skip
SINCE = {name: release for release, names in GONE.items() for name in names}
ENDS = {name.rpartition(".")[2] for name in SINCE}
GONE_MODULES = {"asynchat", "asyncore", "cgi", "cgitb", "crypt", "distutils", "imghdr", "imp", "nturl2path", "pipes", "smtpd",
                "sndhdr", "spwd", "sre_compile", "sre_constants", "sre_parse", "telnetlib", "uu", "xdrlib"}  # fmt: skip


@lru_cache(maxsize=1)
def walked(tree: ast.AST) -> list[ast.AST]:
    """Every node of a tree, which each rule looks through: walking takes longer than looking."""
    return list(ast.walk(tree))


def quantifies_as_3_11_2_can(tree: ast.AST) -> Iterator[str]:
    """CPython before 3.11.5 mismatches possessive quantifiers around groups, and atomic groups beside them."""
    for node in walked(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and POSSESSIVE.search(SET.sub("x", node.value)):
            yield f"line {node.lineno}: a possessive quantifier or an atomic group: say what may follow a piece instead"


def leaves_finally_by_its_end(tree: ast.AST) -> Iterator[str]:
    """`return`, `break` and `continue` there swallow what is raised: a SyntaxWarning from 3.14 on."""
    for node in walked(tree):
        if isinstance(node, ast.Try):
            yield from (f"line {line}: leaves a finally block early" for line in exits(node.finalbody, in_loop=False))


def exits(body: list[ast.stmt], *, in_loop: bool) -> Iterator[int]:
    for statement in body:
        match statement:
            case ast.Return():
                yield statement.lineno
            case ast.Break() | ast.Continue() if not in_loop:
                yield statement.lineno
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                continue
            case ast.For() | ast.AsyncFor() | ast.While():
                yield from exits(statement.body, in_loop=True)
            case _:
                for name in ("body", "orelse", "finalbody"):
                    yield from exits(getattr(statement, name, []), in_loop=in_loop)
                for handler in getattr(statement, "handlers", []):
                    yield from exits(handler.body, in_loop=in_loop)


def names_nothing_that_goes(tree: ast.AST) -> Iterator[str]:
    """Names and modules that a later release has removed, or warns of."""
    known = dict(imported(tree))
    for node in walked(tree):
        if last_word(node, known) in ENDS:
            root, *rest = ast.unparse(node).split(".")
            name = ".".join([known.get(root, root), *rest])
            if name in SINCE and root in known:
                yield f"line {node.lineno}: {name} goes after {SINCE[name]}"
    for module in {name.split(".")[0] for name in known.values()} & GONE_MODULES:
        yield f"the module {module} goes"


def last_word(node: ast.AST, known: Mapping[str, str]) -> str | None:
    """Of a dotted name, cheaply: few of them have to be read to their root."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return known.get(node.id, node.id).rpartition(".")[2] if isinstance(node, ast.Name) else None


def imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """What a module's imports bind, and what stands behind it."""
    for node in walked(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.name if alias.asname else alias.name.split(".")[0]
                yield alias.asname or bound, bound
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


RULES: tuple[Rule, ...] = (quantifies_as_3_11_2_can, leaves_finally_by_its_end, names_nothing_that_goes)


def test_every_module_keeps_the_rules(root: Path, files: list[Path]) -> None:
    faults: list[str] = []
    for path in files:
        if path.suffix == ".py":
            tree = ast.parse(path.read_text("utf-8"))
            faults += [f"{path.relative_to(root)}: {fault}" for rule in RULES for fault in rule(tree)]
    assert faults == []


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        (quantifies_as_3_11_2_can, "re.compile(r'(?:a|b)*" + "+c')"),
        (quantifies_as_3_11_2_can, "PIECE = r'[a-z]{1,9}" + "+'"),
        (quantifies_as_3_11_2_can, "PIECE = rf'<{NAME}(?P<path>[.]a+" + "+'"),
        (quantifies_as_3_11_2_can, "PIECE = r'(?" + ">a|b)'"),
        (leaves_finally_by_its_end, "def f():\n try: g()\n finally:\n  if h: return 1"),
        (leaves_finally_by_its_end, "for x in y:\n try: g()\n finally:\n  break"),
        (names_nothing_that_goes, "import asyncio\nasyncio.iscoroutine" + "function(f)"),
        (names_nothing_that_goes, "from datetime import datetime\ndatetime.utc" + "now()"),
        (names_nothing_that_goes, "import sqlite3 as sql\nsql.ver" + "sion"),
        (names_nothing_that_goes, "from codecs import open\nopen(f)"),
        (names_nothing_that_goes, "import sre_" + "parse"),
    ],
)
def test_a_rule_refuses(rule: Rule, source: str) -> None:
    assert len(list(rule(ast.parse(source)))) == 1


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        (quantifies_as_3_11_2_can, "re.compile(r'[*+.^_]+'), re.compile(r'[]++-]'), re.compile(r'\\++a+')"),
        (leaves_finally_by_its_end, "def f():\n try: return 1\n finally:\n  for x in y:\n   break\n  def g(): return 2"),
        (names_nothing_that_goes, "import inspect, asyncio\ninspect.iscoroutinefunction(f), asyncio.get_running_loop()"),
        (names_nothing_that_goes, "import sqlite3\nsqlite3.sqlite_version\nversion = 1"),
        (names_nothing_that_goes, "self.codecs.open()"),
    ],
)
def test_a_rule_lets_pass(rule: Rule, source: str) -> None:
    assert list(rule(ast.parse(source))) == []


# -- which interpreters the suite is run on ---------------------------------------------------------------------------


def found(*versions: tuple[int, int, int]) -> list[Interpreter]:
    return [Interpreter(version, f"/opt/{number}/python3") for number, version in enumerate(versions)]


def test_the_newest_of_each_minor_version_and_the_oldest_promised_are_chosen() -> None:
    there = found((3, 10, 13), (3, 11, 1), (3, 12, 1), (3, 11, 7), (3, 11, 2), (3, 13, 0), (3, 11, 7), (3, 12, 0), (4, 0, 0))
    assert [one.name for one in chosen(there)] == ["3.11.2", "3.11.7", "3.12.1", "3.13.0", "4.0.0"]
    assert [one.name for one in chosen(found(OLDEST))] == ["3.11.2"]
    assert chosen(found((3, 10, 13), (3, 11, 1))) == []


def test_a_python_is_asked_what_it_is(tmp_path: Path) -> None:
    base = Path(sys.base_prefix, "bin", "python3")
    assert asked(base) == Interpreter(sys.version_info[:3], asked(base).path)  # type: ignore[union-attr]
    fake, broken = tmp_path / "python3.99", tmp_path / "python3"
    fake.write_text("#!/bin/sh\necho pypy\n")
    fake.chmod(0o755)
    assert (asked(fake), asked(broken)) == (None, None)
    assert fake in set(candidates({"PATH": str(tmp_path), "HOME": str(tmp_path)}))


def test_the_package_names_the_versions_that_it_was_run_on(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    named = [line.rpartition(" ")[2] for line in project["classifiers"] if " :: Python :: 3." in line]
    assert project["requires-python"] == f">={named[0]}"
