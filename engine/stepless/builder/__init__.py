"""Workflows written in Python: what is built is the document, and nothing else (docs/python.md).

    workflow.py     the document's top level: build it, read it back, judge it, run it
    kinds.py        one method per kind of node; containers, whose bodies have them too
    nodes.py        one level of nodes and edges
    steps.py        a node, and its exits, as other nodes name them
    references.py   references that grow step by step
    plain.py        from what an author hands over to JSON
"""

from stepless.builder.kinds import Container
from stepless.builder.references import Ref
from stepless.builder.steps import Exit, Step
from stepless.builder.workflow import Workflow

__all__ = ["Container", "Exit", "Ref", "Step", "Workflow"]
