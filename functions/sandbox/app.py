"""Sandbox function: runs a program of an author and returns its result. Its role permits nothing, and it has no engine data."""

from __future__ import annotations

from typing import Any

from stepless.runtime.wiring.sandbox import hide_process, sandboxed

hide_process()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return sandboxed(event)
