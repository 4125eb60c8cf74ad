"""Tests workflows without a cloud and without waiting: days pass in milliseconds.

    def test_small_refunds_are_paid_at_once(workflow):
        refund = workflow("refund.yaml").script("score", returns({"body": {"risk": 0.1}}))
        result = refund.run({"order_id": "A-1", "amount": 40}).assert_completed()
        result.assert_ran("pay").assert_skipped("manager")

`workflow` is a pytest fixture of this package; without pytest, use `WorkflowTest.load`. Both use `simulate`. Each name is
imported on first use, so that the plug-in costs nothing in a test run without workflows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepless.testing.same import assert_same
    from stepless.testing.simulation import Simulation, simulate
    from stepless.testing.workflow import WorkflowTest, fails, returns

__all__ = ["Simulation", "WorkflowTest", "assert_same", "fails", "returns", "simulate"]

_HOMES = {
    "Simulation": "stepless.testing.simulation",
    "WorkflowTest": "stepless.testing.workflow",
    "assert_same": "stepless.testing.same",
    "fails": "stepless.testing.workflow",
    "returns": "stepless.testing.workflow",
    "simulate": "stepless.testing.simulation",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'stepless.testing' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value
