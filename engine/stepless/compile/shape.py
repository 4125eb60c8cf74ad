"""Validates the document against the model tree: every misfit becomes a finding, and the rest goes on to the other checks.

Faulty parts are removed and the rest is checked further, so that all findings are reported at once. Removed parts could mislead
other checks (an edge that cannot be read is missing at its join), so `incomplete` informs them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from stepless.compile.parsed import Shape, as_written
from stepless.compile.suggest import did_you_mean
from stepless.limits import MAX_COUNTED_FINDINGS
from stepless.model.declaration.document import BodyView, DocumentView
from stepless.model.declaration.misfits import Misfit, misfits, preview
from stepless.model.declaration.validation import BodyDocument, Document
from stepless.model.findings import Finding
from stepless.model.json import JSON, Path

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
    """The finding, with its mend, for a value that does not fit `model`. `path` is the place of the model."""
    where = ".".join(str(step) for step in (*([path] if path else ()), *misfit.place))
    name = str(next((step for step in reversed(misfit.place) if isinstance(step, str)), "document"))
    if node is None and len(misfit.place) > 1 and misfit.place[0] == "nodes":
        node = str(misfit.place[1])
    match misfit.type:
        case "extra_forbidden":
            mend = did_you_mean(name, field_names(model, misfit.location[:-1]), what="fields")
            return Finding("unknown_field", where, f"there is no field `{name}` here", mend or "Leave it out.", node)
        case "missing":
            return Finding("missing_field", where, f"`{name}` is missing", f"Add `{name}`.", node)
        case "string_pattern_mismatch" if misfit.location[-1] == "[key]" or misfit.place == ("id",):
            shown = preview(misfit.value)
            return Finding("malformed_id", where, f"{shown} is no valid name", _PATTERN_MENDS[name == "id"], node)
        case "unknown_cause":
            mend = did_you_mean(misfit.value, _words(misfit.context["known"])) or "Use one of these."
            return Finding("unknown_cause", where, misfit.message, mend, node)
    return Finding("invalid_value", where, f"`{name}` {misfit.sentence()}", _mend(misfit, model, name), node)


_PATTERN_MENDS: Final = {
    True: "An id has lower case letters, digits and hyphens, at most 64, and starts with a letter or digit.",
    False: "A name has letters, digits, `_` and `-`, at most 64, and starts with a letter or `_`.",
}
_FORMS: Final[Mapping[str, str]] = {
    "after": "Write `after: node`, `after: node.exit`, `after: [a, b]` or `after: {from: node, key: path}`.",
    "vars": "Write `vars: merge-all`, `last-write`, `first-write` or `vars: {custom: …}`.",
}


def _mend(misfit: Misfit, model: type[BaseModel], name: str) -> str:
    """The first mend that applies: the nearest word, the example of a field, its short form written out, the type."""
    near = ""
    if misfit.type == "literal_error" and isinstance(misfit.value, str):
        near = did_you_mean(misfit.value, _words(misfit.context["expected"]))
    written_out = "an object" in misfit.wanted and _written_out(misfit, model, name)
    return near or _FORMS.get(name, "") or written_out or misfit.mend(name) or f"See `{name}` in the reference."


def _words(listed: str) -> list[str]:
    return [word.strip(" '`") for part in listed.split(",") for word in part.split(" or ") if word.strip(" '`")]


def _written_out(misfit: Misfit, model: type[BaseModel], name: str) -> str:
    """The value written as an object: `retry: {attempts: 3}` for `retry: 3`, with the first field for which the value is valid.
    For a schema: `a: {type: string}` for `a: string`."""
    value = misfit.value
    if not isinstance(value, str | int | float):
        return ""
    for inner in models_at(model, misfit.location):
        for field, about in inner.model_fields.items():
            if _takes(inner, about.alias or field, value):
                more = ", …" if any(other.is_required() and other is not about for other in inner.model_fields.values()) else ""
                return f"Write `{name}: {{{about.alias or field}: {shown_in_yaml(value)}{more}}}`."
    return f"Write `{name}: {{type: {value}}}`." if value in JSON_TYPES else ""


def _takes(model: type[BaseModel], field: str, value: JSON) -> bool:
    try:
        model.model_validate({field: value})
    except ValidationError as refused:
        return not any(error["loc"][:1] == (field,) for error in refused.errors(include_url=False))
    return True


def shown_in_yaml(value: JSON) -> str:
    return preview(value).strip("`")


def models_at(model: type[BaseModel], location: Path) -> Collection[type[BaseModel]]:
    """The models that are possible at a location in the form of pydantic."""
    models, skip = {model: None}, False
    for step in location:
        if skip:
            skip = False
            continue
        fields = [field for each in models for name, field in each.model_fields.items() if (field.alias or name) == step]
        if fields:
            models = {found: None for field in fields for found in _models_in(field.annotation)}
            skip = any(get_origin(field.annotation) is dict for field in fields)
    return models


def field_names(model: type[BaseModel], location: Path) -> list[str]:
    """The fields that are possible at a location in the form of pydantic, by the names that the document uses."""
    return [field.alias or name for each in models_at(model, location) for name, field in each.model_fields.items()]


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        if isinstance(part, type) or get_args(part):
            yield from _models_in(part)


# -- what is left -----------------------------------------------------------------------------------------------------


def _without_misfits(
    model: type[BaseModel], view: type[BodyView], raw: Mapping[str, JSON], errors: list[ErrorDetails],
    findings: tuple[Finding, ...],
) -> Shape:
    """The valid rest, without faulty fields of nodes, faulty edges and faulty fields of the document."""
    mended = dict(raw)
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
                nodes[node] = _mended_node(nodes[node], str(inner[0]) if inner else None)
                if not inner or inner[0] == "type":
                    untyped.add(node)
            case ("edges", int(place), *_):
                dropped_edges.add(place)
            case (str(field), *_):
                mended.pop(field, None)
                incomplete |= field in ("nodes", "edges")
    for field, stand_in in _STAND_INS.items():
        if field in model.model_fields:
            mended.setdefault(field, stand_in)
    edges = mended.get("edges", [])
    places = [place for place in range(len(edges)) if place not in dropped_edges]
    if "nodes" in raw:
        mended["nodes"] = {node: nodes[node] for node in nodes if node not in unreadable}
    if "edges" in mended:
        mended["edges"] = [edges[place] for place in places]
    incomplete = incomplete or bool(unreadable or dropped_edges)
    model.model_validate(mended)
    return Shape(view(mended), findings, places, frozenset(unreadable), frozenset(untyped), incomplete)


def _mended_node(node: JSON, field: str | None) -> dict[str, JSON]:
    mended = {name: value for name, value in node.items() if name != field} if isinstance(node, dict) and field else {}
    mended.setdefault("type", _NO_TYPE)
    return mended
