"""Converts the names of blocks to ids of documents."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from stepless.limits import MAX_ID_CHARACTERS
from stepless.model.declaration.document import RESERVED_IDS

ENV_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_SPACE_FOR_NUMBER: Final = 8


def compared(name: str) -> str:
    """Returns the form in which Sim compares names: lower case, without spaces and dots."""
    return re.sub(r"[\s.]+", "", name.lower())


def word(name: str, fallback: str = "block") -> str:
    """Returns `name` with only the characters that ids may have; `fallback` if none is left."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", ascii_name).strip("_-")[: MAX_ID_CHARACTERS - _SPACE_FOR_NUMBER]
    if not plain:
        return fallback
    return plain if plain[0].isalpha() else f"n_{plain}"


def slug(name: str) -> str:
    """Returns the id of a workflow."""
    return re.sub(r"[^a-z0-9]+", "-", word(name, "").lower()).strip("-") or "sim-workflow"


def screaming(*parts: str) -> str:
    """Returns a name for the environment."""
    name = re.sub(r"[^A-Z0-9]+", "_", word("_".join(parts), "SECRET").upper()).strip("_")
    return name if name[0].isalpha() else f"N_{name}"


def unique(name: str, taken: Collection[str]) -> str:
    """Returns `name`, followed by a number if it is taken."""
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def ids_for(names: Mapping[str, str]) -> dict[str, str]:
    """Returns unique node ids by block key, from block keys and their names."""
    ids: dict[str, str] = {}
    taken = set(RESERVED_IDS)
    for key, name in names.items():
        ids[key] = unique(word(name), taken)
        taken.add(ids[key])
    return ids


def exits_for(titles: Iterable[str]) -> list[str]:
    """Returns names of exits for the titles of cases or routes; none is `error`, which every kind has."""
    exits: list[str] = []
    for title in titles:
        exits.append(unique(word(title.lower(), "case").replace("_", "-"), {"error", "onError", *exits}))
    return exits
