"""Translates JavaScript conditions to expressions of documents. Supports the part of JavaScript that is common in conditions.

A Pratt parser (V. Pratt, "Top down operator precedence", 1973) over one line of tokens. Each piece is text with its precedence in
the language of expressions, so that parentheses are written only where they are needed.

    ===  !==  ==  !=  <  <=  >  >=          the same, == for === (types must match: `loose` is set if == or != was used)
    && || ! ?? c ? a : b                    and, or, not, default(a, b), a if c else b
    + - * / %                               the same
    .length .includes(x) .startsWith(x) …   len(a), contains(a, x), startswith(a, x) …
    Number(x) String(x) Math.max(…) …       float(x), str(x), max(…) …
    'text' 1.5 true null undefined [a, b]   literals
    {a: b, 'c': d}                          {"a": b, "c": d}
    a.b a?.b a[0]                           a['b'], a[0]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from stepless.imports.sim.names import ENV_NAME
from stepless.imports.sim.reference_translation import SHAPE, Read, Unread, quoted
from stepless.limits import MAX_EXPRESSION_CHARACTERS, MAX_EXPRESSION_DEPTH

_TERNARY, _OR, _AND, _NOT, _COMPARED, _SUM, _PRODUCT, _SIGNED, _ATOM = range(9)
Piece: TypeAlias = tuple[str, int]  # text and precedence

_TOKEN: Final = re.compile(
    r"""\s*(?:
      (?P<number> (?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w$]) )
    | (?P<text>   '[^'\\\n]*(?:\\[^\n][^'\\\n]*)*' | "[^"\\\n]*(?:\\[^\n][^"\\\n]*)*" )
    | (?P<env>    \{\{\s*[^{}\s]+\s*\}\} )
    | (?P<word>   [A-Za-z_$][\w$]* )
    | (?P<sign>   === | !== | == | != | <= | >= | && | \|\| | \?\? | \?\.(?![0-9]) | [-+*/%<>!?:.,()\[\]{}] )
    | (?P<end>    ;?\s*\Z )
    )""",
    re.VERBOSE,
)
_BINARY: Final[Mapping[str, tuple[int, int, str]]] = {  # binding power in JavaScript, precedence here, operator here
    "??": (1, _ATOM, "default"), "||": (1, _OR, "or"), "&&": (2, _AND, "and"),
    "===": (3, _COMPARED, "=="), "!==": (3, _COMPARED, "!="), "==": (3, _COMPARED, "=="), "!=": (3, _COMPARED, "!="),
    "<": (4, _COMPARED, "<"), "<=": (4, _COMPARED, "<="), ">": (4, _COMPARED, ">"), ">=": (4, _COMPARED, ">="),
    "+": (5, _SUM, "+"), "-": (5, _SUM, "-"), "*": (6, _PRODUCT, "*"), "/": (6, _PRODUCT, "/"), "%": (6, _PRODUCT, "%"),
}  # fmt: skip
_WORDS: Final[Mapping[str, str]] = {"true": "true", "false": "false", "null": "null", "undefined": "null"}
_FUNCTIONS: Final[Mapping[str, str]] = {
    "Number": "float", "parseFloat": "float", "parseInt": "int", "String": "str", "Boolean": "bool", "Math.abs": "abs",
    "Math.max": "max", "Math.min": "min", "JSON.parse": "json", "JSON.stringify": "str", "Object.keys": "keys",
    "Object.values": "values",
}  # fmt: skip
_METHODS: Final[Mapping[str, tuple[str, int]]] = {
    "includes": ("contains", 1), "startsWith": ("startswith", 1), "endsWith": ("endswith", 1), "toLowerCase": ("lower", 0),
    "toUpperCase": ("upper", 0), "trim": ("trim", 0), "split": ("split", 1), "join": ("join", 1), "toString": ("str", 0),
}  # fmt: skip
_ESCAPES: Final[Mapping[str, str]] = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"', "`": "`", "/": "/"}


class Untranslated(ValueError):
    """The test contains unsupported JavaScript; the message names it."""


@dataclass(frozen=True, slots=True)
class Translation:
    """An expression; `loose` if == or != compares with anything but null."""

    text: str
    loose: bool


@dataclass(frozen=True, slots=True)
class Names:
    """Resolves what the test reads: `found` a reference (a match of SHAPE), `variable` a name of the environment."""

    found: Callable[[re.Match[str]], Read | Unread]
    variable: Callable[[str], str]


def translate(source: str, names: Names) -> Translation:
    """Translates a test to an expression. Raises `Untranslated` for anything without an equivalent."""
    if not source.strip():
        raise Untranslated("it is empty")
    if len(source) > MAX_EXPRESSION_CHARACTERS:
        raise Untranslated(f"it is longer than {MAX_EXPRESSION_CHARACTERS} characters")
    parser = _Parser(source, names)
    text, _ = parser.ternary(0)
    parser.expect_end()
    return Translation(text, parser.loose)


class _Parser:
    def __init__(self, source: str, names: Names) -> None:
        self.source, self.names = source, names
        self.loose = False
        self.at = 0
        self.sort, self.token = "", ""
        self.match: re.Match[str] | None = None
        self.step()

    # -- tokens -------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Reads the next token. A `<` starts a reference only where a value is expected."""
        space = re.compile(r"\s*").match(self.source, self.at)
        start = space.end() if space else self.at
        reference = SHAPE.match(self.source, start) if self._wants_value() else None
        if reference is not None:
            self.sort, self.token, self.match, self.at = "reference", reference[0], reference, reference.end()
            return
        token = _TOKEN.match(self.source, self.at)
        if token is None or token.lastgroup is None:
            raise Untranslated(f"{self.source[start : start + 12]!r} has no equivalent")
        self.sort, self.token, self.at = token.lastgroup, token[token.lastgroup], token.end()

    def _wants_value(self) -> bool:
        return not (self.sort in ("number", "text", "env", "word", "reference") or self.token in (")", "]", "}"))

    def takes(self, *tokens: str) -> bool:
        if self.sort == "sign" and self.token in tokens:
            self.step()
            return True
        return False

    def expect(self, token: str) -> None:
        if not self.takes(token):
            raise Untranslated(f"{token!r} is missing before {self.token[:20]!r}")

    def expect_end(self) -> None:
        if self.sort != "end":
            raise Untranslated(f"{self.token[:20]!r} follows a complete expression")

    # -- expressions --------------------------------------------------------------------------------------------------

    def ternary(self, depth: int) -> Piece:
        if depth > MAX_EXPRESSION_DEPTH:
            raise Untranslated("it nests too deeply")
        test = self.binary(0, depth + 1)
        if not self.takes("?"):
            return test
        true = self.ternary(depth + 1)
        self.expect(":")
        false = self.ternary(depth + 1)
        return f"{_at(_OR, true)} if {_at(_OR, test)} else {_at(_TERNARY, false)}", _TERNARY

    def binary(self, least: int, depth: int) -> Piece:
        left = self.unary(depth)
        while self.sort == "sign" and self.token in _BINARY and _BINARY[self.token][0] > least:
            sign = self.token
            tightness, precedence, written = _BINARY[sign]
            self.step()
            right = self.binary(tightness, depth + 1)
            if sign in ("==", "!=") and "null" not in (left[0], right[0]):
                self.loose = True
            if sign == "??":
                left = f"default({left[0]}, {right[0]})", _ATOM
            else:
                inner = precedence + (precedence == _COMPARED)  # chained comparisons have another meaning here
                left = f"{_at(inner, left)} {written} {_at(precedence + 1, right)}", precedence
        return left

    def unary(self, depth: int) -> Piece:
        if depth > MAX_EXPRESSION_DEPTH:
            raise Untranslated("it nests too deeply")
        if self.takes("!"):
            if self.takes("!"):
                return f"bool({self.unary(depth + 1)[0]})", _ATOM
            return f"not {_at(_NOT, self.unary(depth + 1))}", _NOT
        if self.sort == "sign" and self.token in ("-", "+"):
            sign = self.token
            self.step()
            return f"{sign}{_at(_SIGNED, self.unary(depth + 1))}", _SIGNED
        return self.postfix(self.atom(depth + 1), depth + 1)

    def atom(self, depth: int) -> Piece:
        sort, token, match = self.sort, self.token, self.match
        if self.takes("("):
            inner = self.ternary(depth + 1)
            self.expect(")")
            return inner
        if self.takes("["):
            return f"[{', '.join(self.arguments(']', depth))}]", _ATOM
        if self.takes("{"):
            return self.fields(depth), _ATOM
        if sort not in ("number", "text", "env", "word", "reference"):
            raise Untranslated("it ends too early" if sort == "end" else f"expected a value instead of {token!r}")
        self.step()
        if sort == "reference":
            assert match is not None
            return self.read(match), _ATOM
        if sort == "word":
            return self.word(token, depth)
        return {"number": _number, "text": self.quoted, "env": self.variable}[sort](token), _ATOM

    def word(self, token: str, depth: int) -> Piece:
        if token in _WORDS:
            return _WORDS[token], _ATOM
        name = token
        while self.takes("."):
            name += f".{self.token}"
            self.step()
        if name not in _FUNCTIONS or not self.takes("("):
            raise Untranslated(f"`{name}` is not supported")
        arguments = self.arguments(")", depth)
        return f"{_FUNCTIONS[name]}({', '.join(arguments[:1] if name == 'parseInt' else arguments)})", _ATOM

    def arguments(self, closing: str, depth: int) -> list[str]:
        arguments: list[str] = []
        while not self.takes(closing):
            arguments.append(self.ternary(depth + 1)[0])
            if not self.takes(","):
                self.expect(closing)
                break
        return arguments

    def fields(self, depth: int) -> str:
        """Returns the fields of an object, behind its brace."""
        pieces: list[str] = []
        while not self.takes("}"):
            if self.sort not in ("word", "text"):
                raise Untranslated(f"{self.token[:20]!r} is not the name of a field")
            name = quoted(self.token) if self.sort == "word" else f'"{_plain(self.token[1:-1])}"'
            self.step()
            self.expect(":")
            pieces.append(f"{name}: {self.ternary(depth + 1)[0]}")
            if not self.takes(","):
                self.expect("}")
                break
        return f"{{{', '.join(pieces)}}}"

    def postfix(self, piece: Piece, depth: int) -> Piece:
        while self.sort == "sign" and self.token in (".", "?.", "["):
            if self.takes("["):
                piece = f"{_at(_ATOM, piece)}[{self.ternary(depth + 1)[0]}]", _ATOM
                self.expect("]")
                continue
            self.step()
            if self.takes("["):  # a?.[0]
                piece = f"{_at(_ATOM, piece)}[{self.ternary(depth + 1)[0]}]", _ATOM
                self.expect("]")
                continue
            piece = self.member(piece, depth)
        return piece

    def member(self, piece: Piece, depth: int) -> Piece:
        name = self.token
        if self.sort != "word":
            raise Untranslated(f"{name!r} is not the name of a member")
        self.step()
        if self.takes("("):
            arguments = self.arguments(")", depth)
            written, arity = _METHODS.get(name, ("", -1))
            if len(arguments) != arity:
                raise Untranslated(f"`.{name}()` has no equivalent")
            return f"{written}({', '.join([piece[0], *arguments])})", _ATOM
        if name == "length":
            return f"len({piece[0]})", _ATOM
        return f"{_at(_ATOM, piece)}[{quoted(name)}]", _ATOM

    # -- values -------------------------------------------------------------------------------------------------------

    def read(self, match: re.Match[str]) -> str:
        read = self.names.found(match)
        if isinstance(read, Read):
            return read.expression()
        if read.literal:
            raise Untranslated(f"`{match[0]}` is unknown")
        return "null"

    def variable(self, token: str) -> str:
        name = token.strip("{} \t\n")
        if not ENV_NAME.fullmatch(name):
            raise Untranslated(f"{token} is not a valid environment variable")
        return self.names.variable(name)

    def quoted(self, token: str) -> str:
        """Returns a quoted text. As in Sim, references inside the quotes are filled in as text."""
        pieces: list[str] = []
        inner, at = token[1:-1], 0
        for found in re.finditer(rf"{SHAPE.pattern}|\{{\{{\s*([^{{}}\s]+)\s*\}}\}}", inner):
            read = self.names.found(found) if found["root"] is not None else self.variable(found[0])
            if isinstance(read, Unread) and read.literal:
                continue
            pieces.append(_plain(inner[at : found.start()]))
            if isinstance(read, Read) and not read.plain:
                raise Untranslated(f"`{found[0]}` is inside quotes")
            pieces.append("" if isinstance(read, Unread) else read.expression() if isinstance(read, Read) else read)
            at = found.end()
        return f'"{"".join([*pieces, _plain(inner[at:])])}"'


def _number(token: str) -> str:
    if re.fullmatch(r"0[0-9]+", token):
        raise Untranslated(f"{token} begins with 0")
    return token


def _plain(raw: str) -> str:
    """The content of a quoted text, with the escapes of expressions."""
    text = re.sub(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))", _escaped, raw, flags=re.DOTALL)
    return quoted(text)[1:-1]


def _escaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _ESCAPES.get(match[3], match[3])


def _at(precedence: int, piece: Piece) -> str:
    """The piece, in parentheses if its precedence is lower than `precedence`."""
    return piece[0] if piece[1] >= precedence else f"({piece[0]})"
