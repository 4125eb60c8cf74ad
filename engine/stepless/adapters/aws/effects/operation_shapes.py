"""Checks values against botocore's shapes, and converts them from and to JSON.

A text that contains a reference may become any value when a run fills it in, so it passes every check.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from hashlib import sha256
from typing import Any, Final
from uuid import UUID

from botocore.model import OperationModel, Shape
from botocore.response import StreamingBody

from stepless.limits import MAX_COUNTED_FINDINGS, MAX_RESULT_BYTES
from stepless.model.json import JSON
from stepless.model.work import NodeFailure
from stepless.ports import Misfit

_BASE64: Final = "base64"
_FILLED_IN: Final = re.compile(r"<[A-Za-z_]|\$\{|\{\{")
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,), "character": (str,), "integer": (int,), "long": (int,), "float": (int, float), "double": (int, float),
    "boolean": (bool,), "timestamp": (str, int, float), "blob": (str, dict), "list": (list,), "map": (dict,),
    "structure": (dict,),
}  # fmt: skip


def misfits(model: OperationModel, params: Mapping[str, JSON]) -> Sequence[Misfit]:
    """Returns every parameter that the operation would refuse according to its model, in order."""
    if model.has_event_stream_input or model.has_event_stream_output:
        return [Misfit("action", f"`{model.name}` streams events, which a node does not support")]
    if model.input_shape is None:
        return [Misfit("params", f"`{model.name}` takes no parameters")] if params else []
    found = []
    for misfit in _misfits(model.input_shape, dict(params), "params"):
        found.append(misfit)
        if len(found) == MAX_COUNTED_FINDINGS:
            break
    return found


def _misfits(shape: Shape, value: JSON, path: str) -> Iterator[Misfit]:
    if isinstance(value, str) and _FILLED_IN.search(value):
        return
    kind = shape.type_name
    wanted = _TYPES.get(kind)
    if wanted is not None and (not isinstance(value, wanted) or (isinstance(value, bool) and kind != "boolean")):
        yield Misfit(path, f"expected a {kind}, not {type(value).__name__}")
    elif kind == "structure" and isinstance(value, dict):
        yield from _members(shape, value, path)
    elif kind == "list":
        for index, item in enumerate(value):
            yield from _misfits(shape.member, item, f"{path}.{index}")
    elif kind == "map":
        for key, item in value.items():
            yield from _misfits(shape.value, item, f"{path}.{key}")
    elif kind == "string" and getattr(shape, "enum", None) and value not in shape.enum:
        yield Misfit(path, f"{value!r:.80} is not one of {', '.join(shape.enum[:20])}")


def _members(shape: Any, value: Mapping[str, JSON], path: str) -> Iterator[Misfit]:
    if shape.is_document_type:
        return
    for name in shape.required_members:
        if name not in value:
            yield Misfit(path, f"`{name}` is missing")
    for name, item in value.items():
        if name in shape.members:
            yield from _misfits(shape.members[name], item, f"{path}.{name}")
        else:
            yield Misfit(f"{path}.{name}", f"unknown parameter `{name}`; expected one of {', '.join(list(shape.members)[:20])}")


def given_of(shape: Any, value: Any) -> Any:
    """Returns the value as boto3 takes it: `{"base64": …}` becomes bytes where the shape wants bytes. Raises `NodeFailure`
    (config) for invalid base64; botocore reports all other misfits."""
    kind = shape.type_name if shape is not None else ""
    if kind == "structure" and isinstance(value, dict):
        return {name: given_of(shape.members.get(name), item) for name, item in value.items()}
    if kind == "map" and isinstance(value, dict):
        return {name: given_of(shape.value, item) for name, item in value.items()}
    if kind == "list" and isinstance(value, list):
        return [given_of(shape.member, item) for item in value]
    if kind == "blob" and isinstance(value, dict):
        try:
            return base64.b64decode(value[_BASE64], validate=True)
        except (KeyError, TypeError, binascii.Error, ValueError) as error:
            message = 'bytes must be given as text, or as {"base64": "…"}'
            raise NodeFailure("config", "invalid_config", message, retryable=False) from error
    return value


def json_of(value: Any) -> JSON:
    """Returns a boto3 response as JSON, without its metadata. Raises `NodeFailure` for a body that is too large."""
    if isinstance(value, dict):
        return {str(name): json_of(item) for name, item in value.items() if name != "ResponseMetadata"}
    if isinstance(value, list | tuple | set):
        return [json_of(item) for item in value]
    for kind, convert in _FOREIGN:
        if isinstance(value, kind):
            return convert(value)
    return value


def _read(body: StreamingBody) -> JSON:
    data = body.read(MAX_RESULT_BYTES + 1)
    if len(data) > MAX_RESULT_BYTES:
        message = f"the response body has more than {MAX_RESULT_BYTES:,} bytes"
        mend = "read a part of it, or pass a reference to it instead"
        raise NodeFailure("execution", "result_too_large", message, retryable=False, mend=mend)
    return _text(data)


def _text(data: bytes) -> JSON:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {_BASE64: base64.b64encode(data).decode()}


def _number(value: Decimal) -> JSON:
    return int(value) if value == value.to_integral_value() else float(value)


_FOREIGN: Final[Sequence[tuple[type, Callable[[Any], JSON]]]] = (
    (bytes, _text),
    (datetime, lambda at: at.astimezone(UTC).isoformat().replace("+00:00", "Z")),
    (Decimal, _number),
    (StreamingBody, _read),
)


def stable_uuid(text: str) -> str:
    """Returns a UUID derived from `text`, for services that detect repeated calls by a token."""
    return str(UUID(bytes=sha256(text.encode()).digest()[:16], version=4))
