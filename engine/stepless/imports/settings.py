"""Converts the settings of nodes that depend on their kind: whether it is retried, and how it is disabled."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from stepless.model.json import JSON
from stepless.model.kind_settings import obeys
from stepless.nodes import KINDS


def is_retried(kind: str) -> bool:
    """Returns whether nodes of the kind obey `retry`."""
    return obeys(KINDS[kind], "retry")


def kept(node: Mapping[str, JSON]) -> dict[str, JSON]:
    """Returns the settings that a node keeps when a function with one exit replaces it."""
    fields = {name: node[name] for name in ("label", "after", "enabled") if name in node}
    return {**fields, "enabled": False} if "enabled" in fields else fields


def disabled(node: Mapping[str, JSON]) -> JSON:
    """Returns the `enabled` of a node that is disabled. With several exits it leaves by the first."""
    kind, with_ = KINDS[str(node["type"])], node.get("with", {})
    if kind.terminal:
        return False
    try:
        params = kind.params.model_validate(with_)
    except ValidationError:  # it holds references, or has findings of its own
        params = kind.params.model_construct(None, **(with_ if isinstance(with_, dict) else {}))
    exits = kind.exits(params)
    return {"exit": exits[0]} if len(exits) > 1 else False
