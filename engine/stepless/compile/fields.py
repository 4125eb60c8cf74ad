"""A node's own parameters: `with` against its kind, and everything that holds references compiled.

A text with a reference may stand where the kind wants a number or an object: what it comes to is known only at run time,
and is judged then by the same model. So a misfit of such a text is no finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from stepless.compile.draft import DraftNode, Fields
from stepless.compile.shape import finding_of, place_of
from stepless.errors import AuthorError, ExpressionError
from stepless.expressions import compile_contract, compile_expression, compile_template
from stepless.model.document import CustomMerge
from stepless.model.findings import Finding
from stepless.model.graph import Config
from stepless.model.json import JSON
from stepless.model.kind import Case, Kind, Nature, Part
from stepless.model.scope import Contract, Expression, Reference, Template

Known = Callable[[str], bool]
T = TypeVar("T", Expression, Template, Contract)
ELSE: Final = "else"


def fill(node: DraftNode, kind: Kind, known: Known) -> list[Finding]:
    """Sets `fields`, `params` and `exits` of a node; answers what is wrong with them, in the order of `with`."""
    compiler = _Compiler(node, kind, known)
    node.fields = compiler.compile()
    node.params, misfits = _params(node, kind, known)
    if node.params is not None:
        node.exits = () if kind.terminal else kind.exits(node.params)
    return compiler.findings + misfits


class _Compiler:
    """Compiles the fields of one node; collects what is wrong in `findings` and what they read in `mentions`."""

    def __init__(self, node: DraftNode, kind: Kind, known: Known) -> None:
        self.node, self.kind, self.known = node, kind, known
        self.findings: list[Finding] = []
        self.mentions: list[tuple[str, tuple[Reference, ...]]] = []
        self.templates: dict[str, JSON] = {}
        self.values: dict[str, Template] = {}
        self.expressions: dict[str, Expression] = {}
        self.literals: dict[str, JSON] = {}
        self.cases: list[Case] = []

    def compile(self) -> Fields:
        document, parts = self.node.document, self.kind.parts
        for name, value in document.with_.items():
            _PARTS[parts.get(name, Part.TEMPLATE)](self, name, value)
        template = self._template("with", self.templates)
        custom = document.join.vars
        return Fields(
            Config(template or compile_template({}, self.known), self.expressions, tuple(self.cases), self.literals),
            self.values,
            self._expression("join.vars.custom", custom.custom) if isinstance(custom, CustomMerge) else None,
            self._contract("input_contract", document.input_contract),
            self._contract("output_contract", document.output_contract),
            self._answer_contract(),
            tuple(self.mentions),
        )

    # -- one field of `with`, by its part ---------------------------------------------------------------------------

    def _keep_template(self, name: str, value: JSON) -> None:
        self.templates[name] = value

    def _keep_literal(self, name: str, value: JSON) -> None:
        if self.kind.nature is not Nature.CONTAINER:  # a container's are read from its parameters
            self.literals[name] = value

    def _keep_expression(self, name: str, value: JSON) -> None:
        if isinstance(value, str):
            expression = self._expression(f"with.{name}", value)
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
                continue  # told as a misfit
            if test.strip() == ELSE:
                self.cases.append(Case(case, None))
                continue
            expression = self._expression(f"with.{name}.{case}", test, told=f"case `{case}`: ")
            if expression is not None:
                self.cases.append(Case(case, expression))

    # -- compiling --------------------------------------------------------------------------------------------------

    def _expression(self, place: str, text: str, told: str = "") -> Expression | None:
        try:
            expression = compile_expression(text, self.known)
        except ExpressionError as error:
            self.findings.append(self._refused(place, error, told))
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
        """Every faulty text in a value of which some text is faulty."""
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
            self.findings.append(Finding(error.error_code, where, f"`{place}`: {error.message}", error.mend, self.node.id))
            return None

    def _answer_contract(self) -> Contract | None:
        fields = self.node.document.with_.get("fields")
        literal = self.kind.parts.get("fields") is Part.LITERAL
        if self.kind.nature is not Nature.PAUSE or not literal or not isinstance(fields, dict):
            return None
        return self._contract("with.fields", {"type": "object", "properties": fields}, "properties.")

    def _refused(self, place: str, error: ExpressionError, told: str = "") -> Finding:
        source = f" in {error.source!r}" if error.source else ""
        message = f"{told}{error.message} (character {error.offset + 1}{source})"
        mend = f"{error.mend[:1].upper()}{error.mend[1:]}." if error.mend else ""
        return Finding(error.error_code, f"{self.node.path}.{place}", message, mend, self.node.id)


_PARTS: Final[Mapping[Part, Callable[[_Compiler, str, JSON], None]]] = {
    Part.TEMPLATE: _Compiler._keep_template,
    Part.LITERAL: _Compiler._keep_literal,
    Part.EXPRESSION: _Compiler._keep_expression,
    Part.CASES: _Compiler._keep_cases,
}


def texts_in(value: JSON, place: str) -> Iterator[tuple[str, str]]:
    """Every text in a value, with the dotted place where it stands."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from texts_in(inner, f"{place}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from texts_in(inner, f"{place}.{index}")


# -- the kind's model -------------------------------------------------------------------------------------------------


def _params(node: DraftNode, kind: Kind, known: Known) -> tuple[BaseModel | None, list[Finding]]:
    """`with` as the kind's parameters; None with its findings when it does not fit.

    A field that holds a reference where the model wants something else keeps its text. `kind.check` is asked whenever the
    other fields make a model.
    """
    path, raw = f"{node.path}.with", node.document.with_
    try:
        params = kind.params.model_validate(raw)
    except ValidationError as refused:
        errors = refused.errors(include_url=False)
    else:
        return params, [_owned(finding, node) for finding in kind.check(params, path)]
    deferred = {
        error["loc"][0] for error in errors
        if error["loc"] and _may_defer(kind, str(error["loc"][0])) and _is_deferred(error["input"], known)
    }
    misfits = [error for error in errors if not error["loc"] or error["loc"][0] not in deferred]
    if misfits:
        told = {(place_of(error, raw), error["type"]): error for error in misfits}
        return None, [finding_of(error, raw, kind.params, path, node.id) for error in told.values()]
    kept = {name: value for name, value in raw.items() if name in deferred}
    return _partial(node, kind, path, kept)


def _partial(node: DraftNode, kind: Kind, path: str, kept: Mapping[str, JSON]) -> tuple[BaseModel, list[Finding]]:
    raw = node.document.with_
    try:
        fitting = kind.params.model_validate({name: value for name, value in raw.items() if name not in kept})
    except ValidationError:  # a field that is demanded holds a reference
        return kind.params.model_construct(None, **raw), []
    names = {field.alias or name: name for name, field in kind.params.model_fields.items()}
    params = fitting.model_copy(update={names.get(name, name): value for name, value in kept.items()})
    return params, [_owned(finding, node) for finding in kind.check(params, path)]


def _owned(finding: Finding, node: DraftNode) -> Finding:
    return finding if finding.node is not None else replace(finding, node=node.id)


def _may_defer(kind: Kind, field: str) -> bool:
    """Whether a run fills the field in."""
    part = kind.parts.get(field, Part.TEMPLATE)
    return part is Part.EXPRESSION or (part is Part.TEMPLATE and kind.nature is not Nature.CONTAINER)


def _is_deferred(value: JSON, known: Known) -> bool:
    """Whether a value is a text that only a run can fill in. A text whose reference is faulty is told of elsewhere."""
    if not isinstance(value, str):
        return False
    try:
        return not compile_template(value, known).constant
    except ExpressionError:
        return True
