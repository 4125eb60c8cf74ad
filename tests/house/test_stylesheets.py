"""
The console is one page, and every stylesheet stays once it is loaded: a class looks the same whatever was opened before. Its
colours, type sizes, corners and times are those of one file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

SHEETS = Path(__file__).resolve().parents[2] / "console" / "src"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SELECTORS = re.compile(r"([^{};@]+)\{")
BARE = re.compile(r"\.([\w-]+)(?::[\w-]+(?:\([^()]*\))?|\[[^\]]*\])*")  # one class, with its states
TOKENS = SHEETS / "ui" / "theme" / "tokens.css"
# What a stylesheet, or a style in a script, may not say by itself. Lines are 1 or 2 px wherever they are.
OFF_TOKENS = {
    "colour": re.compile(r"#(?:[0-9a-fA-F]{3,4}){1,2}\b(?=[^{]*[;}\"])|\b(?:rgba?|hsla?|oklch|light-dark)\("),
    "type": re.compile(r"font(?:-size|Size)?: *\"?[^;\"{}]*?(?<![/\d.])\d+(?:\.\d+)?(?:px|rem|em|pt)\b"),
    "weight": re.compile(r"font(?:-weight|Weight): *\"?(?!400\b|600\b|inherit\b)\w+"),
    "corner": re.compile(r"(?:border-radius|borderRadius): *\"?[^;\"}]*?[1-9]\d*px"),
    "time": re.compile(r"(?:transition|animation)[\w-]*: *[^;}]*?\d(?:ms|s)\b"),
}
STYLED_SCRIPT = re.compile(r"EditorView\.theme\(|\bSTYLE = `")
MOST_MS = 150


def off_tokens(text: str) -> list[str]:
    """What a text says that only the file of the tokens may."""
    text = COMMENT.sub("", text)
    return [f"{what}: {found[0]}" for what, pattern in OFF_TOKENS.items() for found in pattern.finditer(text)]


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


def test_colours_type_corners_and_times_are_those_of_the_tokens() -> None:
    paths = [path for path in SHEETS.rglob("*.css") if path != TOKENS]
    paths += [path for path in SHEETS.rglob("*.ts") if STYLED_SCRIPT.search(path.read_text("utf-8"))]
    assert len(paths) > 25
    found = {path.name: off for path in paths if (off := off_tokens(path.read_text("utf-8")))}
    assert found == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (".a { color: #0af; background: rgb(0 0 0); }", ["colour", "colour"]),
        (".a { font-size: 11px; font: 400 13px/20px var(--sans); }", ["type", "type"]),
        ('".a": { fontSize: "13px", borderRadius: "6px", fontWeight: "500" }', ["type", "weight", "corner"]),
        (".a { border-radius: 8px; transition: color 120ms; font-weight: bold; }", ["weight", "corner", "time"]),
        (".a { font: 400 var(--size-1)/16px var(--mono); border-radius: 50%; }", []),
        (".a { transition: color var(--quick); } #stage { color: var(--text); }", []),
    ],
)
def test_a_value_beside_the_tokens_is_found(text: str, found: list[str]) -> None:
    assert [one.split(":")[0] for one in off_tokens(text)] == found


def test_nothing_moves_for_longer_than_150_ms() -> None:
    times = {name: int(ms) for name, ms in re.findall(r"--([\w-]+): *(\d+)ms", TOKENS.read_text("utf-8").split("@media")[0])}
    assert times.pop("unhurried") == 200  # no movement: the wait before a skeleton
    assert times.keys() == {"quick", "at-once"}
    assert max(times.values()) <= MOST_MS
    assert "--quick: 0ms" in TOKENS.read_text("utf-8").split("prefers-reduced-motion")[1]
