"""Reads the source of a function from its file. The only place of flows that reads anything."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

from stepless.flow.compiler.origin import Origin, hints_of
from stepless.flow.compiler.refusals import FlowRefused, Remark
from stepless.flow.compiler.rewriting.source import rewritten


def origin_of(
    function: Callable[..., Any], source: str | None = None, part_of: Callable[[Any], Any] = lambda function: None
) -> Origin:
    """Returns the source of a function; `source` is the text of its file, if it has none that can be read; `part_of` says which
    part a coroutine stands for. Raises `FlowRefused` (source_missing)."""
    code = getattr(function, "__code__", None)
    if code is None or getattr(function, "__wrapped__", None) is not None:
        raise _missing(function, "it is not a plain function", "Put @workflow directly above its def")
    lines, first = _lines(function, source)
    text = "".join(lines)
    try:
        body = ast.parse(textwrap.dedent(text)).body
    except SyntaxError:
        raise _missing(function, "its lines cannot be read alone", "Write it as a def of its own") from None
    tree = next((node for node in body if isinstance(node, ast.AsyncFunctionDef) and node.name == function.__name__), None)
    if tree is None:
        raise _missing(function, "no `async def` of this name is there", "Write it as `async def` in a module")
    closed = inspect.getclosurevars(function).nonlocals if code.co_freevars else {}
    names = {**function.__globals__, **closed}
    file, path = _file(function), code.co_filename
    origin = Origin(function.__name__, file, tree, first, textwrap.dedent(text), names, hints_of(function), path)
    return rewritten(origin, part_of)


def _lines(function: Callable[..., Any], source: str | None) -> tuple[list[str], int]:
    """The lines of a function, and how many lines of the file come before them."""
    if source is not None:
        return source.splitlines(keepends=True), 0
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise _missing(function, "its source cannot be read", "Put it into a module") from None
    return lines, max(0, first - 1)


def _file(function: Callable[..., Any]) -> str:
    """The file, relative to the folder from which its module is imported."""
    path = PurePath(function.__code__.co_filename)
    module = sys.modules.get(function.__module__)
    depth = function.__module__.count(".") + (1 if path.name == "__init__.py" else 0)
    if module is None or function.__module__ == "__main__":
        return path.name
    return PurePath(*path.parts[-1 - depth :]).as_posix()


def _missing(function: Callable[..., Any], why: str, mend: str) -> FlowRefused:
    code = getattr(function, "__code__", None)
    file = PurePath(code.co_filename).name if code is not None else "?"
    line = code.co_firstlineno if code is not None else 0
    name = getattr(function, "__qualname__", repr(function))
    return FlowRefused([Remark(file, line, "source_missing", f"`{name}` has no source: {why}", mend)])
