"""The document against the model tree: every misfit becomes a finding, and what fits goes on to the other checks.

A document with faults is judged further without the parts that have them, so that all its findings come at once. What is
left out may make other checks jump to conclusions (an edge that could not be read is missing at its join); `incomplete`
tells them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from stepless.compile.draft import Shape, as_written
from stepless.compile.suggest import did_you_mean
from stepless.limits import MAX_COUNTED_FINDINGS, PREVIEW_CHARACTERS
from stepless.model.document import BodyDocument, Document
from stepless.model.findings import Finding
from stepless.model.json import JSON, Path
from stepless.model.written import BodyView, DocumentView

_STAND_INS: Final[Mapping[str, JSON]] = {"id": "unreadable", "nodes": {}}
_NO_TYPE: Final = "unreadable"


def judged(raw: Mapping[str, JSON], path: str, view: type[BodyView]) -> Shape:
    """`raw`, which stands at `path`, against the model of what `view` shows, and a finding for every misfit. The models are
    forgotten at once: what fits is read through views."""
    model = Document if view is DocumentView else BodyDocument
    try:
        model.model_validate(dict(raw))
        return as_written(raw, path, view)
    except ValidationError as refused:
        errors = refused.errors(include_url=False)
    findings = tuple(finding_of(error, raw, model, path) for error in errors[:MAX_COUNTED_FINDINGS])
    return _without_misfits(model, view, raw, errors, findings)


# -- one misfit -------------------------------------------------------------------------------------------------------


def finding_of(error: ErrorDetails, raw: JSON, model: type[BaseModel], path: str = "", node: str | None = None) -> Finding:
    """A misfit that pydantic found in `raw`, which stands at `path`, in our words."""
    steps = place_of(error, raw)
    where = ".".join(str(step) for step in (*([path] if path else ()), *steps))
    name = str(next((step for step in reversed(steps) if isinstance(step, str)), "document"))
    if node is None and len(steps) > 1 and steps[0] == "nodes":
        node = str(steps[1])
    match error["type"]:
        case "extra_forbidden":
            mend = did_you_mean(name, field_names(model, error["loc"][:-1]), what="fields")
            return Finding("unknown_field", where, f"there is no field `{name}` here", mend, node)
        case "missing":
            return Finding("missing_field", where, f"`{name}` is missing", f"Add `{name}`.", node)
        case "string_pattern_mismatch" if error["loc"][-1] == "[key]" or steps == ("id",):
            shown = _preview(error["input"])
            return Finding("malformed_id", where, f"{shown} is no valid name", _PATTERN_MENDS[name == "id"], node)
        case "literal_error" | "unknown_cause":
            known = _quoted_words(str(error.get("ctx", {}).get("expected", error.get("ctx", {}).get("known", ""))))
            mend = did_you_mean(str(error["input"]), known) if isinstance(error["input"], str) else ""
            code = "unknown_cause" if error["type"] == "unknown_cause" else "invalid_value"
            return Finding(code, where, _told(name, error), mend, node)
    return Finding("invalid_value", where, _told(name, error), "", node)


_PATTERN_MENDS: Final = {
    True: "An id has lower case letters, digits and hyphens, at most 64, and starts with a letter or digit.",
    False: "A name has letters, digits, `_` and `-`, at most 64, and starts with a letter or `_`.",
}


def _quoted_words(listed: str) -> list[str]:
    return [word.strip(" '`") for part in listed.split(",") for word in part.split(" or ") if word.strip(" '`")]


def _told(name: str, error: ErrorDetails) -> str:
    if error["type"] == "union_tag_not_found":
        return f"`{name}` is {_preview(error['input'])}, which is none of the forms that it has"
    if error["type"] in ("dict_type", "model_type"):
        return f"`{name}` should be an object, not {_preview(error['input'])}"
    told = error["msg"].removeprefix("Value error, ")
    if error["type"] == "unknown_cause":
        return told
    for opening in ("Input should", "String should", "Dictionary should", "List should", "Value should", "should"):
        if told.startswith(opening):
            return f"`{name}` should{told.removeprefix(opening)}, not {_preview(error['input'])}"
    return f"`{name}`: {told}"


def _preview(value: JSON) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    words = {None: "null", True: "true", False: "false"}
    if value is None or isinstance(value, bool):
        return words[value]
    shown = str(value)[:PREVIEW_CHARACTERS]
    return f"`{shown}`" if isinstance(value, str) else shown


def place_of(error: ErrorDetails, raw: JSON) -> Path:
    """Where in `raw` the misfit is: pydantic's location without the tags of unions and the like, which are no keys."""
    steps: list[str | int] = []
    value, last = raw, len(error["loc"]) - 1
    for place, step in enumerate(error["loc"]):
        within_list = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if within_list or (isinstance(value, Mapping) and step in value):
            value = value[step]
        elif place != last or error["type"] not in ("missing", "extra_forbidden"):
            continue
        steps.append(step)
    return tuple(steps)


def field_names(model: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """The fields that the document may have at a location of pydantic's, as they are written."""
    models, skip = {model}, False
    for step in location:
        if skip:
            skip = False
            continue
        fields = [field for each in models for name, field in each.model_fields.items() if (field.alias or name) == step]
        if fields:
            models = {found for field in fields for found in _models_in(field.annotation)}
            skip = any(get_origin(field.annotation) is dict for field in fields)
    return [field.alias or name for each in models for name, field in each.model_fields.items()]


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
    """The rest, which fits: faulty fields of nodes, faulty edges and faulty fields of the document are left out."""
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
