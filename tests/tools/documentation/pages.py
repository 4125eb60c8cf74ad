"""Parses pages of documentation for tests: their blocks of code in order, their links, and the headings that links lead to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FENCE = re.compile(r"^( *)(```+)(.*)$")
ITEM = re.compile(r"\s*(?:[-*]|\d+\.) +")
NAMED = re.compile(r"(?:#|//) (\S+\.\w+)$")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """One block of code. `marks` are the words after the language; `file` is the name in the first line
    (`# hello.yaml`), which is part of the text."""

    page: str
    line: int
    language: str
    marks: tuple[str, ...]
    text: str

    @property
    def file(self) -> str | None:
        named = NAMED.match(self.text.partition("\n")[0])
        return named[1] if named else next((mark for mark in self.marks if "." in mark), None)

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[Path]:
    """README.md and everything below docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """Every fenced block, and every indented one as if it were `bash`. Raises ValueError for a fence that is never closed."""
    lines = page.read_text("utf-8").splitlines()
    return list(in_lines(name_of(page), lines))


def in_lines(name: str, lines: list[str]) -> Iterator[Block]:
    """The blocks among the lines of a page."""
    at, item = 0, 0  # the column at which the text of the current list item begins, 0 outside lists
    while at < len(lines):
        line = lines[at]
        fence = FENCE.match(line)
        if fence:
            indent, ticks, info = fence.groups()
            close = next((end for end in range(at + 1, len(lines)) if lines[end].strip() == ticks), None)
            if close is None:
                raise ValueError(f"{name}:{at + 1}: the block is never closed")
            language, *marks = info.split() or [""]
            body = [line.removeprefix(indent) for line in lines[at + 1 : close]]
            yield Block(name, at + 1, language, tuple(marks), "\n".join([*body, ""]))
            at = close + 1
            continue
        code = " " * (item + 4)
        if line.startswith(code) and not lines[at - 1].strip():
            end = at
            while end < len(lines) and (lines[end].startswith(code) or not lines[end].strip()):
                end += 1
            yield Block(name, at + 1, "bash", (), "\n".join(line.removeprefix(code) for line in lines[at:end]).rstrip() + "\n")
            at = end
            continue
        marker = ITEM.match(line)
        item = len(marker[0]) if marker else item if not line.strip() or line.startswith(" ") else 0
        at += 1


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    kept, inside = [], False
    for line in page.read_text("utf-8").splitlines():
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


def links(page: Path) -> list[str]:
    """The targets of the page's links, except links to other sites."""
    return [target for target in LINK.findall(prose(page)) if not re.match(r"[a-z]+:", target)]


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as links write them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a block, each with what is shown below it. In a `console` block a command starts with `$ `."""
    found: list[tuple[list[str], list[str]]] = []
    shown = any(line.startswith("$ ") for line in text.splitlines())
    for line in text.splitlines():
        goes_on = bool(found) and not found[-1][1] and found[-1][0][-1].endswith(("\\", "|"))
        if goes_on:
            found[-1][0].append(line)
        elif not shown and line.strip() and not line.startswith("#"):
            found.append(([line], []))
        elif shown and line.startswith("$ "):
            found.append(([line[2:]], []))
        elif shown and found:
            found[-1][1].append(line)
    return [("\n".join(command), "\n".join(output).strip("\n")) for command, output in found]
