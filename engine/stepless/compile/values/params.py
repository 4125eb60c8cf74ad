"""Validates a node's own parameters: `with` against the model of its kind.

A text with a reference is allowed where the kind needs a number or an object: its value is known only at run time, and is
validated then by the same model. So a misfit of such a text is not a finding. All else is checked now, also next to a reference
in one form of several.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from stepless.compile.parsed import ParsedNode
from stepless.compile.shape import finding_of
from stepless.compile.values.fields import Known
from stepless.compile.values.open_values import open_values
from stepless.model.declaration.misfits import misfits
from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.model.kind import Kind, Nature, Part


def fit(node: ParsedNode, kind: Kind, known: Known) -> list[Finding]:
    """Sets `params` and `exits` of a node. Returns a finding for each misfit, in the order of `with`."""
    node.params, found = _params(node, kind, known)
    if node.params is not None:
        node.exits = () if kind.terminal else kind.exits(node.params)
    return found


def _params(node: ParsedNode, kind: Kind, known: Known) -> tuple[BaseModel | None, list[Finding]]:
    """`with` as the kind's parameters; None with findings if it does not fit.

    A field that holds a reference where the model needs another type keeps its text. `kind.check` is called if the other fields
    form a valid model.
    """
    path, raw = f"{node.path}.with", node.document.with_
    try:
        params = kind.params.model_validate(raw)
    except ValidationError as refused:
        errors = refused.errors(include_url=False)
    else:
        return params, [_owned(finding, node) for finding in kind.check(params, path)]
    is_open = open_values(known)
    faults = misfits(errors, raw, lambda error: _may_defer(kind, error) and is_open(error))
    if faults:
        return None, [finding_of(misfit, kind.params, path, node.id) for misfit in faults]
    deferred = {error["loc"][0] for error in errors}
    kept = {name: value for name, value in raw.items() if name in deferred}
    return _partial(node, kind, path, kept)


def _partial(node: ParsedNode, kind: Kind, path: str, kept: Mapping[str, JSON]) -> tuple[BaseModel, list[Finding]]:
    raw = node.document.with_
    try:
        fitting = kind.params.model_validate({name: value for name, value in raw.items() if name not in kept})
    except ValidationError:  # a required field holds a reference
        return kind.params.model_construct(None, **raw), []
    names = {field.alias or name: name for name, field in kind.params.model_fields.items()}
    params = fitting.model_copy(update={names.get(name, name): value for name, value in kept.items()})
    return params, [_owned(finding, node) for finding in kind.check(params, path)]


def _owned(finding: Finding, node: ParsedNode) -> Finding:
    return finding if finding.node is not None else replace(finding, node=node.id)


def _may_defer(kind: Kind, error: ErrorDetails) -> bool:
    """Whether a run fills in the field that the error is in."""
    if not error["loc"]:
        return False
    part = kind.parts.get(str(error["loc"][0]), Part.TEMPLATE)
    return part is Part.EXPRESSION or (part is Part.TEMPLATE and kind.nature is not Nature.CONTAINER)
