"""Passes messages on to people whose sockets a gateway holds. Loads no web framework.

People who are gone, silent or without a role any more are removed on the way. Passing on is a hint: what does not arrive, a
client finds when it reads the log.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Final

from stepless.drafts.log.entries import LogEntry
from stepless.drafts.sessions import messages
from stepless.drafts.sessions.admission import check_standing
from stepless.drafts.sessions.bounds import ON_AWS, Bounds
from stepless.drafts.sessions.closing import DONE, OVER, REPLACED, Closing, closing_of
from stepless.errors import SteplessError
from stepless.limits import MEMBERS_FRESH_MS, SOCKET_THREADS
from stepless.ports import Clock, Connection, Draft, DraftConnections, Wire
from stepless.runtime.access.current_roles import Standing
from stepless.runtime.access.roles import Role
from stepless.runtime.access.tickets import Visitor
from stepless.runtime.draft_runs import StartedRun

SILENCE: Final = Closing(DONE, "nothing was heard for a while")

_log = logging.getLogger(__name__)


def visitor_of(connection: Connection) -> Visitor:
    roles = frozenset(map(Role, connection.roles))
    return Visitor(connection.workflow_id, connection.person, roles, connection.key_id, connection.until_ms)


class Fan:
    """Safe to use from several threads. Methods raise nothing for a connection that cannot be reached."""

    def __init__(self, registry: DraftConnections, wire: Wire, standing: Standing, clock: Clock, bounds: Bounds = ON_AWS) -> None:
        self._registry = registry
        self._wire = wire
        self._standing = standing
        self._clock = clock
        self.bounds = bounds
        self._recent: dict[str, tuple[int, Sequence[Connection]]] = {}

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        """Made with the first message: threads do not survive a snapshot."""
        return ThreadPoolExecutor(SOCKET_THREADS)

    def pass_on(self, draft: Draft, entry: LogEntry | StartedRun | None) -> None:
        """Sends an entry, or a test run, to everyone in the session of its epoch. None: the epoch has ended, and their sockets
        are closed."""
        try:
            members = [member for member in self.members(draft.workflow_id) if member.epoch == draft.epoch]
            if entry is not None:
                self.send(members, messages.started(entry) if isinstance(entry, StartedRun) else messages.entry(entry))
            else:
                list(self._threads.map(lambda member: self.shut(member.id, Closing(REPLACED, OVER)), members))
                for member in members:
                    self._registry.leave(member)
        except SteplessError as error:
            _log.warning("an item of the draft of %s was not passed on: %s", draft.workflow_id, error)

    def members(self, workflow_id: str, *, recent: bool = False) -> Sequence[Connection]:
        """Returns the connections of a session that may stay. `recent`: as of at most MEMBERS_FRESH_MS ago, for messages that
        newer ones follow."""
        now_ms = self._clock.now_ms()
        looked_ms, known = self._recent.get(workflow_id, (0, ()))
        if recent and 0 <= now_ms - looked_ms < MEMBERS_FRESH_MS:
            return known
        checked = [(member, self._over(member, now_ms)) for member in self._registry.members(workflow_id)]
        over = [(member, closing) for member, closing in checked if closing is not None]
        list(self._threads.map(lambda each: self.shut(each[0].id, each[1]), over))
        self.remove([member for member, _ in over])
        members = [member for member, closing in checked if closing is None]
        self._recent = {workflow_id: (now_ms, members)}
        return members

    def join(self, connection: Connection) -> bool:
        """See `DraftConnections.join`."""
        self._recent = {}
        return self._registry.join(connection)

    def send(self, members: Sequence[Connection], message: bytes) -> None:
        """Sends a message to each, SOCKET_THREADS at once, and removes those who are gone."""
        arrived = self._threads.map(lambda member: self.say(member.id, message), members)
        self.remove([member for member, is_there in zip(members, list(arrived), strict=True) if not is_there])

    def say(self, connection_id: str, message: bytes) -> bool:
        """Sends one message. False if the connection is gone; True also where it could not be sent."""
        try:
            return self._wire.send(connection_id, message)
        except SteplessError as error:
            _log.warning("a message was not sent: %s", error)
            return True

    def close(self, member: Connection, closing: Closing) -> None:
        """Says why, closes the connection and removes it from its session."""
        self.shut(member.id, closing)
        self.remove([member])

    def shut(self, connection_id: str, closing: Closing) -> None:
        """Says why, and closes the connection."""
        self.say(connection_id, messages.closing(closing))
        try:
            self._wire.close(connection_id)
        except SteplessError as error:
            _log.warning("a connection was not closed: %s", error)

    def remove(self, connections: Sequence[Connection]) -> bool:
        """Removes connections of one session, and sends the others who has left; removes those too who turn out to be gone. True
        if that leaves the session empty."""
        gone = [connection for connection in connections if self._registry.leave(connection)]
        if not gone:
            return False
        self._recent = {}
        left = self._registry.members(gone[0].workflow_id)
        while gone and left:
            here, rates = {member.client for member in left}, self.bounds.rates(len(left))
            news = [messages.who(each.client, each.person, False, rates) for each in gone if each.client not in here]
            arrived = self._threads.map(lambda member, news=news: all(self.say(member.id, who) for who in news), left)
            reached = list(zip(left, list(arrived), strict=True))
            left = [member for member, is_there in reached if is_there]
            gone = [member for member, is_there in reached if not is_there and self._registry.leave(member)]
        return not left

    def _over(self, member: Connection, now_ms: int) -> Closing | None:
        if now_ms - member.seen_ms > self.bounds.silent_ms:
            return SILENCE
        try:
            self.check(member)
        except Closing as closing:
            return closing
        return None

    def check(self, member: Connection) -> frozenset[Role]:
        """Returns the roles that a person has now. Raises `Closing`."""
        visitor = visitor_of(member)
        roles = self._standing.roles(visitor)
        check_standing(visitor, roles, self._clock.now_ms())
        return roles

    def failed(self, member: Connection, error: Exception) -> None:
        """Closes a connection because of what its client said, or because of an error here, which is logged."""
        self.close(member, closing_of(error))
