"""What each field of a model means, in the author's words: the text below the field in its source.

    backoff_ms: Milliseconds = 500
    \"""The delay before the second try.\"""

Read from the source when somebody asks, so that importing the models costs nothing for it: the JSON Schema for editors and
docs/reference.md are made with it.
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

from stepless.model import validation
from stepless.nodes import KINDS


def field_docs(model: type[BaseModel]) -> Mapping[str, str]:
    """The meaning of each field that has one, by the field's name in Python; those of the bases are included. Empty where the
    source is not at hand."""
    found: dict[str, str] = {}
    if issubclass(model, validation.DocumentPart):
        return _told(model.declaration)
    for part in reversed(model.__mro__):
        if issubclass(part, BaseModel) and part is not BaseModel:
            found |= _told(part)
    return found


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a document, every field with its meaning: editors show it where the mouse rests."""
    for name, part in [(validation.Document.__name__, schema), *schema["$defs"].items()]:
        model = _model(name)
        if model is not None:
            fields = part["properties"] if "properties" in part else part["anyOf"][0]["properties"]  # or a text with a reference
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


def _told(model: type) -> dict[str, str]:
    body = _bodies(model.__module__).get(model.__name__, [])
    told = {}
    for field, below in pairwise(body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                told[name] = " ".join(text.split())
            case _:
                continue
    return told


@cache
def _bodies(module: str) -> Mapping[str, list[ast.stmt]]:
    """The statements of each class of a module, read once."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except OSError:
        return {}
    return {node.name: node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
