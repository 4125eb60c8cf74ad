"""Compiles the parts of a node that may hold references: the fields of `with`, each by its part, and the contracts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeVar

from stepless.compile.parsed import Fields, ParsedNode
from stepless.errors import AuthorError, ExpressionError
from stepless.expressions import compile_contract, compile_expression, compile_template
from stepless.model.declaration.document import ConcurrencyView, NodeView
from stepless.model.declaration.views import NOTHING
from stepless.model.findings import Change, Finding, Fix
from stepless.model.graph import Config, Limits, Pace, Slots
from stepless.model.json import JSON
from stepless.model.kind import Case, Kind, Nature, Part
from stepless.model.scope import Contract, Expression, Reference, Template

Known = Callable[[str], bool]
T = TypeVar("T", Expression, Template, Contract)
ELSE: Final = "else"
MESSAGE: Final = "message"  # the name by which `where` of a receiver reads a message
_LANGUAGE: Final = "See its operators and functions in the reference; text in an expression needs quotes of its own: `'text'`."
_SCHEMA: Final = "A schema is an object, like `{type: string}`; see json-schema.org for its keywords."
_NO_TEMPLATE: Final = compile_template({}, lambda name: False)  # shared, like NOTHING: many nodes have only literals in `with`


def fill(node: ParsedNode, kind: Kind, known: Known) -> list[Finding]:
    """Sets the `config` and the `fields` of a node. Returns the findings about them, in the order of `with`."""
    if node.plain and kind.nature is Nature.EFFECT and _is_literal(node.raw.get("with") or NOTHING, kind.parts):
        node.config = Config(_NO_TEMPLATE, NOTHING, (), node.raw.get("with") or NOTHING)
        return []
    compiler = _Compiler(node, kind, known)
    node.config, node.fields = compiler.compile()
    return compiler.findings


def _is_literal(given: Mapping[str, JSON], parts: Mapping[str, Part]) -> bool:
    """Whether nothing in `with` is compiled, as in most nodes of a graph that a program has written."""
    for name in given:  # noqa: SIM110 - `all` would take twice as long for the one name of most nodes
        if parts.get(name) is not Part.LITERAL:
            return False
    return True


class _Compiler:
    """Compiles the fields of one node; collects faults in `findings` and references in `mentions`."""

    def __init__(self, node: ParsedNode, kind: Kind, known: Known) -> None:
        self.node, self.kind, self.known = node, kind, known
        self.findings: list[Finding] = []
        self.mentions: list[tuple[str, tuple[Reference, ...]]] = []
        self.templates: dict[str, JSON] = {}
        self.values: dict[str, Template] = {}
        self.expressions: dict[str, Expression] = {}
        self.literals: dict[str, JSON] = {}
        self.cases: list[Case] = []

    def compile(self) -> tuple[Config, Fields]:
        document, parts = self.node.document, self.kind.parts
        given = document.with_
        for name, value in given.items():
            _PARTS[parts.get(name, Part.TEMPLATE)](self, name, value)
        literals = given if self.literals == given else self.literals
        template = self._template("with", self.templates) if self.templates else None
        custom = document.join.vars
        limits = self._limits(document)
        config = Config(template or _NO_TEMPLATE, self.expressions or NOTHING, tuple(self.cases), literals or NOTHING)
        return config, Fields(
            self.values or NOTHING,
            None if isinstance(custom, str) else self._expression("join.vars.custom", custom["custom"]),
            self._contract("input_contract", document.input_contract),
            self._contract("output_contract", document.output_contract),
            self._answer_contract(given),
            self._contract("inputs", document.inputs),
            tuple(self.mentions),
            limits,
        )

    def _limits(self, document: NodeView) -> Limits | None:
        if "concurrency" not in document.raw and "rate" not in document.raw:
            return None
        slots, pace = None, None
        if (concurrency := document.concurrency) is not None:
            slots = Slots(concurrency.max, self._key("concurrency", concurrency.by), self._weight(concurrency))
        if (rate := document.rate) is not None:
            pace = Pace(rate.max, rate.per, self._key("rate", rate.by))
        return Limits(self.node.path, slots, pace)

    def _key(self, limit: str, by: str | None) -> Expression | None:
        return None if by is None else self._expression(f"{limit}.by", by)

    def _weight(self, limit: ConcurrencyView) -> int | Expression:
        weight = limit.weight
        return weight if isinstance(weight, int) else self._expression("concurrency.weight", weight) or 1

    # -- one field of `with`, by its part ---------------------------------------------------------------------------

    def _keep_template(self, name: str, value: JSON) -> None:
        self.templates[name] = value

    def _keep_literal(self, name: str, value: JSON) -> None:
        if self.kind.container is None or (self.kind.nature is Nature.EFFECT and name != "body"):  # else read from its parameters
            self.literals[name] = value

    def _keep_expression(self, name: str, value: JSON) -> None:
        if isinstance(value, str):
            known = self.known
            if self.kind.receives:
                self.known = lambda root: root == MESSAGE or known(root)
            expression = self._expression(f"with.{name}", value)
            self.known = known
            if expression is not None:
                self.expressions[name] = expression
        elif self.kind.nature is Nature.CONTAINER:
            template = self._template(f"with.{name}", value)
            if template is not None:
                self.values[name] = template
        else:
            self.templates[name] = value

    def _keep_cases(self, name: str, value: JSON) -> None:
        for case, test in value.items() if isinstance(value, Mapping) else ():
            if not isinstance(test, str):
                continue  # reported as a misfit
            if test.strip() == ELSE:
                self.cases.append(Case(case, None))
                continue
            expression = self._expression(f"with.{name}.{case}", test, prefix=f"case `{case}`: ")
            if expression is not None:
                self.cases.append(Case(case, expression))

    # -- compiling --------------------------------------------------------------------------------------------------

    def _expression(self, place: str, text: str, prefix: str = "") -> Expression | None:
        try:
            expression = compile_expression(text, self.known)
        except ExpressionError as error:
            self.findings.append(self._refused(place, error, prefix))
            return None
        if expression.references:
            self.mentions.append((place, expression.references))
        return expression

    def _template(self, place: str, value: JSON) -> Template | None:
        try:
            template = compile_template(value, self.known)
        except ExpressionError:
            self.findings += [self._refused(where, error) for where, error in self._faults_inside(place, value)]
            return None
        if template.references:
            self.mentions.append((place, template.references))
        return template

    def _faults_inside(self, place: str, value: JSON) -> Iterator[tuple[str, ExpressionError]]:
        """The faulty texts in a value that contains at least one."""
        for where, text in texts_in(value, place):
            try:
                template = compile_template(text, self.known)
            except ExpressionError as error:
                yield where, error
            else:
                self.mentions.append((where, template.references))

    def _contract(self, place: str, schema: Mapping[str, JSON] | None, within: str = "") -> Contract | None:
        if schema is None:
            return None
        try:
            return compile_contract(schema)
        except AuthorError as error:
            inside = error.place.removeprefix(within)
            where = f"{self.node.path}.{place}" + (f".{inside}" if inside else "")
            message, mend = f"`{place}`: {error.message}", error.mend or _SCHEMA
            self.findings.append(Finding(error.code, where, message, mend, self.node.id))
            return None

    def _answer_contract(self, given: Mapping[str, JSON]) -> Contract | None:
        fields = given.get("fields")
        literal = self.kind.parts.get("fields") is Part.LITERAL
        if self.kind.nature is not Nature.PAUSE or not literal or not isinstance(fields, dict):
            return None
        if not all(isinstance(field, dict | bool) for field in fields.values()):
            return None  # reported as a misfit
        return self._contract("with.fields", {"type": "object", "properties": fields}, "properties.")

    def _refused(self, place: str, error: ExpressionError, prefix: str = "") -> Finding:
        source = f" in {error.source!r}" if error.source else ""
        message = f"{prefix}{error.message} (character {error.offset + 1}{source})"
        stop = "" if error.mend.endswith(("?", ".")) else "."
        mend = f"{error.mend[:1].upper()}{error.mend[1:]}{stop}" if error.mend else _LANGUAGE
        return Finding(error.code, f"{self.node.path}.{place}", message, mend, self.node.id, fix=_respelled(error))


def _respelled(error: ExpressionError) -> Fix | None:
    if error.respelling is None:
        return None
    former, name = error.respelling
    return Fix(Change.RESPELL, f"Use `{(name or former).removeprefix('<')}`", name, former)


_PARTS: Final[Mapping[Part, Callable[[_Compiler, str, JSON], None]]] = {
    Part.TEMPLATE: _Compiler._keep_template,
    Part.LITERAL: _Compiler._keep_literal,
    Part.EXPRESSION: _Compiler._keep_expression,
    Part.CASES: _Compiler._keep_cases,
}


def texts_in(value: JSON, place: str) -> Iterator[tuple[str, str]]:
    """Yields every text in a value, with its dotted place."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from texts_in(inner, f"{place}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from texts_in(inner, f"{place}.{index}")
