"""Does for one session what messages need in addition to the inbox: the keys under which the run waits, kept messages, and what
is left when the run ends.

A run whose nodes wait under further keys has a route for each. The session puts a route after the commit of the wait, and looks
for kept messages after the route (`runtime/messages/kept.py` says why in this order). A process that dies between the commit and
the route leaves a lease that it did not release. The session that finds such a lease therefore repeats both. A route that nobody
removed is no harm (`runtime/messages/routes.py`).

A run with a key that ends looks into its inbox once more, after its header says that it has ended and before its lease is
released. A message there that asks for a start goes to the next run of the key (`runtime/verbs/changes/sending.py`). A process
that dies in between leaves the run due, and the session that the sweep begins does the same again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from stepless.core.events import NODE_ENDS, Event, EventType
from stepless.core.state import MESSAGE, State
from stepless.errors import Conflict
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.model.stored.draft_run import DRAFT
from stepless.ports import Message, RunHead, Signal
from stepless.runtime import inbox
from stepless.runtime.header_notes import notes_in
from stepless.runtime.messages import kept
from stepless.runtime.messages.bodies import with_data
from stepless.runtime.messages.keys import AFTER, BEGINS, KEY, RunKey, is_live, run_key_of
from stepless.runtime.messages.routes import Route, put_route, remove_route, waits_in
from stepless.runtime.messages.starts import cancel_former
from stepless.runtime.world import World

_log = logging.getLogger(__name__)
_AFTER, _BEGINS = f'"{AFTER}"'.encode(), f'"{BEGINS}"'.encode()
_OVER = NODE_ENDS | {EventType.NODE_RESUMED}


class Receiving:
    """The keys of one run. Its methods call the store, and may be repeated."""

    def __init__(self, world: World, head: RunHead) -> None:
        self._world, self._head = world, head
        self._run_key = run_key_of(head)
        self._answers = not head.version.startswith(DRAFT)  # to further keys
        self._routed: dict[str, tuple[str, int]] = {}  # the waits under further keys, as `waits_in` has them

    @property
    def has_key(self) -> bool:
        return self._run_key is not None

    def begin(self) -> None:
        """Takes the messages that are kept for the key of a run that begins, or were when the run was created: it answers to its
        key since then, and may begin much later."""
        if self._run_key is not None:
            kept.take_kept(self._world, self._run_key[0], self._head.run_id, self._head.created_ms)

    def open(self, state: State, *, repeats: bool) -> None:
        """Recalls under which keys the run waits. `repeats`: puts their routes again, because the process that began to wait may
        have died before it did."""
        if not self._answers:
            return
        self._routed = waits_in(state)
        if repeats:
            for key, wait in self._routed.values():
                put_route(self._world, self._run_key_of(key), Route(self._head.run_id, wait))
            for key in dict.fromkeys(key for key, _ in self._routed.values()):
                self._take_kept(key)

    def committed(self, events: Iterable[Event]) -> bool:
        """Puts and removes the routes that follow from events. Whether messages may be in the inbox now."""
        put = False
        for event in events:
            if event.type is EventType.NODE_WAITING and event.data["reason"] == MESSAGE:
                key = event.data["details"].get("key")
                if key is not None and self._answers:
                    self._routed[event.instance] = key, event.sequence
                    put_route(self._world, self._run_key_of(key), Route(self._head.run_id, event.sequence))
                    self._take_kept(key)
                    put = True
            elif event.instance in self._routed and event.type in _OVER:
                key, wait = self._routed.pop(event.instance)
                remove_route(self._world, self._run_key_of(key), Route(self._head.run_id, wait))
        return put

    def finish(self) -> None:
        """Hands on what an ended run with a key leaves: messages that ask for a start, and its place."""
        if self._run_key is None:
            return
        run_key, number = self._run_key
        for signal in self._world.store.read_inbox(self._head.run_id):
            if signal.kind == inbox.MESSAGE:
                self._hand_on(run_key, signal)
        if run_key.number(self._world) > number:
            self._world.queue.send(Message(run_key.run_id(number + 1), "start"))

    def _hand_on(self, run_key: RunKey, signal: Signal) -> None:
        from stepless.runtime.verbs.changes.sending import deliver_to_one  # imported late: few runs leave a message

        message = with_data(self._world, signal)
        if "start" not in inbox.body_of(message):
            return
        try:
            deliver_to_one(self._world, run_key, message, accepted=True)
        except Conflict as error:
            if error.code != "message_too_late":
                raise
            _log.error("the message %s that run %s leaves unread starts no run: %s", signal.identity, self._head.run_id, error)

    def _take_kept(self, key: str) -> None:
        kept.take_kept(self._world, self._run_key_of(key), self._head.run_id)

    def _run_key_of(self, key: str) -> RunKey:
        return RunKey(self._head.workflow_id, key)


def receiving_of(world: World, head: RunHead, graph: Graph, meta: Mapping[str, JSON]) -> Receiving | None:
    """Returns the part of a session that messages and keys need; None for a run without either."""
    return Receiving(world, head) if graph.messages or graph.key is not None or KEY in meta else None


def waits_to_begin(world: World, head: RunHead, now_ms: int) -> bool:
    """Returns whether a run that was created must not begin yet: its instant has not come, or the run that it replaces has not
    ended. A run that is to be cancelled does not wait for its instant, but for the other run: its own successor begins after it,
    and takes that for the end of all before it."""
    if _AFTER not in head.meta and _BEGINS not in head.meta:
        return False  # as nearly all runs: their notes need not be decoded
    notes: dict[str, JSON] = notes_in(head)
    begins_ms, former = notes.get(BEGINS), notes.get(AFTER)
    if isinstance(former, str):
        before = world.store.get_run(former)
        if before is not None and is_live(before):
            cancel_former(world, former, head.run_id)
            return True
    early = isinstance(begins_ms, int) and now_ms < begins_ms
    return early and world.store.get_signal(head.run_id, inbox.CANCEL, "run") is None
