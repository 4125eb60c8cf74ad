"""Encodes values that JSON does not have, where a name of a flow carries them from one node to another, and decodes them.

A value of JSON is stored as it is. Any other is an object with the key `$stepless`, which names its type, and `value`:

| value | stored as |
|---|---|
| `set`, `frozenset`, `tuple` | `{"$stepless": "set", "value": [items]}` |
| `dict` with keys that are no texts, or with the key `$stepless` | `{"$stepless": "dict", "value": [[key, value], …]}` |
| `bytes` | base64 |
| `date`, `time`, `datetime` | ISO 8601, with `fold` and the name of a `ZoneInfo`, where there are such |
| `timedelta` | [days, seconds, microseconds] |
| `Counter`, `OrderedDict`, `defaultdict`, `deque` | pairs or items, with the factory or the length |
| `Decimal`, `UUID`, infinite and undefined `float` | text |
| a failure of a node, an exception of Python's own | its class of failures, its code and its message |
| an `Enum`, a model, a dataclass, a named tuple | its class as `module:qualified.name`, and its value or its fields |

A value is stored only if decoding gives an equal one of the same types; else encoding raises `NotJson`, and the node fails.
`UNBOUND` stands for a name that has no value.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import importlib
import math
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from enum import Enum
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import BaseModel

from stepless.flow.compiler.facts.types import ERROR, TAG
from stepless.flow.words import NodeError, Record, code_of
from stepless.limits import MAX_DOCUMENT_DEPTH
from stepless.model.json import JSON
from stepless.nodes.json_value import NotJson, to_json

_SCALARS: Final = (str, int, bool, type(None))
Encoder = Callable[[Any, int], JSON]
Decoder = Callable[[Any], Any]


def encoded(value: Any, depth: int = MAX_DOCUMENT_DEPTH) -> JSON:
    """Returns a value as JSON from which `decoded` makes an equal one of the same types. Raises `NotJson` for a value that has
    none."""
    if depth <= 0:
        raise NotJson(f"nested deeper than {MAX_DOCUMENT_DEPTH} levels, or circular")
    kind = type(value)
    if kind in _SCALARS or (kind is float and math.isfinite(value)):
        return to_json(value)
    if kind is list:
        return [_within(place, item, depth) for place, item in enumerate(value)]
    if kind in (dict, Record) and TAG not in value and all(type(name) is str for name in value):
        return {to_json(name): _within(name, item, depth) for name, item in value.items()}
    if isinstance(value, Exception):
        return {TAG: ERROR, "value": _described(value)}
    encode = _ENCODERS.get(kind)
    if encode is not None:
        return {TAG: _NAMES[kind], "value": encode(value, depth)}
    return _of_class(value, depth)


def _described(error: Exception) -> JSON:
    """An exception as the engine describes the failure of a node."""
    if isinstance(error, NodeError):
        return {"class": "execution", "code": error.code, "message": error.message, "node": ""}
    return {"class": "processing", "code": code_of(type(error)), "message": str(error), "node": ""}


def _failure(stored: Mapping[str, Any]) -> Exception:
    """The exception of the class that has the code of a failure: of the author's, or of Python."""
    from stepless.flow.plain import failure_of  # imported late: it needs this module

    message, code = str(stored.get("message", "")), str(stored.get("code", ""))
    own = [kind for kind in _subclasses(Exception) if kind is not NodeError and code_of(kind) == code]
    kind = next(iter(sorted(own, key=lambda one: (not issubclass(one, NodeError), one.__module__ != "builtins"))), None)
    if stored.get("class") == "processing" and kind is not None and not issubclass(kind, NodeError):
        return kind(*[message] if message else [])
    return NodeError(message, code=code) if kind is None else failure_of(kind, message, code)


def _subclasses(kind: type[Exception]) -> Iterator[type[Exception]]:
    for one in kind.__subclasses__():
        if not (issubclass(one, NodeError) and one.__module__ == "stepless.flow.plain"):  # made for another class
            yield one
            yield from _subclasses(one)


def _within(place: object, value: Any, depth: int) -> JSON:
    try:
        return encoded(value, depth - 1)
    except NotJson as found:
        raise found.within(place) from None


def _items(value: Any, depth: int) -> JSON:
    return [_within(place, item, depth) for place, item in enumerate(value)]


def _pairs(value: Mapping[Any, Any], depth: int) -> JSON:
    return [[_within(name, part, depth) for part in (name, item)] for name, item in value.items()]


def _instant(value: datetime.datetime | datetime.time, depth: int) -> JSON:
    zone = value.tzinfo
    if zone is None or type(zone) is datetime.timezone:
        name: JSON = None if zone is None else zone.tzname(None)
        if zone is not None and zone.tzname(None) != datetime.timezone(zone.utcoffset(None)).tzname(None):
            raise NotJson("a time zone with a name of its own", "use datetime.UTC, or ZoneInfo")
    elif type(zone) is ZoneInfo and zone.key:
        name = zone.key
    elif value.utcoffset() is not None and not isinstance(zone, ZoneInfo) and type(zone).__module__.startswith("pydantic"):
        value, name = value.replace(tzinfo=datetime.timezone(value.utcoffset() or datetime.timedelta())), None
    else:
        raise NotJson(f"a time in a zone of the class {type(zone).__name__}", "use datetime.UTC, or ZoneInfo")
    if type(zone) is ZoneInfo:
        return [value.replace(tzinfo=None).isoformat(), value.fold, name]
    return [value.isoformat(), value.fold, None]


def _of_instant(kind: Any) -> Decoder:
    def decode(stored: Any) -> Any:
        text, fold, zone = stored
        value = kind.fromisoformat(text).replace(fold=fold)
        return value.replace(tzinfo=ZoneInfo(zone)) if zone is not None else value

    return decode


def _of_class(value: Any, depth: int) -> JSON:
    """An `Enum`, a model, a dataclass or a named tuple, by the place of its class."""
    kind = type(value)
    where = f"{kind.__module__}:{kind.__qualname__}"
    if _found(where) is not kind:
        if isinstance(value, Enum | BaseModel) or dataclasses.is_dataclass(value):
            raise NotJson(f"{kind.__name__}, a class that is not in a module", "define it in a module")
        raise NotJson(f"{kind.__name__} has no value that can be recorded", "make it again where it is used")
    if isinstance(value, Enum):
        return {TAG: "enum", "class": where, "value": value.name}
    if isinstance(value, BaseModel):
        parts = (value.__dict__, value.__pydantic_extra__, value.__pydantic_private__)
        filled: list[JSON] = [*sorted(value.__pydantic_fields_set__)]
        stored = {TAG: "model", "class": where, "value": [*(_within("fields", one, depth) for one in parts), filled]}
    elif dataclasses.is_dataclass(value):
        fields: JSON = {one.name: _within(one.name, getattr(value, one.name), depth) for one in dataclasses.fields(value)}
        stored = {TAG: "dataclass", "class": where, "value": fields}
    elif isinstance(value, tuple) and hasattr(kind, "_fields"):
        stored = {TAG: "named tuple", "class": where, "value": _items(value, depth)}
    else:
        raise NotJson(f"{kind.__name__} has no value that can be recorded", "make it again where it is used")
    if not same(decoded(stored), value):
        raise NotJson(f"{kind.__name__} is not what is made from its fields", "keep its fields in names of their own")
    return stored


def _found(where: str) -> Any:
    """The class at a place; None if there is none."""
    module, _, path = where.partition(":")
    found: Any = sys.modules.get(module) or _imported(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def _imported(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def _model(stored: Mapping[str, Any]) -> Any:
    kind = _class(stored)
    fields, extra, private, filled = stored["value"]
    made = kind.__new__(kind)
    object.__setattr__(made, "__dict__", dict(decoded(fields)))
    object.__setattr__(made, "__pydantic_fields_set__", set(filled))
    object.__setattr__(made, "__pydantic_extra__", None if extra is None else dict(decoded(extra)))
    object.__setattr__(made, "__pydantic_private__", None if private is None else dict(decoded(private)))
    return made


def _dataclass(stored: Mapping[str, Any]) -> Any:
    kind = _class(stored)
    made = kind.__new__(kind)
    for name, value in stored["value"].items():
        object.__setattr__(made, name, decoded(value))
    return made


def _named_tuple(stored: Mapping[str, Any]) -> Any:
    return tuple.__new__(_class(stored), [decoded(one) for one in stored["value"]])


def _class(stored: Mapping[str, Any]) -> Any:
    found = _found(stored["class"])
    if found is None:
        raise NotJson(f"there is no class {stored['class']}", "keep the classes of values that open runs carry")
    return found


def _paired(stored: Any) -> dict[Any, Any]:
    return {decoded(name): decoded(item) for name, item in stored}


_FACTORIES: Final[Mapping[str | None, Any]] = {
    None: None, "list": list, "dict": dict, "set": set, "int": int, "float": float, "str": str, "bool": bool, "tuple": tuple,
}  # fmt: skip


def _factory(value: defaultdict[Any, Any]) -> JSON:
    name = getattr(value.default_factory, "__name__", None)
    if _FACTORIES.get(name, _FACTORIES) is not value.default_factory:
        raise NotJson("a defaultdict whose values a function of yours makes", "use one of Python's own types")
    return name


_NAMES: Final[Mapping[type, str]] = {
    set: "set", frozenset: "frozenset", tuple: "tuple", dict: "dict", Record: "dict", bytes: "bytes", float: "float",
    datetime.date: "date", datetime.time: "time", datetime.datetime: "datetime", datetime.timedelta: "timedelta",
    Decimal: "Decimal", UUID: "UUID", Counter: "Counter", OrderedDict: "OrderedDict", defaultdict: "defaultdict", deque: "deque",
}  # fmt: skip
_ENCODERS: Final[Mapping[type, Encoder]] = {
    set: _items, frozenset: _items, tuple: _items, dict: _pairs, Record: _pairs,
    bytes: lambda value, depth: base64.b64encode(value).decode(),
    float: lambda value, depth: str(value),
    datetime.date: lambda value, depth: value.isoformat(), datetime.time: _instant, datetime.datetime: _instant,
    datetime.timedelta: lambda value, depth: [value.days, value.seconds, value.microseconds],
    Decimal: lambda value, depth: str(value), UUID: lambda value, depth: str(value),
    Counter: _pairs, OrderedDict: _pairs, defaultdict: lambda value, depth: [_factory(value), _pairs(value, depth)],
    deque: lambda value, depth: [value.maxlen, _items(value, depth)],
}  # fmt: skip
_DECODERS: Final[Mapping[str, Decoder]] = {
    "set": lambda stored: set(map(decoded, stored)), "frozenset": lambda stored: frozenset(map(decoded, stored)),
    "tuple": lambda stored: tuple(map(decoded, stored)),
    "dict": _paired, "bytes": base64.b64decode, "float": float,
    "date": datetime.date.fromisoformat, "time": _of_instant(datetime.time), "datetime": _of_instant(datetime.datetime),
    "timedelta": lambda stored: datetime.timedelta(*stored), "Decimal": Decimal, "UUID": UUID,
    "Counter": lambda stored: Counter(_paired(stored)), "OrderedDict": lambda stored: OrderedDict(_paired(stored)),
    "defaultdict": lambda stored: defaultdict(_FACTORIES[stored[0]], _paired(stored[1])),
    ERROR: _failure,
    "deque": lambda stored: deque(map(decoded, stored[1]), stored[0]),
}  # fmt: skip
_OF_CLASSES: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    "enum": lambda stored: _class(stored)[stored["value"]], "model": _model, "dataclass": _dataclass, "named tuple": _named_tuple,
}


def decoded(stored: JSON) -> Any:
    """Returns the value that was encoded. Objects of JSON are records, whose keys are attributes too."""
    if isinstance(stored, dict):
        tag = stored.get(TAG)
        if isinstance(tag, str) and tag in _DECODERS and len(stored) == 2:
            return _DECODERS[tag](stored["value"])
        if isinstance(tag, str) and tag in _OF_CLASSES and len(stored) == 3:
            return _OF_CLASSES[tag](stored)
        return Record({name: decoded(item) for name, item in stored.items()})
    return [decoded(item) for item in stored] if isinstance(stored, list) else stored


def same(one: Any, other: Any) -> bool:
    """Returns whether two values are equal, and of the same types all the way down."""
    if type(one) is not type(other):
        return {type(one).__name__, type(other).__name__} == {"dict", "Record"} and _same_items(one, other)
    if isinstance(one, BaseModel):
        private = same(one.__pydantic_private__, other.__pydantic_private__)
        extra = same(one.__pydantic_extra__, other.__pydantic_extra__)
        return private and extra and _same_items(one.__dict__, other.__dict__)
    if isinstance(one, dict):
        return _same_items(one, other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if dataclasses.is_dataclass(one):
        return _same_items(vars(one), vars(other)) if hasattr(one, "__dict__") else bool(one == other)
    return bool(one == other) or (one != one and other != other)  # two undefined numbers


def _same_items(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> bool:
    return list(one) == list(other) and all(same(value, other[name]) for name, value in one.items())
