"""Says which runs wait under a further key (`key` of a node that waits for a message).

Each wait has a route: one entry in a set by key, which is read with read-your-writes. Its session puts the route after the commit
of the wait and removes it after the commit of the wait's end. Neither step shares a write with its commit, so a process that
dies, or freezes and goes on, leaves a route without a wait. Therefore a route is a hint, and the log decides: a sender reads the
log of the run that a route names, delivers if the run waits under the key there, and removes the route otherwise
(`verbs/sending.py`).

A route names the event with which its wait began. Two waits of one run never share a route, so a late removal for the first, by
the sender or by a frozen process, does not hide the second.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from stepless.core.state import State
from stepless.limits import MAX_RECEIVERS
from stepless.runtime.messages.keys import RunKey
from stepless.runtime.world import World

_ROUTES: Final = "routes:"
_BETWEEN: Final = "#"  # the id of the run, and the event with which it began to wait


class Route(NamedTuple):
    """One wait under a further key. `wait` is the sequence number of its `node.waiting`."""

    run_id: str
    wait: int


def put_route(world: World, run_key: RunKey, route: Route) -> None:
    """Makes a run answer to a further key. May be repeated."""
    world.store.join_line(_line(run_key), _position(route))


def remove_route(world: World, run_key: RunKey, route: Route) -> None:
    """Ends what `put_route` began. May be repeated."""
    world.store.leave_line(_line(run_key), _position(route))


def routes_of(world: World, run_key: RunKey) -> list[Route]:
    """The routes of a key, those of one run in succession; one more than MAX_RECEIVERS at most."""
    return [_route(position) for position in world.store.read_line(_line(run_key), limit=MAX_RECEIVERS + 1)]


def waits_in(state: State) -> dict[str, tuple[str, int]]:
    """The waits under further keys that are open: by instance, the key and the event with which the wait began."""
    found: dict[str, tuple[str, int]] = {}
    for waiting in state.receivers.values():
        for instance in waiting.values():
            details = instance.wait.details if instance.wait is not None else {}
            if isinstance(key := details.get("key"), str):
                found[instance.id] = key, instance.last_sequence
    return found


def _line(run_key: RunKey) -> str:
    return f"{_ROUTES}{run_key.digest}"


def _position(route: Route) -> str:
    return f"{route.run_id}{_BETWEEN}{route.wait}"


def _route(position: str) -> Route:
    run_id, _, wait = position.rpartition(_BETWEEN)
    return Route(run_id, int(wait))
