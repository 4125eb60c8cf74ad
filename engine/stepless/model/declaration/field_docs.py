"""Reads the meaning of each field of a model from the text below the field in its source:

    backoff_ms: Milliseconds = 500
    \"""The delay before the second try.\"""

The source is read on demand, so that importing the models stays fast. The JSON Schema for editors, the answer of `GET /kinds` and
docs/write/reference.md are generated from it.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from pydantic import BaseModel

from stepless.model.declaration import validation


def field_docs(model: type[BaseModel]) -> Mapping[str, str]:
    """Returns the meaning of each documented field, by its Python name, including inherited fields. Empty if the source is not
    available."""
    found: dict[str, str] = {}
    if issubclass(model, validation.DocumentPart):
        return _own_docs(model.declaration)
    for part in reversed(model.__mro__):
        if issubclass(part, BaseModel) and part is not BaseModel:
            found |= _own_docs(part)
    return found


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
