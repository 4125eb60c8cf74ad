"""Limits the evaluation of one node by counted steps, so that it ends at the same point on every machine.

A step is about ten nanoseconds of work on the machine of the benchmarks. The cost of an operation is computed from the sizes of
its operands before it runs, and never measured.
"""

from __future__ import annotations

from typing import Final

from stepless.errors import ExpressionError
from stepless.limits import MAX_EVALUATION_STEPS

TOO_MUCH: Final = "too_large"


class Steps:
    """The steps that are left to one node. Its expressions, templates, matches and queries share them."""

    __slots__ = ("left",)

    def __init__(self, left: int = MAX_EVALUATION_STEPS) -> None:
        self.left = left

    def spend(self, steps: int) -> None:
        """Subtracts steps. Raises `ExpressionError` (too_large) when too few are left."""
        self.left -= steps
        if self.left < 0:
            message = f"evaluating the node takes more than {MAX_EVALUATION_STEPS:,} steps"
            raise ExpressionError(message, code=TOO_MUCH, mend="process less data, or split the work over several nodes")
