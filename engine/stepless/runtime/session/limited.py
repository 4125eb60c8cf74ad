"""Makes the limiter of a session. Loads nothing for a workflow without limits per key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from stepless.model.graph import Graph
from stepless.ports import Lease, RunHead
from stepless.runtime.runlog import RunLog
from stepless.runtime.world import World

if TYPE_CHECKING:
    from stepless.runtime.session.limiting import Limiter, Retried


def limiter_of(
    world: World, head: RunHead, graph: Graph, lease: Callable[[], Lease], log: RunLog, retried: Retried
) -> Limiter | None:
    """The limiter of a session of a graph with limits per key, None for others. `lease` returns the present lease, and `retried`
    makes a call to the store."""
    if not graph.limited:
        return None
    from stepless.runtime.session.limiting import Limiter  # imported late: few workflows have limits

    return Limiter(world, head, lease, log, retried)
