"""Describes the types of values, as far as annotations lead, and what JSON keeps of them.

A type is what an annotation says (`int`, `list[str]`, a model), or UNKNOWN. JSON keeps text, numbers, booleans, null, lists and
objects. It does not keep tuples, models and other classes: an operation on these is not compiled but lifted.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from enum import Enum
from functools import lru_cache, wraps
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, TypeAdapter

from stepless.flow.compiler.facts.functions import holds_named, is_named, united
from stepless.limits import MAX_CACHED_SIGNATURES

UNKNOWN: Final = typing.Any
SCALARS: Final = (str, int, float, bool, type(None))
REAL: Final = int | float
"""The type of a value that an annotation calls `float` and that nothing converts: a whole number stays one, in Python and in
JSON. A `float` of a model or of an argument of the workflow is converted in Python, while JSON may hold a whole number."""
CARRIED: Final = type("Carried", (), {})
"""The type of a value that may be none of JSON's, in the form in which `carried` stores it: only Python reads it."""
UNSEEN: Final = type("Unseen", (), {})
"""The type of a name whose bindings have not been read yet."""
TAG: Final = "$stepless"
"""The key of an object that stands for a value that JSON does not have."""
ERROR: Final = "error"
"""The tag of a failure that is a value."""
UNBOUND: Final = {TAG: "unbound"}
"""The value of a run variable whose name has no value."""
ATOMS: Final = (UNKNOWN, *SCALARS)  # most types: they need no look inside
_UNIONS: Final = (typing.Union, types.UnionType)
_R = TypeVar("_R")


def remembered(function: Callable[..., _R]) -> Callable[..., _R]:
    """Keeps what a function of types returns: few types are asked about, each many times."""
    kept = lru_cache(MAX_CACHED_SIGNATURES)(function)

    @wraps(function)
    def asked(*kinds: Any) -> _R:
        try:
            return kept(*kinds)
        except TypeError:  # `Annotated` may hold what has no hash
            return function(*kinds)

    return asked


@remembered
def bare(kind: Any) -> Any:
    """Returns a type without `Annotated`; the type of its values for a `Literal` or a type variable."""
    if kind in ATOMS:
        return kind
    origin = typing.get_origin(kind)
    if origin is typing.Annotated:
        return bare(typing.get_args(kind)[0])
    if origin is Literal:
        return union(*{type(value) for value in typing.get_args(kind)})
    if origin is not None and hasattr(typing, "TypeAliasType") and isinstance(origin, typing.TypeAliasType):
        return UNKNOWN
    if kind is None:
        return type(None)
    return UNKNOWN if isinstance(kind, typing.TypeVar | str) or kind is inspect.Parameter.empty or kind is object else kind


@remembered
def members(kind: Any) -> tuple[Any, ...]:
    """Returns the members of a union; a type that is none is its own only member."""
    if kind in ATOMS:
        return (kind,)
    kind = bare(kind)
    if typing.get_origin(kind) in _UNIONS:
        return tuple(one for member in typing.get_args(kind) for one in members(member))
    return (kind,)


@remembered
def union(*kinds: Any) -> Any:
    """Returns one type for values of several; UNKNOWN where they differ in more than null."""
    found = list(dict.fromkeys(one for kind in kinds for one in members(kind)))
    solid = [one for one in found if one is not type(None)]
    if set(solid) == {int, float} and not any({*members(kind)} - {type(None)} == {float} for kind in kinds):
        return REAL | None if len(found) > 2 else REAL
    if len(solid) > 1 and any(map(holds_named, solid)):
        one = _holding(solid)
        return one if len(solid) == len(found) else typing.Optional[one]  # noqa: UP045  # a value, not an annotation
    if len(solid) > 1 and all(map(is_tuple, solid)):
        return tuple if len(solid) == len(found) else typing.Optional[tuple]  # noqa: UP045  # a value, not an annotation
    if len(solid) > 1 and any(map(is_carried, solid)):
        return CARRIED
    if len(solid) > 1 or UNKNOWN in solid:
        return UNKNOWN
    if not solid:
        return type(None)
    return typing.Optional[solid[0]] if len(found) > 1 else solid[0]  # noqa: UP045  # a value, not an annotation


def _holding(kinds: list[Any]) -> Any:
    """The type of values of several that name functions, or hold such values: lists, objects, and tuples of one length."""
    origins = {typing.get_origin(kind) for kind in kinds}
    arguments = [typing.get_args(kind) for kind in kinds]
    if origins == {list} or origins == {dict}:
        item = union(*(one[-1] for one in arguments))
        return list_of(item) if origins == {list} else dict_of(item)
    if origins == {tuple} and len({len(one) for one in arguments}) == 1 and not any(... in one for one in arguments):
        return tuple_of(*(union(*together) for together in zip(*arguments, strict=True)))
    return united(kinds)


@remembered
def solid(kind: Any) -> Any:
    """Returns a type without null: `Order | None` → `Order`; UNKNOWN for a union of several."""
    some = [one for one in members(kind) if one is not type(None)]
    if {*some} == {int, float}:
        return REAL
    return some[0] if len(some) == 1 else UNKNOWN if some else type(None)


def may_be_null(kind: Any) -> bool:
    return any(one in (UNKNOWN, CARRIED, type(None)) for one in members(kind))


@remembered
def is_carried(kind: Any) -> bool:
    """Returns whether a value of a type may be, or hold, one that JSON does not have and that is stored in a form of its own."""
    return any(
        one is CARRIED or (typing.get_origin(one) in (list, dict, tuple) and any(map(is_carried, typing.get_args(one))))
        for one in members(kind)
    )


def list_of(kind: Any) -> Any:
    """Returns the type of lists of a type that is known at run time only."""
    return types.GenericAlias(list, (kind,))


def dict_of(kind: Any) -> Any:
    return types.GenericAlias(dict, (str, kind))


def tuple_of(*kinds: Any) -> Any:
    return types.GenericAlias(tuple, kinds)


@remembered
def is_model(kind: Any) -> bool:
    return inspect.isclass(kind) and not typing.get_args(kind) and issubclass(kind, BaseModel)


@remembered
def item_of(kind: Any) -> Any:
    """Returns the type of the items of a list or tuple, or of the values of an object."""
    kind = solid(kind)
    if kind is CARRIED:
        return CARRIED
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (list, typing.get_origin(typing.Sequence[int])) and arguments:
        return bare(arguments[0])
    if origin is tuple and arguments:
        return bare(arguments[0]) if len(arguments) == 2 and arguments[1] is ... else union(*arguments)
    if origin in (dict, typing.get_origin(typing.Mapping[str, int])) and len(arguments) == 2:
        return bare(arguments[1])
    return str if kind is str else UNKNOWN


def is_list(kind: Any) -> bool:
    kind = solid(kind)
    return kind is list or typing.get_origin(kind) is list


def is_tuple(kind: Any) -> bool:
    kind = solid(kind)
    return kind is tuple or typing.get_origin(kind) is tuple


def is_dict(kind: Any) -> bool:
    kind = solid(kind)
    return kind is dict or typing.get_origin(kind) is dict


def is_number(kind: Any) -> bool:
    return kind in (int, float) or kind == REAL


def is_atom(kind: Any) -> bool:
    """Returns whether values of a type are single and cannot be changed in place; null among them or not."""
    kind = solid(kind)
    return kind in SCALARS or kind == REAL or is_named(kind)


@remembered
def believed(kind: Any) -> Any:
    """Returns the type of a value of which only an annotation says what it is."""
    if kind is float:
        return REAL
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return believed(arguments[0])
    if origin in _UNIONS:
        return typing.Union[tuple(map(believed, arguments))]  # noqa: UP007  # a value, not an annotation
    if origin in (list, dict, tuple):
        return types.GenericAlias(origin, tuple(one if one is ... else believed(one) for one in arguments))
    return kind


@remembered
def parts(kind: Any) -> frozenset[str]:
    """Returns the kinds of values that a type may contain: `bool`, `number`, `float`, `text`, `null`, `unknown`, and `foreign`:
    what JSON does not keep, so that Python and the engine would differ."""
    found: set[str] = set()
    for one in members(kind):
        origin, arguments = typing.get_origin(one), typing.get_args(one)
        if one is UNKNOWN:
            found.add("unknown")
        elif one is float:
            found |= {"number", "float"}
        elif one in SCALARS:
            found.add({str: "text", int: "number", bool: "bool", type(None): "null"}[one])
        elif one in (list, dict):
            found.add("unknown")
        elif origin in (list, dict):
            found |= frozenset().union(*(parts(argument) for argument in arguments))
        else:
            found.add("foreign")
    return frozenset(found)


def is_plain(kind: Any) -> bool:
    """Returns whether JSON keeps the values of a type as they are; so it may be of a type that is not known."""
    return "foreign" not in parts(kind)


def is_container(kind: Any) -> bool:
    """Returns whether values of a type are lists, tuples or objects, whatever they contain."""
    return is_list(kind) or is_dict(kind) or is_tuple(kind)


def promised(kind: Any, given: Any) -> Any:
    """Returns the type of a name that an annotation calls `kind`, and that is bound to a value of the type `given`."""
    if is_carried(given):
        return given
    if solid(kind) is float and solid(given) is not float:
        return believed(kind)
    return kind if may_be(given, kind) else UNKNOWN


def may_be(given: Any, kind: Any) -> bool:
    """Returns whether a value of the type `given` may be what an annotation says: a type checker has to find the others."""
    one, other = solid(given), solid(kind)
    if is_atom(one) and is_atom(other) and one is not type(None):
        return one == other or (other == REAL and is_number(one))
    same = (is_list(one) and is_list(other)) or (is_dict(one) and is_dict(other))
    return not same or may_be(item_of(one), item_of(other))


def is_failure(kind: Any) -> bool:
    return inspect.isclass(kind) and not typing.get_args(kind) and issubclass(kind, BaseException)


@remembered
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    """Returns the validator of the values of a type. Raises `PydanticUserError` or TypeError for a type without a validator."""
    return TypeAdapter(kind)


@remembered
def _schema(kind: Any, given: bool) -> dict[str, Any]:
    adapter = adapter_of(kind)
    return dict(adapter.json_schema() if given else adapter.json_schema(by_alias=False, mode="serialization"))


def schema_of(kind: Any, *, given: bool = True) -> dict[str, Any] | None:
    """Returns the JSON Schema of a type's values as they are passed in, or as a step puts them out: under the names of their
    fields. None for a type that says nothing, or that has no schema."""
    kind = bare(kind)
    if kind is UNKNOWN or kind is inspect.Parameter.empty:
        return None
    try:
        found: dict[str, Any] = _copied(_schema(kind, given))
    except Exception:  # pydantic has no schema for the type: then nothing is promised
        return None
    return found


def _copied(value: Any) -> Any:
    """A copy of JSON."""
    if type(value) is dict:
        return {name: _copied(item) for name, item in value.items()}
    return list(map(_copied, value)) if type(value) is list else value


@remembered
def needs_validation(model: Any) -> bool:
    """Returns whether a schema says less than a model: it has validators, aliases or made defaults, or a model in it has; or a
    model with defaults stands where an entry does not fill them in, which it does in fields, in lists, and in optional types."""
    return _says_more(model, set(), filled=True)


@remembered
def says_more(kind: Any) -> bool:
    """Answers like `needs_validation`, for a value whose defaults nothing fills in, such as the data of a message."""
    return _says_more(kind, set(), filled=False)


@remembered
def is_as_sent(model: Any) -> bool:
    """Returns whether each field of a model has the value that JSON has, or is that value as a `float`."""
    if not model.model_fields or says_more(model) or model.model_config.get("extra", "ignore") != "ignore":
        return False
    kinds = [field.annotation for field in model.model_fields.values()]
    return all(solid(kind) is float or not parts(kind) & {"float", "foreign"} for kind in kinds)


@remembered
def field_says_more(model: Any, name: str) -> bool:
    """Returns whether a schema says less than a model about one of its fields, where nothing fills in a default."""
    rules = model.__pydantic_decorators__
    field = model.model_fields[name]
    checked = rules.validators or rules.field_validators or rules.root_validators or rules.model_validators
    named = field.alias is not None or field.validation_alias is not None or not field.is_required()
    made = any(callable(getattr(rule, "func", None)) for rule in field.metadata)
    return bool(checked) or named or made or says_more(field.annotation)


def _says_more(kind: Any, seen: set[Any], *, filled: bool) -> bool:
    found = members(kind)
    filled = filled and len([one for one in found if one is not type(None)]) == 1
    for one in found:
        within = filled and typing.get_origin(one) is list
        if any(_says_more(argument, seen, filled=within) for argument in typing.get_args(one) if argument is not ...):
            return True
        if is_model(one) and not filled and any(not field.is_required() for field in one.model_fields.values()):
            return True
        if not is_model(one) or one in seen:
            if inspect.isclass(one) and issubclass(one, Enum):
                return False
            continue
        seen.add(one)
        decorators = one.__pydantic_decorators__
        if decorators.validators or decorators.field_validators or decorators.root_validators or decorators.model_validators:
            return True
        for field in one.model_fields.values():
            if field.default_factory is not None or field.alias is not None or field.validation_alias is not None:
                return True
            if any(callable(getattr(rule, "func", None)) for rule in field.metadata):
                return True
            if _says_more(field.annotation, seen, filled=True):
                return True
    return False
