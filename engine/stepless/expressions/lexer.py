r"""Splits the source of an expression into plain text for Python's parser, references and quoted texts, in one pass.

The plain text is ASCII on one line with the length of the source: underscores replace each reference and each quoted text,
character by character. So values never become source, and every position in the syntax tree is a position in the source. Quoted
texts follow these rules, not Python's:

* `\\ \' \" \n \r \t \xNN \uNNNN` are escapes; any other backslash stays, so that `'\d+'` and `'\bword\b'` are patterns.
* `<reference>` and `${NAME}` inside quotes are replaced by text, which can neither end the quotes nor change the expression.
* There are no prefixes (`f''`, `b''`) and no triple quotes, and adjacent texts are not joined.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

from stepless.errors import ExpressionError
from stepless.expressions.faults import SYNTAX, TOO_LARGE, fault
from stepless.expressions.references import (
    REFERENCE,
    VARIABLE,
    Known,
    iterate_references,
    read_reference,
    unknown_root,
)
from stepless.limits import MAX_EXPRESSION_CHARACTERS, MAX_EXPRESSION_DEPTH
from stepless.model.scope import Reference

Piece: TypeAlias = str | Reference
Binding: TypeAlias = Reference | tuple[Piece, ...]  # a reference, or a quoted text in pieces

_TOKEN: Final = re.compile(
    rf"""
      (?P<reference> {REFERENCE} | {VARIABLE} )
    | (?P<quoted>    ' [^'\\\n]* (?: \\[^\n] [^'\\\n]* )* ' | " [^"\\\n]* (?: \\[^\n] [^"\\\n]* )* " )
    | (?P<number>    (?: [0-9]+ (?: \.[0-9]* )? | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )? )
    | (?P<word>      [A-Za-z_][A-Za-z0-9_]* )
    | (?P<space>     [\ \t\r\n]+ )
    | (?P<open>      [(\[{{] )
    | (?P<close>     [)\]}}] )
    | (?P<foreign>   && | \|\| | [=!]== | !(?!=) | (?<![=!<>:])=(?!=) )
    | (?P<sign>      [-+*/%<>=!,:.|&^~@] )
    """,
    re.VERBOSE,
)
_VALUES: Final = frozenset({"reference", "quoted", "number", "word"})
_PAIRS: Final = {")": "(", "]": "[", "}": "{"}
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|([\\'\"nrt]))")
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t"}
_FIXES: Final = {
    "'": "close the quotes on the same line",
    '"': "close the quotes on the same line",
    "#": "an expression has no comments",
    "`": "quote a text with ' or \"",
    "‘": "quote a text with '", "’": "quote a text with '", "“": 'quote a text with "', "”": 'quote a text with "',
    "$": "a variable of the environment is written ${NAME}",
    ";": "one expression only",
    "&&": "write and",
    "||": "write or",
    "!": "write not",
    "=": "write == to compare",
    "===": "write ==",
    "!==": "write !=",
    "?": "write `x if condition else y`",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Lexed:
    """The result of the lexer. `plain` is the source from `start`, ready for the parser; `bindings` are keyed by position in the
    source; `end` is the end of the expression."""

    plain: str
    bindings: dict[int, Binding]
    start: int
    end: int


def lex(source: str, known: Known, start: int = 0, *, braced: bool = False) -> Lexed:
    """Reads one expression from `start` to the end of `source`, or to its closing `}}` when it is `braced`.

    Raises `ExpressionError` for unknown references, invalid characters outside quotes, brackets that do not match or nest too
    deeply, and a source that is too long.
    """
    plain: list[str] = []
    bindings: dict[int, Binding] = {}
    brackets: list[str] = []
    at, last = start, ""
    while at < len(source) and not (braced and not brackets and source.startswith("}}", at)):
        match = _TOKEN.match(source, at)
        if match is None or match.lastgroup is None or match.lastgroup == "foreign":
            raise _meaningless(source, at, match.group() if match else source[at])
        sort, written = match.lastgroup, match.group()
        if match.end() - start > MAX_EXPRESSION_CHARACTERS:
            raise fault(f"an expression has at most {MAX_EXPRESSION_CHARACTERS} characters", source, start, code=TOO_LARGE)
        if sort in _VALUES and last in _VALUES:
            raise fault("something is missing between these two", source, at, code=SYNTAX, mend="write an operator or a space")
        if sort in ("reference", "quoted"):
            bindings[at] = _bind(match, sort, source, known)
            written = "_" * len(written)
        elif sort == "space":
            written = " " * len(written)
        else:
            _nest(sort, written, brackets, source, at)
        plain.append(written)
        at, last = match.end(), sort
    if brackets or (braced and at >= len(source)):
        unclosed = brackets[-1] if brackets else "{{"
        raise fault(f"{unclosed} is never closed", source, start, code=SYNTAX)
    return Lexed("".join(plain), bindings, start, at)


def _bind(match: re.Match[str], sort: str, source: str, known: Known) -> Binding:
    if sort == "reference":
        reference = read_reference(match, source, known)
        if reference is None and match["strict"] and known(match["root"]):
            raise fault("a strict reference cannot be read here", source, match.start(), code=SYNTAX, mend="write need(<…>)")
        if reference is None:
            raise unknown_root(match["root"], known, source, match.start())
        return reference
    pieces: list[Piece] = []
    at, end = match.start() + 1, match.end() - 1
    for reference in iterate_references(source, known, at, end):
        pieces += (_unescape(source[at : reference.offset]), reference)
        at = reference.offset + len(reference.text)
    return (*pieces, _unescape(source[at:end]))


def _nest(sort: str, bracket: str, brackets: list[str], source: str, at: int) -> None:
    if sort == "open":
        brackets.append(bracket)
        if len(brackets) > MAX_EXPRESSION_DEPTH:
            raise fault(f"brackets nest at most {MAX_EXPRESSION_DEPTH} deep", source, at, code=TOO_LARGE)
    elif sort == "close" and (not brackets or brackets.pop() != _PAIRS[bracket]):
        raise fault(f"{bracket} closes nothing", source, at, code=SYNTAX)


def _unescape(raw: str) -> str:
    if "\\" not in raw:
        return raw
    return _ESCAPE.sub(lambda match: _escaped(*match.groups()), raw)


def _escaped(two: str | None, four: str | None, letter: str | None) -> str:
    if letter is not None:
        return _ESCAPED.get(letter, letter)
    return chr(int(two or four or "", 16))


def _meaningless(source: str, at: int, written: str) -> ExpressionError:
    shown = written if written.isprintable() else f"U+{ord(written):04X}"
    return fault(f"{shown} means nothing here", source, at, code=SYNTAX, mend=_FIXES.get(written, "put text in quotes"))
