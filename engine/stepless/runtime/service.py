"""The verbs of the engine, for every door: HTTP, command line, Lambda, Python."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from stepless.core.history.trace import NodeRecord
from stepless.limits import DEFAULT_PAGE_ITEMS, PAGE_EVENTS
from stepless.model.json import JSON
from stepless.ports import Page, RunFilter, RunHead, StoredVersion
from stepless.runtime.access.tokens import Signer
from stepless.runtime.triggers import delivering as triggers
from stepless.runtime.triggers import redelivering, webhooks
from stepless.runtime.verbs import (
    answering,
    bulk,
    costing,
    holding,
    inspecting,
    publishing,
    replaying,
    reruns,
    searching,
    starting,
    time_skip,
)
from stepless.runtime.versions import Versions
from stepless.runtime.world import World

if TYPE_CHECKING:  # a run publishes nothing, and does without pydantic
    from stepless.model.signature import Callables


class Service:
    """Each verb is one call and says what it raises. None of them waits for a run."""

    def __init__(self, world: World, versions: Versions, signer: Signer) -> None:
        self.world = world
        self.versions = versions
        self.signer = signer

    # -- workflows --------------------------------------------------------------------------------------------------

    def publish(self, document: Mapping[str, JSON], *, functions: Callables | None = None) -> publishing.Published:
        """See `publishing.publish`."""
        return publishing.publish(self.world, document, functions=functions)

    def workflows(self, *, limit: int = 100, cursor: str | None = None) -> Page[StoredVersion]:
        """The newest version of every workflow, by id."""
        return self.world.store.list_workflows(limit=limit, cursor=cursor)

    def workflow(self, workflow_id: str, number: int | None = None, *, hash: str | None = None) -> StoredVersion | None:
        """A version by number or hash, the newest without either; None when there is none."""
        return self.world.store.get_version(workflow_id, number, hash=hash)

    # -- starting ---------------------------------------------------------------------------------------------------

    def start(
        self,
        workflow_id: str,
        inputs: JSON,
        *,
        key: str | None = None,
        by_inputs: bool = False,
        entry: Sequence[str] | None = None,
        anywhere: bool = False,
        meta: Mapping[str, JSON] | None = None,
    ) -> starting.Started:
        """See `starting.start`."""
        return starting.start(
            self.world, self.versions, workflow_id, inputs, key=key, by_inputs=by_inputs, entry=entry, anywhere=anywhere,
            meta=meta,
        )  # fmt: skip

    def trigger(self, request: webhooks.HookRequest) -> webhooks.Hooked:
        """See `webhooks.trigger`."""
        return webhooks.trigger(self.world, self.versions, request)

    def deliver(self, payload: Mapping[str, JSON]) -> Sequence[starting.Started]:
        """See `triggers.deliver`."""
        return triggers.deliver(self.world, self.versions, payload)

    def rerun(
        self, run_id: str, *, node: str | None = None, inputs: JSON = None, edited: bool = False, anywhere: bool = False
    ) -> starting.Started:
        """See `reruns.rerun`."""
        return reruns.rerun(self.world, self.versions, run_id, node=node, inputs=inputs, edited=edited, anywhere=anywhere)

    def redeliver(self, run_id: str) -> starting.Started:
        """See `redelivering.redeliver`."""
        return redelivering.redeliver(self.world, self.versions, run_id)

    def skip(self, run_id: str) -> time_skip.TimeSkip:
        """See `time_skip.skip_time`. Only where runs have a time of their own: in one process over one file."""
        return time_skip.skip_time(self.world, self.versions, run_id)

    # -- people -----------------------------------------------------------------------------------------------------

    def look(self, token: str) -> answering.PauseView:
        """See `answering.look`."""
        return answering.look(self.world, self.versions, self.signer, token)

    def answer(self, token: str, handle: str | None, value: JSON, by: str | None = None) -> Mapping[str, JSON]:
        """See `answering.answer`."""
        return answering.answer(self.world, self.versions, self.signer, token, handle, value, by)

    def answer_pause(self, run_id: str, pause: str, handle: str | None, value: JSON, by: str | None = None) -> Mapping[str, JSON]:
        """See `answering.decide_pause`."""
        return answering.decide_pause(self.world, self.versions, run_id, pause, handle, value, by)

    def cancel(self, run_id: str, *, by: str | None = None, reason: str | None = None) -> None:
        """See `answering.cancel`."""
        answering.cancel(self.world, run_id, by, reason)

    def hold(self, run_id: str, *, by: str | None = None, reason: str | None = None) -> None:
        """See `holding.hold`."""
        holding.hold(self.world, self.versions, run_id, by, reason)

    def release(self, run_id: str, *, by: str | None = None, reason: str | None = None) -> None:
        """See `holding.release`."""
        holding.release(self.world, self.versions, run_id, by, reason)

    pause, unpause = hold, release  # their former names

    # -- inspecting -------------------------------------------------------------------------------------------------

    def run(self, run_id: str) -> inspecting.RunView:
        """See `inspecting.view`."""
        return inspecting.view(self.world, self.versions, self.signer, run_id)

    def glance(self, run_id: str) -> inspecting.RunView:
        """See `inspecting.glance`."""
        return inspecting.glance(self.world, self.versions, self.signer, run_id)

    def nodes(self, run_id: str, *, after: int = 0, limit: int = DEFAULT_PAGE_ITEMS) -> tuple[Sequence[NodeRecord], bool]:
        """See `inspecting.nodes`."""
        return inspecting.nodes(self.world, self.versions, run_id, after=after, limit=limit)

    def value(self, run_id: str, hash: str) -> bytes:
        """See `values.find`."""
        from stepless.runtime.verbs import values

        return values.find(self.world, self.versions, self.signer, run_id, hash)

    def cost(self, run_id: str) -> Mapping[str, JSON]:
        """See `costing.cost`."""
        return costing.cost(self.world, self.versions, run_id)

    def runs(self, filter: RunFilter, *, limit: int = 100, cursor: str | None = None) -> Page[RunHead]:
        """Headers, newest first."""
        return self.world.store.list_runs(filter, limit=limit, cursor=cursor)

    def search(
        self, filter: RunFilter, *, keywords: Collection[str] = (), limit: int = 100, cursor: str | None = None
    ) -> Page[RunHead]:
        """See `searching.search`."""
        return searching.search(self.world, filter, keywords=keywords, limit=limit, cursor=cursor)

    def each_run(
        self,
        verb: Callable[[RunHead], str],
        filter: RunFilter,
        *,
        keywords: Collection[str] = (),
        limit: int = 100,
        cursor: str | None = None,
    ) -> bulk.Swept:
        """See `bulk.each_run`."""
        return bulk.each_run(self.world, verb, filter, keywords=keywords, limit=limit, cursor=cursor)

    def events(self, run_id: str, *, after: int = 0, limit: int = PAGE_EVENTS) -> inspecting.EventPage:
        """See `inspecting.events`."""
        return inspecting.events(self.world, self.versions, run_id, after=after, limit=limit)

    def replay(self, run_id: str) -> replaying.Replay:
        """See `replaying.Replay`."""
        return replaying.Replay(self.world, self.versions, run_id)
