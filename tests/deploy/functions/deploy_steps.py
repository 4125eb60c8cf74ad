"""Nodes of the deployed workflows."""

from __future__ import annotations

from threading import Event

from stepless.nodes.function import FunctionCall, function


@function("steps.work")
def work(name: str, call: FunctionCall, seconds: float = 0.0) -> str:
    """Takes its time."""
    Event().wait(seconds)
    call.log(f"worked on {name}")
    return name


@function("steps.large")
def large(size: int) -> str:
    """More than an event holds."""
    return "x" * size
