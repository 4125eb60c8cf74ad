"""Renders values as text, in the form that their neighbours have."""

from __future__ import annotations

import json
import re
from typing import Final

from stepless.compile.reading.read_yaml import read_yaml
from stepless.compile.reading.syntax import SyntaxFault
from stepless.compile.reading.write_yaml import write_yaml
from stepless.model.json import JSON

MAX_FLOW_CHARACTERS: Final = 100
_MAX_KEY: Final = 1_000
"""Characters of a key that stands in one line with its colon; YAML looks for the colon behind 1,024 at most."""
_PLAIN: Final = re.compile(r"[A-Za-z_<$/][A-Za-z0-9_<>$/.\-]*|(?:[0-9]+(?:ms|[smhdw]))+")
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")  # JSON leaves them as they are, YAML reads some as line breaks


class Rendering:
    """`json`: the text is JSON. `step`: how many columns a block is further in than its key."""

    def __init__(self, *, json: bool, step: int) -> None:
        self.json = json
        self.step = step

    def flow(self, value: JSON) -> str:
        """Writes a value in one line."""
        if self.json:
            return _escaped(value)
        if isinstance(value, str) and _is_plain(value):
            return value
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self.flow(key)}: {self.flow(held)}" for key, held in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self.flow, value)) + "]"
        return _escaped(value)

    def scalar(self, value: JSON) -> str | None:
        """Writes a value behind its key, in one line of a block; None for what takes more lines."""
        if isinstance(value, dict | list):
            return self.flow(value) if not value else None
        text = write_yaml({"k": value}, indent=self.step)[3:].rstrip("\n")
        return None if "\n" in text else text

    def entry(self, key: str, value: JSON, column: int) -> str:
        """Writes `key: value` as a block; its first line has no indent, the others that of the column."""
        written = write_yaml({key: value}, indent=self.step)
        if written.startswith("? ") and len(self.flow(key)) < _MAX_KEY:
            written = self.flow(key) + write_yaml({"k": value}, indent=self.step)[1:]
        return _indented(written, column)

    def item(self, value: JSON, column: int) -> str:
        """Writes `- value` in the same way."""
        text = write_yaml({"k": [value]}, indent=self.step)
        return _indented(text.partition("\n")[2], column)


def _escaped(value: JSON) -> str:
    """JSON that means the same where it is read as YAML."""
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def _indented(text: str, column: int) -> str:
    first, *rest = text.removesuffix("\n").split("\n")
    return "\n".join([first, *(" " * column + line if line else "" for line in rest)])


def _is_plain(text: str) -> bool:
    if not _PLAIN.fullmatch(text) or text == "<<":  # as a key it would merge
        return False
    try:
        return bool(read_yaml(text) == text)
    except SyntaxFault:
        return False
