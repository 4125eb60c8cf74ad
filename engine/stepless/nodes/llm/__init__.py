"""Defines the kind `llm`, which asks a language model."""

from stepless.nodes.llm.attempt import caller
from stepless.nodes.llm.kind import KIND

__all__ = ["KIND", "caller"]
