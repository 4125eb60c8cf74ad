"""Plans writes of variables: when two writes become one, and when a write becomes the initial value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from stepless.flow.compiler.expression_trees import is_inert
from stepless.model.json import JSON

NOT_CONSTANT: Final = object()
_VARIABLE: Final = re.compile(r"<workflow\.([A-Za-z_]\w*)")
_WHOLE: Final = re.compile(r"\{\{ (-?\d{1,15}|'') \}\}")
_REFERENCE: Final = re.compile(r"<[A-Za-z_][\w.\[\]-]*>")


def merged_writes(former: Mapping[str, JSON], later: Mapping[str, JSON]) -> dict[str, JSON] | None:
    """Returns one write for two in a row, with the same effect; None if there is none. A later value that reads what the former
    one wrote reads in its place what that was written from, if that is a reference."""
    read = _read(later)
    if any(name.startswith("why_") for name in former) and later:
        return None
    names: dict[str, str] = {}
    for name in read & former.keys():
        value = former[name]
        if not isinstance(value, str) or _REFERENCE.fullmatch(value) is None:
            return None
        names[name] = value[1:-1]
    if any(name in later and _is_evaluated(former[name]) for name in former):
        return None
    return {**former, **{name: _replaced(value, names) for name, value in later.items()}}


def _is_evaluated(value: JSON) -> bool:
    """Whether a value may fail, so that it must not be left out."""
    return not (isinstance(value, str) and _REFERENCE.fullmatch(value)) and constant_of(value) is NOT_CONSTANT


def _read(value: JSON) -> set[str]:
    """The variables that a template reads."""
    if isinstance(value, str):
        return set(_VARIABLE.findall(value))
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return {name for one in inner for name in _read(one)}


def _replaced(value: JSON, names: Mapping[str, str]) -> JSON:
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: f"<{names[match[1]]}" if match[1] in names else match[0], value)
    if isinstance(value, list):
        return [_replaced(one, names) for one in value]
    return {name: _replaced(one, names) for name, one in value.items()} if isinstance(value, dict) else value


def constant_of(value: JSON) -> object:
    """Returns the value of a template that reads nothing; NOT_CONSTANT for any other."""
    if isinstance(value, str):
        whole = _WHOLE.fullmatch(value)
        if whole is not None:
            return "" if whole[1] == "''" else int(whole[1])
        return value if is_inert(value) else NOT_CONSTANT
    if isinstance(value, list):
        items = [constant_of(one) for one in value]
        return NOT_CONSTANT if any(one is NOT_CONSTANT for one in items) else items
    if isinstance(value, dict):
        fields = {name: constant_of(one) for name, one in value.items()}
        return NOT_CONSTANT if any(one is NOT_CONSTANT for one in fields.values()) else fields
    return value
