"""Adds the meaning of each field, which its source states, to the JSON Schema of a document."""

from __future__ import annotations

import sys
from typing import Any

from pydantic import BaseModel

from stepless.model.declaration import validation
from stepless.model.declaration.field_docs import field_docs
from stepless.nodes import KINDS


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns the JSON Schema of a document with a description of every field, which editors show."""
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
