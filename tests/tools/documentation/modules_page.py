"""Prints docs/contribute/modules.md: every module of the engine by package, with the first sentence of its docstring.

    .venv/bin/python tests/tools/documentation/modules_page.py > docs/contribute/modules.md

A test compares the page with what this script prints.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ENGINE: Final = Path(__file__).resolve().parents[3] / "engine" / "stepless"
CITATION: Final = re.compile(r" *\((?:docs/[\w./#-]+(?:, *)?)+\)")
SENTENCE_END: Final = re.compile(r"(?<=[.?!])\s+(?=[A-Z`*])")
INTRODUCTION: Final = """\
# Modules

Every module below `engine/stepless`, package by package. This page is made from the first sentence of each module's docstring by
`tests/tools/documentation/modules_page.py`. Which package may import which is in
[architecture](../understand/architecture.md#packages-and-directions).
"""


def render() -> str:
    """The page."""
    packages = sorted({path.parent for path in ENGINE.rglob("*.py")})
    return "\n".join([INTRODUCTION, *(line for package in packages for line in _package(package))]).rstrip() + "\n"


def _package(package: Path) -> Iterator[str]:
    name = package.relative_to(ENGINE).as_posix()
    yield f"## {'stepless' if name == '.' else name}\n"
    door = package / "__init__.py"
    if door.is_file():
        yield f"{purpose(door)}\n"
    yield "| module | what it is for |\n|---|---|"
    for path in sorted(package.glob("*.py")):
        if path != door:
            yield f"| `{path.relative_to(ENGINE).as_posix()}` | {purpose(path).replace('|', chr(92) + '|')} |"
    yield ""


def purpose(module: Path) -> str:
    """The first sentence of a module's docstring, on one line and without the pages that it cites."""
    paragraph = (ast.get_docstring(ast.parse(module.read_text("utf-8"))) or "").partition("\n\n")[0]
    return SENTENCE_END.split(CITATION.sub("", " ".join(paragraph.split())))[0]


if __name__ == "__main__":
    sys.stdout.write(render())
