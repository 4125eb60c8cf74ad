"""The reader of `<root.path>` and `${NAME}` in text.

A `<` starts a reference only where a name, a path of `.name` and `[0]` steps and a `>` follow without a space. What else
looks like it (`a < b`, `<div>`, `x<y`, `</a.b>`) is text. A bare `<word>` is a reference when the word is known; with a
path an unknown name is an error, since nobody writes `<ordr.body>` by intention. A text that needs such a thing literally
writes `{{ '<' }}ordr.body>`.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from stepless.errors import ExpressionError
from stepless.expressions.faults import TOO_LARGE, UNKNOWN_REFERENCE, fault
from stepless.limits import MAX_REFERENCE_STEPS
from stepless.model.json import Path
from stepless.model.scope import Reference

Known: TypeAlias = Callable[[str], bool]

ROOTS: Final = ("loop", "parallel", "workflow", "inputs", "input", "run")

# Nothing can follow a piece that was cut short: a failed attempt costs its own length twice. Attempts never overlap, so a scan
# is linear. (Possessive quantifiers would say so, but CPython before 3.11.5 mismatches them around groups.)
REFERENCE: Final = r"<(?P<root>[A-Za-z_][A-Za-z0-9_-]{0,63})(?P<path>(?:\.[\w-]+|\[-?[0-9]{1,9}\])*)>"
VARIABLE: Final = r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]{0,127})\}"

_EITHER: Final = re.compile(f"{REFERENCE}|{VARIABLE}")
_LETTERS: Final = string.ascii_lowercase + string.digits + "_-" + string.ascii_uppercase
_MIN_GUESSED_CHARACTERS: Final = 3  # any two names shorter than that are a slip apart
_STEP: Final = re.compile(r"\.([\w-]+)|\[(-?[0-9]+)\]")


def find_references(text: str, known: Known) -> tuple[Reference, ...]:
    """Every reference in `text`, in order of appearance; `${NAME}` always is one, with `env` set.

    Raises `ExpressionError` with code `unknown_reference` at a path under a name that is not known.
    """
    return tuple(iterate_references(text, known))


def iterate_references(text: str, known: Known, start: int = 0, end: int | None = None) -> Iterator[Reference]:
    """Like `find_references` for `text[start:end]`, one at a time; offsets count from the start of `text`."""
    for match in _EITHER.finditer(text, start, len(text) if end is None else end):
        reference = read_reference(match, text, known)
        if reference is not None:
            yield reference


def read_reference(match: re.Match[str], text: str, known: Known) -> Reference | None:
    """The reference that a match of REFERENCE or VARIABLE stands for; None for a bare word that is not known."""
    written, offset = match.group(), match.start()
    if match["name"] is not None:
        return Reference(match["name"], (), written, offset, env=True)
    root = match["root"]
    if known(root):
        return Reference(root, _steps(match["path"], text, offset), written, offset)
    if match["path"]:
        raise unknown_root(root, known, text, offset)
    return None


def unknown_root(root: str, known: Known, text: str, offset: int) -> ExpressionError:
    """The error that names `root` and, if there is one, the known name that it was probably meant to be."""
    near = _nearest(root, known)
    mend = f"did you mean <{near}>?" if near else "write the id of a node, or one of " + ", ".join(ROOTS)
    return fault(f"<{root}> is not known here", text, offset, code=UNKNOWN_REFERENCE, mend=mend)


def doubtful_words(text: str, known: Known, guessed: dict[str, str | None], most: int) -> Iterator[tuple[str, str]]:
    """The bare words in `<…>` that stay text and are one slip away from a known name, each with that name. What the text closes
    (`</word>`) is markup. `guessed` keeps what was found out before; at most `most` words are looked at in all."""
    for match in _EITHER.finditer(text):
        word = match["root"]
        if word is None or match["path"] or known(word) or f"</{word}" in text:
            continue
        if word not in guessed:
            if len(guessed) == most:
                continue
            guessed[word] = _nearest(word, known)
        near = guessed[word]
        if near is not None:
            yield word, near


def _steps(written: str, text: str, offset: int) -> Path:
    steps = tuple(name or int(index) for name, index in _STEP.findall(written))
    if len(steps) > MAX_REFERENCE_STEPS:
        raise fault(f"a reference has at most {MAX_REFERENCE_STEPS} steps", text, offset, code=TOO_LARGE)
    return steps


def _nearest(word: str, known: Known) -> str | None:
    """A known name one slip of the pen away from `word` (a letter missing, doubled, wrong or swapped), else None.

    The names themselves are not at hand, only the question whether one is known: so every slip is tried, as in
    P. Norvig's spelling corrector. At most some nine thousand questions, and only on the way to an error.
    """
    if len(word) < _MIN_GUESSED_CHARACTERS:
        return None
    return next((candidate for candidate in _slips(word) if candidate and known(candidate)), None)


def _slips(word: str) -> Iterator[str]:
    yield from (word.lower(), word.replace("-", "_"), word.replace("_", "-"))
    cuts = [(word[:index], word[index:]) for index in range(len(word) + 1)]
    for head, tail in cuts:
        yield head + tail[1:]
        yield head + tail[1:2] + tail[:1] + tail[2:]
        for letter in _LETTERS:
            yield head + letter + tail[1:]
            yield head + letter + tail
