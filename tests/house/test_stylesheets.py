"""The console is one page, and every stylesheet stays once it is loaded: a class looks the same whatever was opened before."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

SHEETS = Path(__file__).resolve().parents[2] / "console" / "src"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SELECTORS = re.compile(r"([^{};@]+)\{")
BARE = re.compile(r"\.([\w-]+)(?::[\w-]+(?:\([^()]*\))?|\[[^\]]*\])*")  # one class, with its states


def styled(text: str) -> set[str]:
    """The classes that a stylesheet styles wherever they are used."""
    parts = (part.strip() for found in SELECTORS.findall(COMMENT.sub("", text)) for part in found.split(","))
    return {found[1] for part in parts if (found := BARE.fullmatch(part))}


def test_no_two_stylesheets_style_the_same_class() -> None:
    sheets = defaultdict(list)
    for path in sorted(SHEETS.rglob("*.css")):
        for name in styled(path.read_text("utf-8")):
            sheets[name].append(str(path.relative_to(SHEETS)))
    assert len(sheets) > 100
    assert {name: found for name, found in sheets.items() if len(found) > 1} == {}


def test_a_class_with_a_state_counts_and_one_in_another_does_not() -> None:
    assert styled(".rows:hover, .a .b, .c[data-x='1'] { gap: 0; } @media (width < 1px) { .d { gap: 0; } }") == {"rows", "c", "d"}
