"""Registers the schedules of published workflows with an external calendar, if one fires them."""

from __future__ import annotations

from stepless.errors import SteplessError, StoreUnavailable, StoreUnusable, TransientError
from stepless.limits import SCHEDULING_TRIES
from stepless.model.graph import Graph, Node
from stepless.model.texts.durations import parse_duration_ms
from stepless.ports import Rhythm, StoredVersion
from stepless.runtime.versions import document_of
from stepless.runtime.world import World


def rhythms_of(graph: Graph) -> tuple[Rhythm, ...]:
    """Returns the rhythms of the schedules in a workflow's document."""
    return tuple(rhythm_of(node) for node in graph.root.nodes if node.kind.name == "schedule" and node.enabled)


def rhythm_of(node: Node) -> Rhythm:
    """Returns the rhythm of one `schedule` node."""
    literals = node.config.literals
    zone = str(literals.get("timezone") or "UTC")
    if literals.get("rate"):
        return Rhythm(node.id, rate_ms=parse_duration_ms(literals["rate"]), timezone=zone)
    return Rhythm(node.id, cron=str(literals["cron"]), timezone=zone)


def keep_schedules(world: World, workflow_id: str, published: Graph) -> None:
    """Sets the calendar to the schedules of the newest version, also under concurrent publications. Does nothing if this process
    fires schedules itself. `published` is the graph of the version that this process has just published, which is not compiled
    again.

    Raises `StoreUnavailable` or `StoreUnusable` (schedules_not_kept), and `ConfigError` (schedule_refused). The version is
    published even then; to publish it again sets the missing schedules.
    """
    if world.calendar is None:
        return
    kept = None
    for _ in range(SCHEDULING_TRIES):
        newest = world.store.get_version(workflow_id)
        if newest is None or newest.hash == kept:
            return
        graph = published if newest.hash == published.version else _compiled(world, newest)
        try:
            world.calendar.keep(workflow_id, rhythms_of(graph))
        except (StoreUnavailable, StoreUnusable) as error:
            raise _not_kept(error, newest.number) from error
        kept = newest.hash
    message = "other processes keep publishing the workflow"
    raise StoreUnavailable(message, code="schedules_not_kept", place=f"workflow {workflow_id}", mend="publish it again")


def _compiled(world: World, version: StoredVersion) -> Graph:
    from stepless.compile.compiler import compile_document  # imported late: it loads all checks

    return compile_document(document_of(version), world.kinds)


def _not_kept(error: SteplessError, number: int) -> SteplessError:
    message = f"version {number} is published, but not all of its schedules are set: {error.message}"
    family = StoreUnavailable if isinstance(error, TransientError) else StoreUnusable
    mend = "publish it again" if isinstance(error, TransientError) else f"{error.mend}, then publish it again"
    return family(message, code="schedules_not_kept", place=error.place, mend=mend)
