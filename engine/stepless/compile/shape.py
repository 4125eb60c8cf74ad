"""Validates the document against the model tree: every misfit becomes a finding, and the rest goes on to the other checks.

Faulty parts are removed and the rest is checked further, so that all findings are reported at once. Removed parts could mislead
other checks (an edge that cannot be read is missing at its join), so `incomplete` informs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from stepless.compile.fixes import field_names, fix_of, words, written_out
from stepless.compile.parsed import Shape, as_written
from stepless.compile.suggest import did_you_mean
from stepless.limits import MAX_COUNTED_FINDINGS
from stepless.model.declaration.document import BodyView, DocumentView
from stepless.model.declaration.misfits import Misfit, misfits, preview
from stepless.model.declaration.validation import BodyDocument, Document
from stepless.model.findings import Finding
from stepless.model.json import JSON

_STAND_INS: Final[Mapping[str, JSON]] = {"id": "unreadable", "nodes": {}}
_NO_TYPE: Final = "unreadable"
JSON_TYPES: Final = ("string", "number", "integer", "boolean", "object", "array", "null")


def validated(raw: Mapping[str, JSON], path: str, view: type[BodyView]) -> Shape:
    """Validates `raw`, the value at `path`, against the model of `view`, with a finding for every misfit. The models are
    discarded after validation; the document is read through views."""
    model = Document if view is DocumentView else BodyDocument
    try:
        model.model_validate(dict(raw))
        return as_written(raw, path, view)
    except ValidationError as refused:
        errors = refused.errors(include_url=False)
    findings = tuple(finding_of(misfit, model, path) for misfit in misfits(errors[:MAX_COUNTED_FINDINGS], raw))
    return _without_misfits(model, view, raw, errors, findings)


# -- one misfit -------------------------------------------------------------------------------------------------------


def finding_of(misfit: Misfit, model: type[BaseModel], path: str = "", node: str | None = None) -> Finding:
    """Returns the finding, with its fix, for a value that does not fit `model`. `path` is the place of the model."""
    where = ".".join(str(step) for step in (*([path] if path else ()), *misfit.place))
    name = str(next((step for step in reversed(misfit.place) if isinstance(step, str)), "document"))
    is_parameter = node is not None
    if node is None and len(misfit.place) > 1 and misfit.place[0] == "nodes":
        node = str(misfit.place[1])
    fix = fix_of(misfit, model, name, is_parameter=is_parameter)
    match misfit.type:
        case "extra_forbidden":
            mend = did_you_mean(name, field_names(model, misfit.location[:-1]), what="fields")
            return Finding("unknown_field", where, f"there is no field `{name}` here", mend or "Leave it out.", node, fix=fix)
        case "missing":
            return Finding("missing_field", where, f"`{name}` is missing", f"Add `{name}`.", node, fix=fix)
        case "string_pattern_mismatch" if misfit.location[-1] == "[key]" or misfit.place == ("id",):
            shown = preview(misfit.value)
            return Finding("malformed_id", where, f"{shown} is no valid name", _PATTERN_FIXES[name == "id"], node)
        case "unknown_cause":
            mend = did_you_mean(misfit.value, words(misfit.context["known"])) or "Use one of these."
            return Finding("unknown_cause", where, misfit.message, mend, node, fix=fix)
    return Finding("invalid_value", where, f"`{name}` {misfit.sentence()}", _fix_text(misfit, model, name), node, fix=fix)


_PATTERN_FIXES: Final = {
    True: "An id has lower case letters, digits and hyphens, at most 64, and starts with a letter or digit.",
    False: "A name has letters, digits, `_` and `-`, at most 64, and starts with a letter or `_`.",
}
_FORMS: Final[Mapping[str, str]] = {
    "after": "Write `after: node`, `after: node.exit`, `after: [a, b]` or `after: {from: node, key: path}`.",
    "vars": "Write `vars: merge-all`, `last-write`, `first-write` or `vars: {custom: …}`.",
}


def _fix_text(misfit: Misfit, model: type[BaseModel], name: str) -> str:
    """The first fix that applies: the nearest word, the example of a field, its short form written out, the type."""
    near = ""
    if misfit.type == "literal_error" and isinstance(misfit.value, str):
        near = did_you_mean(misfit.value, words(misfit.context["expected"]))
    written_out = "an object" in misfit.wanted and _written_out(misfit, model, name)
    return near or _FORMS.get(name, "") or written_out or misfit.fix_text(name) or f"See `{name}` in the reference."


def _written_out(misfit: Misfit, model: type[BaseModel], name: str) -> str:
    """The value written as an object: `retry: {attempts: 3}` for `retry: 3`, with the first field for which the value is valid.
    For a schema: `a: {type: string}` for `a: string`."""
    value = misfit.value
    if not isinstance(value, str | int | float):
        return ""
    if (found := written_out(misfit, model)) is not None:
        return f"Write `{name}: {{{found[0]}: {shown_in_yaml(value)}{', …' if found[1] else ''}}}`."
    return f"Write `{name}: {{type: {value}}}`." if value in JSON_TYPES else ""


def shown_in_yaml(value: JSON) -> str:
    return preview(value).strip("`")


# -- what is left -----------------------------------------------------------------------------------------------------


def _without_misfits(
    model: type[BaseModel], view: type[BodyView], raw: Mapping[str, JSON], errors: list[ErrorDetails],
    findings: tuple[Finding, ...],
) -> Shape:
    """The valid rest, without faulty fields of nodes, faulty edges and faulty fields of the document."""
    fixed = dict(raw)
    nodes = dict(raw["nodes"]) if isinstance(raw.get("nodes"), dict) else {}
    dropped_edges: set[int] = set()
    unreadable: set[str] = set()
    untyped: set[str] = set()
    incomplete = False
    for error in errors:
        match error["loc"]:
            case ("nodes", str(node), "[key]"):
                unreadable.add(node)
            case ("nodes", str(node), *inner):
                incomplete |= not inner or inner[0] == "after"
                nodes[node] = _fixed_node(nodes[node], str(inner[0]) if inner else None)
                if not inner or inner[0] == "type":
                    untyped.add(node)
            case ("edges", int(place), *_):
                dropped_edges.add(place)
            case (str(field), *_):
                fixed.pop(field, None)
                incomplete |= field in ("nodes", "edges")
    for field, stand_in in _STAND_INS.items():
        if field in model.model_fields:
            fixed.setdefault(field, stand_in)
    edges = fixed.get("edges", [])
    places = [place for place in range(len(edges)) if place not in dropped_edges]
    if "nodes" in raw:
        fixed["nodes"] = {node: nodes[node] for node in nodes if node not in unreadable}
    if "edges" in fixed:
        fixed["edges"] = [edges[place] for place in places]
    incomplete = incomplete or bool(unreadable or dropped_edges)
    model.model_validate(fixed)
    return Shape(view(fixed), findings, places, frozenset(unreadable), frozenset(untyped), incomplete)


def _fixed_node(node: JSON, field: str | None) -> dict[str, JSON]:
    fixed = {name: value for name, value in node.items() if name != field} if isinstance(node, dict) and field else {}
    fixed.setdefault("type", _NO_TYPE)
    return fixed
