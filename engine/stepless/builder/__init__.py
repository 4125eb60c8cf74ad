"""Builds workflows in Python: the builder produces the document (docs/write/python.md)."""

from stepless.builder.kind_methods import Container
from stepless.builder.ref import Ref
from stepless.builder.steps import Exit, Step
from stepless.builder.workflow import Workflow

__all__ = ["Container", "Exit", "Ref", "Step", "Workflow"]
