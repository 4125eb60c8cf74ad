"""Every limit is applied: a name in limits.py that neither the engine nor a Lambda function reads bounds nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from stepless import limits

ROOT: Final = Path(__file__).resolve().parents[2]
TABLE: Final = "engine/stepless/limits.py"
WORD: Final = re.compile(r"\b[A-Z][A-Z0-9_]{2,}\b")


def unused(names: set[str], sources: dict[str, str], table: str) -> set[str]:
    """The names that neither a source uses, nor a used name of the table is made from."""
    read = {word for name, text in sources.items() if name != table for word in WORD.findall(text)}
    rows = (line.partition("#")[0].partition(":") for line in sources[table].splitlines())
    made_from = {name: set(WORD.findall(value)) for name, _, value in rows}
    while more := {part for name in names & read for part in made_from.get(name, ()) if part not in read}:
        read |= more
    return names - read


def declared() -> set[str]:
    return {name for name in vars(limits) if name.isupper()}


def test_each_limit_is_applied() -> None:
    files = (path for folder in ("engine", "functions") for path in (ROOT / folder).rglob("*.py"))
    sources = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in files}
    assert len(declared()) > 300
    assert unused(declared(), sources, TABLE) == set(), "apply it, or remove it"


def test_an_unused_limit_is_found() -> None:
    table = "A_DAY: Final = 24  # of MAX_IDLE\nMAX_LIFE: Final = 2 * A_DAY\nMAX_IDLE: Final = 3\n"
    sources = {"limits.py": table, "run.py": "if life > MAX_LIFE:"}
    assert unused({"A_DAY", "MAX_LIFE", "MAX_IDLE"}, sources, "limits.py") == {"MAX_IDLE"}
