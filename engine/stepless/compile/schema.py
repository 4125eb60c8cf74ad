"""Generates the JSON Schema (2020-12) of the document, for editors: the model tree, and the shape of `with` for each kind."""

from __future__ import annotations

from typing import Any, Final

from stepless.model.declaration.document import RESERVED_IDS
from stepless.model.declaration.validation import BodyDocument, Document
from stepless.model.kind import Kind, Kinds, Part

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE: Final = {"type": "string", "pattern": r"<[A-Za-z_]|\$\{|\{\{"}
_ANNOTATIONS: Final = ("title", "description", "default")
Schema = dict[str, Any]


def json_schema(kinds: Kinds) -> Schema:
    """Returns the schema of a document with these kinds. A field that may hold references also accepts a text with a
    reference."""
    schema: Schema = Document.model_json_schema(by_alias=True)
    definitions: Schema = schema.setdefault("$defs", {})
    body = BodyDocument.model_json_schema(by_alias=True)
    definitions |= body.pop("$defs", {})
    definitions["BodyDocument"] = body
    node = definitions["NodeDocument"]
    node["properties"]["type"] = {"enum": sorted(kinds), "description": "the node kind"}
    node["allOf"] = [_choice(kind, definitions) for _, kind in sorted(kinds.items())]
    for nodes in (schema["properties"]["nodes"], body["properties"]["nodes"]):
        nodes |= {"additionalProperties": False, "propertyNames": {"not": {"enum": list(RESERVED_IDS)}}, "minProperties": 1}
    schema["properties"]["variables"]["additionalProperties"] = False
    return {"$schema": DIALECT, **schema}


def _choice(kind: Kind, definitions: Schema) -> Schema:
    """The condition that a node of this kind has a `with` of the kind's shape."""
    params: Schema = kind.params.model_json_schema(by_alias=True)
    for name, definition in params.pop("$defs", {}).items():
        definitions[f"{kind.name}.{name}"] = _lenient(_renamed(definition, kind.name))
    params = _renamed(params, kind.name)
    params["description"] = kind.summary
    for name, field in params.get("properties", {}).items():
        params["properties"][name] = _field(kind, name, field)
    definitions[f"{kind.name}.with"] = params
    then: Schema = {"properties": {"with": {"$ref": f"#/$defs/{kind.name}.with"}}}
    if params.get("required"):
        then["required"] = ["with"]
    return {"if": {"properties": {"type": {"const": kind.name}}, "required": ["type"]}, "then": then}


def _field(kind: Kind, name: str, field: Schema) -> Schema:
    if kind.container is not None and name == "body":
        return {"$ref": "#/$defs/BodyDocument"}
    return field if kind.parts.get(name, Part.TEMPLATE) is not Part.TEMPLATE else _lenient(field)


def _lenient(schema: Schema) -> Schema:
    """The schema that also accepts a text with a reference, here and in all inner values."""
    inner = _with_lenient_values(schema)
    annotations = {key: inner.pop(key) for key in tuple(inner) if key in _ANNOTATIONS}
    return {**annotations, "anyOf": [inner, _REFERENCE]} if inner else annotations


def _with_lenient_values(schema: Schema) -> Schema:
    """The schema that also accepts texts with references in all inner values, in each of its forms."""
    inner = dict(schema)
    for key in ("properties", "$defs"):
        if isinstance(inner.get(key), dict):
            inner[key] = {name: _lenient(part) for name, part in inner[key].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(inner.get(key), dict):
            inner[key] = _lenient(inner[key])
    for key in ("anyOf", "oneOf"):
        if isinstance(inner.get(key), list):
            inner[key] = [_with_lenient_values(form) for form in inner[key]]
    return inner


def _renamed(schema: Any, prefix: str) -> Any:
    """A copy whose references point to this kind's own definitions."""
    if isinstance(schema, list):
        return [_renamed(value, prefix) for value in schema]
    if not isinstance(schema, dict):
        return schema
    renamed = {key: _renamed(value, prefix) for key, value in schema.items()}
    if isinstance(renamed.get("$ref"), str):
        renamed["$ref"] = renamed["$ref"].replace("#/$defs/", f"#/$defs/{prefix}.", 1)
    return renamed
