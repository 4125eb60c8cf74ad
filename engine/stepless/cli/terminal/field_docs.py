"""Reads the meaning of each field of a model from the text below the field in its source:

    backoff_ms: Milliseconds = 500
    \"""The delay before the second try.\"""

The source is read on demand, so that importing the models stays fast. The JSON Schema for editors and docs/reference.md are
generated from it.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from stepless.model.declaration import validation
from stepless.nodes import KINDS


def field_docs(model: type[BaseModel]) -> Mapping[str, str]:
    """The meaning of each documented field, by its Python name, including inherited fields. Empty if the source is not
    available."""
    found: dict[str, str] = {}
    if issubclass(model, validation.DocumentPart):
        return _own_docs(model.declaration)
    for part in reversed(model.__mro__):
        if issubclass(part, BaseModel) and part is not BaseModel:
            found |= _own_docs(part)
    return found


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a document with a description of every field, which editors show."""
    for name, part in [(validation.Document.__name__, schema), *schema["$defs"].items()]:
        model = _model(name)
        if model is not None:
            fields = part["properties"] if "properties" in part else part["anyOf"][0]["properties"]  # else a text
            for field, meaning in field_docs(model).items():
                fields[model.model_fields[field].alias or field]["description"] = meaning
    return schema


def _model(name: str) -> type[BaseModel] | None:
    """The model of a definition: `JoinDocument`, `http.with`, `webhook.Hmac`."""
    kind, _, part = name.partition(".")
    if not part:
        found = getattr(validation, kind, None)
    else:
        params = KINDS[kind].params
        found = params if part == "with" else getattr(sys.modules[params.__module__], part, None)
    return found if isinstance(found, type) and issubclass(found, BaseModel) else None


def _own_docs(model: type) -> dict[str, str]:
    body = _bodies(model.__module__).get(model.__name__, [])
    docs = {}
    for field, below in pairwise(body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                docs[name] = " ".join(text.split())
            case _:
                continue
    return docs


@cache
def _bodies(module: str) -> Mapping[str, list[ast.stmt]]:
    """The statements of each class of a module, read once."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except OSError:
        return {}
    return {node.name: node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
