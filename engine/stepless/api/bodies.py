"""Reads request bodies with a size limit, which is checked while the body arrives and does not rely on Content-Length."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request

from stepless.compile.reading.strict_json import strict_json
from stepless.errors import InvalidRequest
from stepless.limits import MAX_ANSWER_FIELDS, MAX_REQUEST_BYTES
from stepless.model.declaration.misfits import misfits
from stepless.model.json import JSON

M = TypeVar("M", bound=BaseModel)

FORM: Final = "application/x-www-form-urlencoded"
_LENGTH_DIGITS: Final = 18  # of a Content-Length that is read as a number
_FORM_EXTRAS: Final = 10  # in addition to the fields: the decision and the name of who decides


async def read_body(request: Request, limit: int = MAX_REQUEST_BYTES) -> bytes:
    """Returns the raw body. Raises `InvalidRequest` 413 (body_too_large) before it holds more than `limit` bytes."""
    if (announced_bytes(request) or 0) > limit:
        raise _too_large(limit)
    chunks, size = [], 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise _too_large(limit)
            chunks.append(chunk)
    except ClientDisconnect as error:
        message = "the connection closed before the body was complete"
        raise InvalidRequest(message, code="body_incomplete", mend="send it again") from error
    return b"".join(chunks)


def announced_bytes(request: Request) -> int | None:
    """Returns the length of the body as its header says; None if it does not. The server reads no more than this."""
    announced = request.headers.get("content-length", "")
    if not (announced.isascii() and announced.isdecimal()):
        return None
    return int(announced) if len(announced) <= _LENGTH_DIGITS else 10**_LENGTH_DIGITS


def _too_large(limit: int) -> InvalidRequest:
    return InvalidRequest(f"the body has more than {limit:,} bytes", code="body_too_large", status=413, mend="send less")


def media_type(request: Request) -> str:
    """Returns the Content-Type in lower case and without parameters; "" if there is none."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def is_json(kind: str) -> bool:
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def unsupported(kind: str, *wanted: str) -> InvalidRequest:
    """Returns the error for a body of another type. (A page of another site can send some types without a preflight request.)"""
    mend = f"send Content-Type: {' or '.join(wanted)}"
    message = f"the media type {kind} is not supported here" if kind else "the request has no Content-Type"
    return InvalidRequest(message, code="unsupported_media_type", status=415, mend=mend)


async def read_model(request: Request, model: type[M], limit: int = MAX_REQUEST_BYTES) -> M:
    """Returns a JSON body of at most `limit` bytes as `model`; an empty body counts as `{}`. Raises `InvalidRequest`: 400
    invalid_json, 413, 415, 422."""
    data = await read_body(request, limit)
    if not data:
        return validated(model, {})
    if not is_json(kind := media_type(request)):
        raise unsupported(kind, "application/json")
    return validated(model, strict_json(data))


def validated(model: type[M], value: JSON) -> M:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults = misfits(error.errors(include_url=False), value)
        places = [".".join(map(str, fault.place)) for fault in faults]
        messages = [fault.sentence(quoted=False) for fault in faults]
        violations = [f"{place}: {message}" if place else message for place, message in zip(places, messages, strict=True)]
        message = f"the body does not fit: {violations[0]}"
        raise InvalidRequest(message, status=422, place=places[0], violations=violations) from error


def form_fields(data: bytes) -> dict[str, str]:
    """Returns the fields of a form. If a name is repeated, the last value counts."""
    try:
        pairs = parse_qsl(data.decode(), keep_blank_values=True, max_num_fields=MAX_ANSWER_FIELDS + _FORM_EXTRAS)
    except ValueError as error:
        raise InvalidRequest("the form cannot be read", code="invalid_form", mend="send URL-encoded UTF-8") from error
    return dict(pairs)


def documented_body(model: type[BaseModel], *, required: bool = False) -> dict[str, Any]:
    """Returns the OpenAPI documentation of a JSON body that `read_model` reads."""
    content = {"application/json": {"schema": deepcopy(_inlined(model))}}
    return {"requestBody": {"required": required, "content": content}}


@cache
def _inlined(model: type[BaseModel]) -> Any:
    """The schema with its nested models inlined: a reference would not resolve inside /openapi.json."""
    schema = model.model_json_schema()
    parts = schema.pop("$defs", {})

    def inline(value: Any) -> Any:
        if isinstance(value, dict):
            name = str(value.get("$ref", "")).rpartition("/")[2]
            return inline(parts[name]) if name else {key: inline(inner) for key, inner in value.items()}
        return [inline(inner) for inner in value] if isinstance(value, list) else value

    return inline(schema)
