"""What the evaluation of one node may cost: counted steps, so that it ends at the same place on every machine.

A step is about ten nanoseconds of work on the machine of the benchmarks. What an operation costs is worked out from the sizes
of its operands before it is done, never measured.
"""

from __future__ import annotations

from typing import Final

from stepless.errors import ExpressionError
from stepless.limits import MAX_EVALUATION_STEPS

TOO_MUCH: Final = "too_large"


class Steps:
    """The steps that are left to one node: its expressions, templates, matches and queries share them."""

    __slots__ = ("left",)

    def __init__(self, left: int = MAX_EVALUATION_STEPS) -> None:
        self.left = left

    def spend(self, steps: int) -> None:
        """Takes steps away. Raises `ExpressionError` (too_large) when there are not so many left."""
        self.left -= steps
        if self.left < 0:
            message = f"evaluating the node takes more than {MAX_EVALUATION_STEPS:,} steps"
            raise ExpressionError(message, code=TOO_MUCH, mend="let it look at less data, or share the work among several nodes")
