"""Request bodies within bounds: counted while they arrive, so that it makes no difference whether a length was announced."""

from __future__ import annotations

from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request

from stepless.compile.reading.strict_json import strict_json
from stepless.errors import InvalidRequest
from stepless.limits import MAX_ANSWER_FIELDS, MAX_REQUEST_BYTES
from stepless.model.json import JSON
from stepless.model.misfits import misfits

M = TypeVar("M", bound=BaseModel)

FORM: Final = "application/x-www-form-urlencoded"
_FORM_EXTRAS: Final = 10  # beside the fields: the decision, who decides


async def read_body(request: Request, limit: int = MAX_REQUEST_BYTES) -> bytes:
    """The raw body. Raises `InvalidRequest` 413 (body_too_large) before more than `limit` bytes are held."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and (len(announced) > len(str(limit)) or int(announced) > limit):
        raise _too_large(limit)
    chunks, size = [], 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise _too_large(limit)
            chunks.append(chunk)
    except ClientDisconnect as error:
        raise InvalidRequest("the body broke off", code="body_incomplete", mend="send it again") from error
    return b"".join(chunks)


def _too_large(limit: int) -> InvalidRequest:
    return InvalidRequest(f"the body takes more than {limit:,} bytes", code="body_too_large", status=413, mend="send less")


def media_type(request: Request) -> str:
    """What the body says it is, in lower case and without parameters; "" when it says nothing."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def is_json(kind: str) -> bool:
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def unsupported(kind: str, *wanted: str) -> InvalidRequest:
    """A body that does not say it is what is read here: a page of another site can send such a one without being asked."""
    mend = f"send Content-Type: {' or '.join(wanted)}"
    return InvalidRequest(f"{kind or 'a body of no type'} is not read here", code="unsupported_media_type", status=415, mend=mend)


async def read_model(request: Request, model: type[M]) -> M:
    """A JSON body as `model`; no body at all is `{}`. Raises `InvalidRequest`: 400 invalid_json, 413, 415, 422."""
    data = await read_body(request)
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
        told = [fault.sentence(quoted=False) for fault in faults]
        violations = [f"{place}: {message}" if place else message for place, message in zip(places, told, strict=True)]
        message = f"the body does not fit: {violations[0]}"
        raise InvalidRequest(message, status=422, place=places[0], violations=violations) from error


def form_fields(data: bytes) -> dict[str, str]:
    """The fields of a form; of a name that is given twice, the last."""
    try:
        pairs = parse_qsl(data.decode(), keep_blank_values=True, max_num_fields=MAX_ANSWER_FIELDS + _FORM_EXTRAS)
    except ValueError as error:
        raise InvalidRequest("the form cannot be read", code="invalid_form", mend="send URL-encoded UTF-8") from error
    return dict(pairs)


def documented_body(model: type[BaseModel], *, required: bool = False) -> dict[str, Any]:
    """A route's documentation of a JSON body that `read_model` reads."""
    content = {"application/json": {"schema": _inlined(model)}}
    return {"requestBody": {"required": required, "content": content}}


def _inlined(model: type[BaseModel]) -> Any:
    """The schema with the models inside it in place: a reference would lead out of the document that this becomes part of."""
    schema = model.model_json_schema()
    parts = schema.pop("$defs", {})

    def inline(value: Any) -> Any:
        if isinstance(value, dict):
            name = str(value.get("$ref", "")).rpartition("/")[2]
            return inline(parts[name]) if name else {key: inline(inner) for key, inner in value.items()}
        return [inline(inner) for inner in value] if isinstance(value, list) else value

    return inline(schema)
