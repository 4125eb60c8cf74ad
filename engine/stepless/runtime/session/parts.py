"""Opens the parts of a session that few runs use: the limiter, the notices, and what is exported. Loads nothing of them for the
others.

What decides is the graph, and the state that was loaded or decided: never how the run began. A session that continues a run,
after a death of the process or from an earlier release, therefore opens what the former session had open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from stepless.core.events import Event
from stepless.core.state import State
from stepless.core.values.masking import Mask
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.ports import Lease, RunHead
from stepless.runtime import metering
from stepless.runtime.runlog import RunLog
from stepless.runtime.session.arrivals import Arrivals
from stepless.runtime.world import World

if TYPE_CHECKING:
    from stepless.runtime.session.exports import SessionExports
    from stepless.runtime.session.pauses.notice_sender import NoticeSender
    from stepless.runtime.session.permits.limiting import Limiter, Retried


def limiter_of(
    world: World, head: RunHead, graph: Graph, lease: Callable[[], Lease], log: RunLog, retried: Retried
) -> Limiter | None:
    """Returns the limiter of a session of a graph with limits per key, None for others. `lease` returns the present lease, and
    `retried` makes a call to the store."""
    if not graph.limited:
        return None
    from stepless.runtime.session.permits.limiting import Limiter  # imported late: few workflows have limits

    return Limiter(world, head, lease, log, retried)


class Parts:
    """A session's notices and exports, None as long as its run has not needed them, and those who follow it in this process."""

    _world: World
    _head: RunHead
    _lease: Lease
    _meta: Mapping[str, JSON]
    _env: Mapping[str, str]
    _mask: Mask
    _state: State
    _arrivals: Arrivals
    _metered: bool
    _notice_sender: NoticeSender | None = None
    _exports: SessionExports | None = None

    def _open_exports(self) -> SessionExports | None:
        """Opens the exports if anything of the workflow is exported. Everything in the state must be committed."""
        relay, fault = self._world.relay, None
        if relay is None:
            return None
        try:
            if not relay.concerns(self._state.graph):
                return None
        except Exception as error:  # no exporter may stop a run, even one that cannot be made
            fault = error
        from stepless.runtime.session.exports import SessionExports  # imported late: few workflows are exported

        self._exports = exports = SessionExports(self._world, self._head, self._lease)
        if fault is None:
            exports.open(relay, self._state, self._meta, self._env, self._mask)
        else:
            exports.put_off(fault)
        return exports

    def _announce(self, events: Sequence[Event]) -> None:
        """Reports committed events to those who follow the run in this process: meters, followers and exporters."""
        if self._metered:
            metering.committed(self._world.meter, self._head, events)
        if (news := self._world.news) is not None and news.followers:
            news.publish(self._head.run_id, events)
        if self._exports is not None:
            self._exports.committed(events)

    def _send_notices(self, pauses: Iterable[str]) -> None:
        if self._notice_sender is None:
            from stepless.runtime.session.pauses.notice_sender import NoticeSender  # imported late: few pauses send notices

            self._notice_sender = NoticeSender(self._world, self._env, self._mask, self._arrivals.add)
        for pause in pauses:
            self._notice_sender.begin(self._state, pause)
