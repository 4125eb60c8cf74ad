"""Compiles templates: JSON values whose texts contain `<references>`, `${NAME}` and `{{ expressions }}`.

* A text that is exactly one reference or one `{{ … }}` becomes its value and keeps its JSON type. (A line break after it is
  ignored: YAML's block texts end with one.)
* Inside a longer text, values are formatted by `texts.to_text`: null as the empty text, containers as compact JSON.
* Keys of objects are not templates. To write `{{` or a text that looks like a reference, use `{{ '{{' }}`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from stepless.expressions.faults import TOO_LARGE, Misfit, fault
from stepless.expressions.language import compile_lexed
from stepless.expressions.lexer import lex
from stepless.expressions.references import REFERENCE, VARIABLE, Known, read_reference
from stepless.expressions.texts import READING, Evaluate, joined
from stepless.limits import MAX_DOCUMENT_DEPTH
from stepless.model.json import JSON
from stepless.model.scope import Reference, Scope

_OPENING: Final = re.compile(rf"\{{\{{|{REFERENCE}|{VARIABLE}")
_MARKS: Final = ("<", "${", "{{")


@dataclass(frozen=True, slots=True)
class CompiledTemplate:
    """An implementation of `model.scope.Template`: the value as written, its references in order of appearance, and `fill`, which
    renders it (None without references). `steps` is the cost of reading and copying; expressions charge their own."""

    value: JSON
    references: tuple[Reference, ...]
    fill: Evaluate | None = field(repr=False, compare=False)
    steps: int = 0

    @property
    def constant(self) -> bool:
        return self.fill is None

    def render(self, scope: Scope) -> JSON:
        """Returns the rendered value. Parts without references are the template's own objects, not copies. Raises
        `ExpressionError`, and any error of the scope."""
        if self.fill is None:
            return self.value
        try:
            scope.spend(self.steps)
            return self.fill(scope)
        except (RecursionError, MemoryError, OverflowError):
            raise fault("the values are too large or nested too deeply", "", 0) from None


def compile_template(value: JSON, known: Known) -> CompiledTemplate:
    """Compiles `value`; `known` says which names a reference may start with.

    Raises `ExpressionError` like `compile_expression`, and `expression_too_large` for more than MAX_DOCUMENT_DEPTH levels.
    """
    references: list[Reference] = []
    fill = _fill(value, known, references, 1)
    steps = 0 if fill is None else READING * len(references) + _size(value)
    return CompiledTemplate(value, tuple(references), fill, steps)


def _size(value: JSON) -> int:
    """The number of values in `value`."""
    size, level = 0, [value]
    while level:
        size += len(level)
        containers = [one for one in level if type(one) is dict or type(one) is list]
        level = [inner for one in containers for inner in (one.values() if type(one) is dict else one)]
    return size


def _fill(value: JSON, known: Known, references: list[Reference], depth: int) -> Evaluate | None:
    """The function that renders `value`, or None when it has no references. Appends its references to `references`."""
    if type(value) is str:
        return _fill_text(value, known, references) if any(mark in value for mark in _MARKS) else None
    if type(value) is not dict and type(value) is not list:
        return None
    if depth > MAX_DOCUMENT_DEPTH:
        raise fault(f"a value has at most {MAX_DOCUMENT_DEPTH} levels", "", 0, code=TOO_LARGE)
    entries = value.items() if type(value) is dict else enumerate(value)
    fills = [(place, _fill(item, known, references, depth + 1)) for place, item in entries]
    return _fill_container(value, [(place, fill) for place, fill in fills if fill is not None])


def _fill_container(value: JSON, fills: list[tuple[str | int, Evaluate]]) -> Evaluate | None:
    if not fills:
        return None

    def fill_container(scope: Scope) -> JSON:
        filled = value.copy()
        for place, fill in fills:
            filled[place] = fill(scope)
        return filled

    return fill_container


def _fill_text(text: str, known: Known, references: list[Reference]) -> Evaluate | None:
    pieces: list[str | Evaluate] = []
    done = at = 0
    while (match := _OPENING.search(text, at)) is not None:
        start, at = match.span()
        if match.group() == "{{":
            fill, at = _braced(text, at, known, references)
        else:
            reference = read_reference(match, text, known)
            if reference is None:
                continue
            references.append(reference)
            fill = _reading(reference)
        pieces += (text[done:start], fill)
        done = at
    pieces.append(text[done:])
    return _whole(text, [piece for piece in pieces if piece != ""])


def _whole(text: str, pieces: list[str | Evaluate]) -> Evaluate | None:
    """The function that renders a text: a single value keeps its type, several pieces become a text."""
    first = pieces[0]
    if all(isinstance(piece, str) for piece in pieces):
        return None
    if not isinstance(first, str) and (len(pieces) == 1 or (len(pieces) == 2 and pieces[1] in ("\n", "\r\n"))):
        return first
    join = joined(pieces)

    def fill_text(scope: Scope) -> JSON:
        try:
            return join(scope)
        except Misfit as misfit:
            raise fault(misfit.message, text, 0, mend=misfit.mend) from None

    return fill_text


def _braced(text: str, start: int, known: Known, references: list[Reference]) -> tuple[Evaluate, int]:
    """The expression after a `{{` at `start`, and the position after its `}}`."""
    lexed = lex(text, known, start, braced=True)
    expression = compile_lexed(text, lexed)
    references += expression.references
    return expression.evaluate, lexed.end + len("}}")


def _reading(reference: Reference) -> Evaluate:
    return lambda scope: scope.read(reference)
