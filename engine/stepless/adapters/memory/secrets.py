"""Reads secrets from a mapping."""

from __future__ import annotations

from collections.abc import Mapping


class MemorySecrets:
    """Reads from a copy of `values`. Its representation contains the names of the secrets, never their values."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = dict(values or {})

    def get(self, name: str) -> str | None:
        return self._values.get(name)

    def __repr__(self) -> str:
        return f"MemorySecrets({sorted(self._values)})"
