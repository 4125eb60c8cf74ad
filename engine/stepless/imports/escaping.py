"""Escapes what only looks like a reference, an expression or a variable of a document, so that it stays text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from stepless.expressions.references import REFERENCE, VARIABLE

MARK: Final = re.compile(r"<|\{\{|\$\{")
_READ_HERE: Final = re.compile(REFERENCE)
_ENV_HERE: Final = re.compile(VARIABLE)


def escaped_mark(text: str, start: int, known: Callable[[str], bool]) -> tuple[str, int]:
    """Returns the match of MARK at `start`, escaped if the compiler would read it, and the position after it. `known` tells
    whether `<name>` would be a reference."""
    if text.startswith("{{", start):
        return "{{ '{{' }}", start + 2
    if text.startswith("${", start):
        return ("{{ '$' }}{" if _ENV_HERE.match(text, start) else "${"), start + 2
    read = _READ_HERE.match(text, start)
    if read is not None and (read["path"] or known(read["root"])):
        return f"{{{{ '<' }}}}{read[0][1:]}", read.end()
    return (read[0], read.end()) if read is not None else ("<", start + 1)


def escaped(text: str, known: Callable[[str], bool]) -> str:
    """Returns the text with every mark escaped that the compiler would read."""
    pieces: list[str] = []
    at = 0
    while (mark := MARK.search(text, at)) is not None:
        pieces.append(text[at : mark.start()])
        written, at = escaped_mark(text, mark.start(), known)
        pieces.append(written)
    return "".join([*pieces, text[at:]])
