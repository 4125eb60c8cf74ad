"""Measures pins, and limits how much they may hold. An output is measured as compact JSON in UTF-8, as a run puts it out, not as
an entity keeps it."""

from __future__ import annotations

import json
from collections.abc import Iterable

from stepless.drafts.rules.requests import RefusalCode
from stepless.drafts.rules.state import PINS, State
from stepless.limits import MAX_PIN_BYTES, MAX_PINS_BYTES
from stepless.model.json import JSON


def pin_bytes(value: JSON) -> int:
    """Returns the bytes of a value of an entity."""
    if isinstance(value, dict):
        if len(value) == 1:
            items, digits = value.get("[]"), value.get("#")
            if isinstance(items, dict):
                return _enclosed([pin_bytes(item.get("is")) if isinstance(item, dict) else 0 for item in items.values()])
            if isinstance(digits, str):
                return len(digits)
        return _enclosed([_plain(name) + 1 + pin_bytes(held) for name, held in value.items()])
    if isinstance(value, list):
        return _enclosed([pin_bytes(held) for held in value])
    return _plain(value)


def pin_fault(state: State, keys: Iterable[str]) -> tuple[RefusalCode, str] | None:
    """Returns the first of these pins that cannot be kept as it is in a state, after the code for which: it is too large, or all
    pins together are."""
    are_too_large: bool | None = None
    for key in keys:
        if pin_bytes((state.get(key) or {}).get("output")) > MAX_PIN_BYTES:
            return "pin_too_large", key
        if are_too_large is None:
            are_too_large = sum(pin_bytes((state.get(one) or {}).get("output")) for one in state.found(PINS)) > MAX_PINS_BYTES
        if are_too_large:
            return "pins_too_large", key
    return None


def _enclosed(parts: list[int]) -> int:
    return 2 + sum(parts) + max(0, len(parts) - 1)


def _plain(value: JSON) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
