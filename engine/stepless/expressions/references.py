"""Parses `<root.path>` and `${NAME}` in text.

A `<` starts a reference only if a name, a path of `.name` and `[0]` steps and a `>` follow without a space. Similar texts
(`a < b`, `<div>`, `x<y`, `</a.b>`) stay text. A bare `<word>` is a reference if the word is known. An unknown name with a path is
an error, because `<ordr.body>` is probably a misspelling. With a `!` before the `>` the reference is strict: reading fails where
there is nothing to read. To write such a text literally, use `{{ '<' }}ordr.body>`.
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

STRICT: Final = "!"
"""Not a name: `known` says of it whether strict references are read. Otherwise they are text, as they were for earlier releases,
whose documents keep their meaning."""
ROOTS: Final = ("loop", "parallel", "workflow", "inputs", "input", "run")

# No shorter match of a step can succeed, so a failed attempt costs at most twice its own length. Attempts never overlap, so a
# scan is linear. (Possessive quantifiers would state this, but CPython before 3.11.5 mismatches them around groups.)
REFERENCE: Final = r"<(?P<root>[A-Za-z_][A-Za-z0-9_-]{0,63})(?P<path>(?:\.[\w-]+|\[-?[0-9]{1,9}\])*)(?P<strict>!?)>"
VARIABLE: Final = r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]{0,127})\}"

_EITHER: Final = re.compile(f"{REFERENCE}|{VARIABLE}")
_LETTERS: Final = string.ascii_lowercase + string.digits + "_-" + string.ascii_uppercase
_MIN_GUESSED_CHARACTERS: Final = 3  # any two shorter names differ by one typo
_STEP: Final = re.compile(r"\.([\w-]+)|\[(-?[0-9]+)\]")


def find_references(text: str, known: Known) -> tuple[Reference, ...]:
    """Returns every reference in `text`, in order of appearance. `${NAME}` always is one, with `env` set.

    Raises `ExpressionError` with code `unknown_reference` for a path under an unknown name.
    """
    return tuple(iterate_references(text, known))


def iterate_references(text: str, known: Known, start: int = 0, end: int | None = None) -> Iterator[Reference]:
    """Like `find_references` for `text[start:end]`, one at a time; offsets count from the start of `text`."""
    for match in _EITHER.finditer(text, start, len(text) if end is None else end):
        reference = read_reference(match, text, known)
        if reference is not None:
            yield reference


def read_reference(match: re.Match[str], text: str, known: Known) -> Reference | None:
    """Returns the reference of a match of REFERENCE or VARIABLE; None for an unknown bare word, and for a strict one that is not
    read."""
    written, offset = match.group(), match.start()
    if match["name"] is not None:
        return Reference(match["name"], (), written, offset, env=True)
    root, strict = match["root"], bool(match["strict"])
    if strict and not known(STRICT):
        return None
    if known(root):
        return Reference(root, _steps(match["path"], text, offset), written, offset, strict=strict)
    if match["path"]:
        raise unknown_root(root, known, text, offset)
    return None


def unknown_root(root: str, known: Known, text: str, offset: int) -> ExpressionError:
    """Returns the error for an unknown `root`, with the most similar known name, if any."""
    near = _nearest(root, known)
    mend = f"did you mean <{near}>?" if near else "write the id of a node, or one of " + ", ".join(ROOTS)
    respelling = (f"<{root}", f"<{near}" if near else None)
    return fault(f"<{root}> is not known here", text, offset, code=UNKNOWN_REFERENCE, mend=mend, respelling=respelling)


def doubtful_words(text: str, known: Known, guessed: dict[str, str | None], most: int) -> Iterator[tuple[str, str]]:
    """Yields the bare words in `<…>` that stay text but differ by one typo from a known name, each with that name. A word with a
    closing `</word>` in the text is markup. `guessed` caches earlier results; at most `most` words are examined in total."""
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
    """A known name that differs from `word` by one typo (a letter missing, doubled, wrong or swapped), else None.

    The names cannot be listed here; `known` only tests one. So this tries every typo, as in P. Norvig's spelling corrector: at
    most some nine thousand tests, and only before an error.
    """
    if len(word) < _MIN_GUESSED_CHARACTERS:
        return None
    return next((candidate for candidate in _typos(word) if candidate and known(candidate)), None)


def _typos(word: str) -> Iterator[str]:
    yield from (word.lower(), word.replace("-", "_"), word.replace("_", "-"))
    cuts = [(word[:index], word[index:]) for index in range(len(word) + 1)]
    for head, tail in cuts:
        yield head + tail[1:]
        yield head + tail[1:2] + tail[:1] + tail[2:]
        for letter in _LETTERS:
            yield head + letter + tail[1:]
            yield head + letter + tail
