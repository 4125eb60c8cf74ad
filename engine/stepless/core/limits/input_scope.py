"""Resolves the references of expressions at the top level of a document: they read the run's inputs, as `<input>`."""

from __future__ import annotations

from stepless.model.json import JSON, read_path
from stepless.model.scope import Reference
from stepless.model.steps import Steps


class OfInputs(Steps):
    """See `model.scope.Scope`."""

    __slots__ = ("inputs", "now_ms")

    def __init__(self, inputs: JSON, now_ms: int) -> None:
        super().__init__()
        self.inputs = inputs
        self.now_ms = now_ms

    def read(self, reference: Reference) -> JSON:
        return read_path(self.inputs, reference.path)
