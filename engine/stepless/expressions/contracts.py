"""Compiles contracts: JSON Schema (2020-12) with jsonschema-rs, which is loaded at the first contract.

A schema is self-contained: a `$ref` refers to the same schema or to the standard's meta-schemas, never to a file or the network.
Messages name the place and the rule, not the value, which may be a secret. `format` is an annotation, as in the standard.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, NoReturn

from stepless.errors import AuthorError
from stepless.expressions.faults import BAD_SCHEMA
from stepless.expressions.values import nests_deeper
from stepless.limits import MAX_BACKTRACKS, MAX_DOCUMENT_DEPTH, MAX_VIOLATIONS, PREVIEW_CHARACTERS
from stepless.model.json import JSON

_MASK: Final = "the value"


@dataclass(frozen=True, slots=True)
class CompiledContract:
    """An implementation of `model.scope.Contract`."""

    schema: Mapping[str, JSON]
    validator: Any = field(repr=False, compare=False)

    def violations(self, value: JSON) -> tuple[str, ...]:
        """Returns one sentence per violation, each with its dotted path; empty when the value is valid. At most the first
        MAX_VIOLATIONS, each cut to PREVIEW_CHARACTERS. A value that is not JSON violates every contract."""
        if nests_deeper(value, MAX_DOCUMENT_DEPTH):  # the validator recurses on the thread's own stack
            return (f"the value nests more than {MAX_DOCUMENT_DEPTH} deep",)
        try:
            found = list(islice(self.validator.iter_errors(value), MAX_VIOLATIONS))
        except ValueError:
            return ("the value is not JSON",)
        return tuple(_sentence(error) for error in found)


def compile_contract(schema: JSON) -> CompiledContract:
    """Compiles `schema`. Raises `AuthorError` with code `invalid_schema` and the path into the schema as its `place`, when it is
    not a JSON Schema or refers to another document."""
    from jsonschema_rs import Draft202012Validator, FancyRegexOptions, ValidationError

    if not isinstance(schema, dict):
        raise AuthorError("a contract is a JSON Schema, an object", code=BAD_SCHEMA)
    options = FancyRegexOptions(backtrack_limit=MAX_BACKTRACKS)
    try:
        validator = Draft202012Validator(schema, mask=_MASK, retriever=_refuse, pattern_options=options)
    except ValidationError as error:
        place = _dotted(error.instance_path)
        raise AuthorError(f"this is not a JSON Schema: {_cut(error.message)}", code=BAD_SCHEMA, place=place) from None
    except ValueError as error:
        raise AuthorError(f"this is not a JSON Schema: {_cut(str(error))}", code=BAD_SCHEMA) from None
    return CompiledContract(schema, validator)


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"a contract must be self-contained: it cannot refer to {uri}")


def _sentence(error: Any) -> str:
    path = _dotted(error.instance_path)
    return f"{path}: {_cut(error.message)}" if path else _cut(error.message)


def _dotted(path: list[str | int]) -> str:
    dotted = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return dotted.removeprefix(".")


def _cut(message: str) -> str:
    first = message.splitlines()[0] if message else ""
    return first if len(first) <= PREVIEW_CHARACTERS else first[: PREVIEW_CHARACTERS - 1] + "…"
