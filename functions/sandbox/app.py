"""Sandbox: a program of an author in, what it came to out. Its role permits nothing, and it knows none of the engine's data."""

from __future__ import annotations

from typing import Any

from stepless.runtime.wiring.sandbox import hide_process, sandboxed

hide_process()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return sandboxed(event)
