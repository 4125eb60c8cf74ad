"""Tells line by line what became of a source: which node a line was compiled to, what was lifted and why, what was refused."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from stepless.flow.compiler.facts.block_nodes import Block
from stepless.flow.compiler.origin import Origin
from stepless.flow.compiler.refusals import Remark
from stepless.model.json import JSON

_LONGEST: Final = 60  # characters of an expression that a reason quotes
_FORMS: Final[Mapping[type[ast.AST], str]] = {
    ast.Call: "the call", ast.ListComp: "the comprehension", ast.SetComp: "the comprehension", ast.DictComp: "the comprehension",
    ast.GeneratorExp: "the generator", ast.JoinedStr: "the format", ast.BinOp: "the operation", ast.UnaryOp: "the operation",
    ast.Compare: "the comparison", ast.Subscript: "the item", ast.Attribute: "the attribute", ast.Name: "the name",
}


@dataclass(frozen=True, slots=True)
class Lifting:
    """An expression or a block that a node evaluates: where it stands, what it reads, and why: a reason, or the smallest part of
    the expression that has no counterpart in a document."""

    node: str
    origin: Origin
    at: ast.AST
    reads: Sequence[str]
    why: str | ast.expr | None
    block: Block | None = None


@dataclass(frozen=True, slots=True)
class Lifted:
    """What a node evaluates, for a reader: `exits` are the ways out of a block, if there are several."""

    node: str
    form: str
    file: str
    lines: tuple[int, int]
    reads: Sequence[str]
    leaves: Sequence[str]
    exits: Sequence[str]
    why: str


@dataclass(slots=True)
class Line:
    """One line of a source. `what` became of it: compiled, lifted, refused, unreachable; empty for one without a statement."""

    number: int
    text: str
    what: str = ""
    nodes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Explained:
    """One function of a flow: the workflow, or a part that was inlined."""

    file: str
    function: str
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What became of the source of a workflow. There is no document if anything was refused."""

    workflow: str
    functions: Sequence[Explained]
    lifted: Sequence[Lifted]
    refused: Sequence[Remark]
    warnings: Sequence[Remark]


def explained(unit: Any, refused: Sequence[Remark], warnings: Sequence[Remark]) -> Explanation:
    """Returns what became of the source that a unit has read."""
    lifted = [_lifted(one) for one in unit.liftings]
    of_lines = {(one.file, one.line) for one in refused}
    lost: list[tuple[str, range]] = []
    for origin, statement, refusal in unit.refused:
        lines = origin.line(statement), origin.last_line(statement)
        told = (origin.file, origin.line(refusal.node)) in of_lines or refusal.message in {one.message for one in refused}
        if told:
            lost.append((origin.file, range(lines[0], lines[1] + 1)))
        elif refusal.code != "unbound":  # it would be lifted if nothing were refused
            lifted.append(Lifted("", "block", origin.file, lines, (), (), (), refusal.message))
    lifted.sort(key=lambda one: (one.file, one.lines))
    lost += [(one.file, range(one.line, one.line + 1)) for one in refused]
    origins = {origin.key: origin for origin in (unit.origin, *(part.origin for part in unit.sources.values()))}
    functions = [_function(unit, origin, lifted, lost, warnings) for origin in origins.values()]
    return Explanation(unit.workflow, functions, lifted, refused, warnings)


def _lifted(one: Lifting) -> Lifted:
    origin, block = one.origin, one.block
    lines = origin.line(one.at), origin.last_line(one.at)
    if block is None:
        return Lifted(one.node, "expression", origin.file, lines, one.reads, (), (), _reason(one))
    exits = block.exits if len(block.exits) > 1 else ()
    return Lifted(one.node, "block", origin.file, lines, one.reads, block.outputs, exits, _reason(one))


def _reason(one: Lifting) -> str:
    part = one.why
    if isinstance(part, str):
        return part
    if part is None:
        return "it may fail, and a handler around it takes the exception of Python"
    source = ast.get_source_segment(one.origin.text, part) if hasattr(part, "lineno") else None
    shown = " ".join((source or ast.unparse(part)).split())
    shown = shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
    return f"{_FORMS.get(type(part), 'the expression')} `{shown}` has no exact counterpart in a document"


def _function(
    unit: Any, origin: Origin, lifted: Iterable[Lifted], lost: Iterable[tuple[str, range]], warnings: Iterable[Remark]
) -> Explained:
    texts = origin.text.splitlines()
    lines = {number: Line(number, text) for number, text in enumerate(texts, origin.first + 1)}
    tree = ast.parse(origin.text)  # as it is written: what is compiled may have been rewritten
    if unit.level:
        _mark(lines, (number for one in ast.walk(tree) for number in _head(one, origin)), "compiled")
    for one in lifted:
        if one.file == origin.file:
            _mark(lines, range(one.lines[0], one.lines[1] + 1), "lifted")
    for id, first in _places(unit, origin).items():
        if first in lines:
            lines[first].nodes.append(id)
    for warning in warnings:
        if warning.code == "unreachable" and warning.file == origin.file:
            _mark(lines, _rest(tree, warning.line - origin.first, origin), "unreachable")
    for file, numbers in lost:
        _mark(lines, numbers if file == origin.file else (), "refused")
    return Explained(origin.file, origin.name, [*lines.values()])


def _mark(lines: Mapping[int, Line], numbers: Iterable[int], what: str) -> None:
    for number in numbers:
        if number in lines and (text := lines[number].text.strip()) and not text.startswith("#"):
            lines[number].what = what


def _head(node: ast.AST, origin: Origin) -> Iterable[int]:
    """The lines of a statement, without those of statements in it."""
    if not isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
        return ()
    first = node.pattern.lineno if isinstance(node, ast.match_case) else node.lineno
    decorators = [one.lineno for one in getattr(node, "decorator_list", ())]
    body: list[Any] = getattr(node, "body", []) or getattr(node, "cases", [])
    inner = [getattr(one, "lineno", 0) or one.pattern.lineno for one in body[:1]]
    last = max(first, inner[0] - 1) if inner else getattr(node, "end_lineno", None) or first
    return range(min([first, *decorators]) + origin.first, last + origin.first + 1)


def _rest(tree: ast.AST, line: int, origin: Origin) -> Iterator[int]:
    """The lines of the statement that begins in a line, and of those behind it in its suite."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            found: Any = getattr(node, name, None)
            suite = found if isinstance(found, list) else []
            for one in suite:
                if one.lineno >= line and any(other.lineno == line for other in suite):
                    yield from range(one.lineno + origin.first, (one.end_lineno or one.lineno) + origin.first + 1)


def _places(unit: Any, origin: Origin) -> dict[str, int]:
    """The first lines of the nodes that stand for something of a function."""
    others = {id: lines for part in unit.sources.values() for id, lines in part.nodes.items()}
    part = unit.sources.get(origin.key)
    if part is not None and part.nodes:
        return {id: lines[0] for id, lines in part.nodes.items()}
    return {id: lines[0] for id, lines in _nodes(unit.level) if id not in others}


def _nodes(level: Mapping[str, Any]) -> Iterator[tuple[str, list[JSON]]]:
    for id, node in level.items():
        yield id, node["at"]
        body = (node.get("with") or {}).get("body")
        if node["type"] in ("loop", "parallel") and isinstance(body, Mapping):
            yield from _nodes(body["nodes"])
