"""Reads a small subset of Markdown: paragraphs, lists, `**bold**`, `*italic*`, `` `code` `` and links to https, http and mailto.

Everything else is text: no HTML, no images, no headings. Each reader renders the spans in its own way and escapes their texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

_LINK: Final = r"(?:https?://|mailto:)[^\s()<>\"]{1,2000}"
_SPAN: Final = re.compile(
    rf"\*\*(?P<b>[^*\n]{{1,500}})\*\*|\*(?P<i>[^*\s][^*\n]{{0,500}})\*|`(?P<code>[^`\n]{{1,500}})`"
    rf"|\[(?P<name>[^\[\]\n]{{1,500}})\]\((?P<href>{_LINK})\)"
)
_ITEM: Final = re.compile(r"[-*] +")
_SAFE: Final = re.compile(_LINK)


class Span(NamedTuple):
    """`style` is b, i, code or empty; `href` is empty for what is no link."""

    text: str
    style: str = ""
    href: str = ""


class Block(NamedTuple):
    """A paragraph, whose `lines` are broken as they were written, or a list of items."""

    is_list: bool
    lines: Sequence[Sequence[Span]]


def is_safe_link(text: str) -> bool:
    """Returns whether a page may lead to this address."""
    return _SAFE.fullmatch(text) is not None


def blocks_of(text: str) -> list[Block]:
    """Returns the paragraphs and lists of a text."""
    blocks = []
    for paragraph in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n").strip()):
        lines = [line.strip() for line in paragraph.split("\n") if line.strip()]
        for is_list, group in groupby(lines, lambda line: _ITEM.match(line) is not None):
            blocks.append(Block(is_list, [tuple(_spans(_ITEM.sub("", line, count=1) if is_list else line)) for line in group]))
    return blocks


def plain(blocks: Sequence[Block]) -> str:
    """Returns the blocks as text without marks, links with their addresses."""
    return "\n".join(("- " if block.is_list else "") + "".join(map(_plain, line)) for block in blocks for line in block.lines)


def _plain(span: Span) -> str:
    return f"{span.text} ({span.href})" if span.href and span.href != span.text else span.text


def _spans(line: str) -> Iterator[Span]:
    end = 0
    for found in _SPAN.finditer(line):
        if found.start() > end:
            yield Span(line[end : found.start()])
        end = found.end()
        if found["href"]:
            yield Span(found["name"], "", found["href"])
        else:
            style = next(name for name in ("b", "i", "code") if found[name])
            yield Span(found[style], style)
    if end < len(line):
        yield Span(line[end:])
