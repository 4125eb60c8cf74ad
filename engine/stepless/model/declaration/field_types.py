"""Defines the types of a document's fields: limits, patterns, and forms that are normalized. No value is coerced: `"3"` is not a
number, and `yes` is not a boolean.

`document` and `policies` use these types for their fields. Only the type checker imports them there, so that a run
does not need pydantic. `model.validation` resolves the names at run time.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from stepless.limits import (
    MAX_DECLARED_MESSAGES,
    MAX_DURATION_MS,
    MAX_ENV_NAMES,
    MAX_EXPRESSION_CHARACTERS,
    MAX_FAILURE_TARGET_CHARACTERS,
    MAX_FAILURE_TARGETS,
    MAX_ID_CHARACTERS,
    MAX_MESSAGE_CHARACTERS,
    MAX_NODES,
    MAX_RETRY_ATTEMPTS,
    MAX_SLOTS,
    MAX_SOURCE_CHARACTERS,
    MAX_STEPS,
    MAX_VARIABLES,
    MIN_RATE_PERIOD_MS,
)
from stepless.model.declaration.misfits import read_duration_ms, read_retention_ms
from stepless.model.json import JSON, Path, parse_path
from stepless.model.texts.durations import DURATION_SCHEMA
from stepless.model.texts.failure_targets import parse_target
from stepless.model.texts.ids import SLUG

_NAME: Final = rf"^[A-Za-z_][A-Za-z0-9_-]{{0,{MAX_ID_CHARACTERS - 1}}}$"


def _path_steps(path: str) -> str:
    parse_key(path)
    return path


def parse_key(key: str) -> Path:
    """Returns the steps of an edge's `key`. Raises `PydanticCustomError`."""
    try:
        return parse_path(key)
    except ValueError as error:
        raise PydanticCustomError("bad_key", "{text}", {"text": str(error)}) from None


Slug = Annotated[str, StringConstraints(pattern=f"^{SLUG}$")]
NodeId = Annotated[str, StringConstraints(pattern=_NAME)]
VariableName = Annotated[str, StringConstraints(pattern=_NAME)]
EnvName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
Source = Annotated[str, StringConstraints(max_length=MAX_SOURCE_CHARACTERS)]
Text = Annotated[str, StringConstraints(max_length=MAX_MESSAGE_CHARACTERS)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Key = Annotated[str, StringConstraints(max_length=1_000), AfterValidator(_path_steps)]
Formula = Annotated[str, StringConstraints(min_length=1, max_length=MAX_EXPRESSION_CHARACTERS)]

Count = Annotated[int, Field(ge=1)]
Slots = Annotated[int, Field(ge=1, le=MAX_SLOTS)]
Attempts = Annotated[int, Field(ge=1, le=MAX_RETRY_ATTEMPTS)]
Steps = Annotated[int, Field(ge=1, le=MAX_STEPS)]
Milliseconds = Annotated[int, Field(ge=0, le=MAX_DURATION_MS)]
PositiveMilliseconds = Annotated[int, Field(ge=1, le=MAX_DURATION_MS)]
Duration = Annotated[int, BeforeValidator(read_duration_ms), WithJsonSchema(dict(DURATION_SCHEMA))]  # text to milliseconds
Retention = Annotated[int, BeforeValidator(read_retention_ms), WithJsonSchema({**DURATION_SCHEMA, "examples": ["30d", "90d"]})]
RatePeriod = Annotated[
    int, BeforeValidator(read_duration_ms), Field(ge=MIN_RATE_PERIOD_MS), WithJsonSchema(dict(DURATION_SCHEMA))
]

def _failure_target(text: str) -> str:
    try:
        parse_target(text)
    except ValueError as error:
        raise PydanticCustomError("bad_target", "{text}", {"text": str(error)}) from None
    return text


FailureTarget = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_FAILURE_TARGET_CHARACTERS), AfterValidator(_failure_target)
]
FailureTargets = FailureTarget | Annotated[list[FailureTarget], Field(max_length=MAX_FAILURE_TARGETS)]
Schema = dict[str, Any]
Params = dict[str, Any]
Variables = Annotated[dict[VariableName, JSON], Field(max_length=MAX_VARIABLES)]
Env = Annotated[list[EnvName], Field(max_length=MAX_ENV_NAMES)]
Words = Annotated[list[Word], Field(max_length=MAX_DECLARED_MESSAGES)]
Lines = Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=2, max_length=2)]
NodeLines = Annotated[dict[NodeId, Lines], Field(max_length=MAX_NODES)]
