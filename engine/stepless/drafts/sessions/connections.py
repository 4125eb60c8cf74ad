"""Serves the session of a draft behind a gateway that holds the sockets: each message is an invocation of its own, in any
process. Loads no web framework. docs/understand/drafts.md#draft-sessions has the messages; a process that keeps its sockets has
`seat`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from stepless.drafts.log.entries import Answer, LogEntry
from stepless.drafts.operations.verbs import DraftVerbs
from stepless.drafts.sessions import messages
from stepless.drafts.sessions.admission import Intake, check_entry, forbidden, not_committed
from stepless.drafts.sessions.closing import DONE, OVER, REPLACED, TOO_MUCH, Closing
from stepless.drafts.sessions.fan_out import Fan
from stepless.drafts.sessions.messages import Person
from stepless.drafts.sessions.pace import Pace
from stepless.drafts.sessions.upkeep import attempted
from stepless.errors import Forbidden
from stepless.limits import CONNECTION_LIFE_MS, MAX_BEHIND_ITEMS, MAX_PACED_CLIENTS, MAX_PULLS_PER_S
from stepless.ports import Clock, Connection, Draft, DraftConnections
from stepless.runtime.access.roles import Role
from stepless.runtime.access.tickets import Tickets

OK: Final = 200
REFUSED: Final = 401


@dataclass(slots=True)
class _Known:
    """What this process remembers of a connection in a session: who it is does not change."""

    connection: Connection
    presence: Pace
    pulls: Pace


class Connections:
    """For one invocation at a time."""

    def __init__(self, drafts: DraftVerbs, registry: DraftConnections, fan: Fan, tickets: Tickets, clock: Clock) -> None:
        self._drafts = drafts
        self._registry = registry
        self._fan = fan
        self._tickets = tickets
        self._clock = clock
        self._intake = Intake(fan.bounds)
        self._known: OrderedDict[str, _Known] = OrderedDict()

    def serve(self, event: Mapping[str, Any]) -> int:
        """Handles an event of API Gateway: a connection came, said something or left. Returns the status of the answer, which
        decides whether a connection opens."""
        context = event["requestContext"]
        connection_id = str(context["connectionId"])
        match context["eventType"]:
            case "CONNECT":
                return self.connect(connection_id, (event.get("queryStringParameters") or {}).get("ticket", ""))
            case "DISCONNECT":
                self.disconnect(connection_id)
            case _:
                self.hear(connection_id, None if event.get("isBase64Encoded") else event.get("body") or "")
        return OK

    def connect(self, connection_id: str, ticket: str) -> int:
        """Spends a ticket. May raise `StoreUnavailable`."""
        try:
            visitor = self._tickets.spend(ticket)
        except Forbidden:
            return REFUSED
        now_ms = self._clock.now_ms()
        self._registry.enter(
            Connection(
                connection_id, visitor.workflow_id, visitor.person, tuple(sorted(visitor.roles)), now_ms + CONNECTION_LIFE_MS,
                visitor.key_id, visitor.until_ms,
            )
        )  # fmt: skip
        return OK

    def hear(self, connection_id: str, text: str | None) -> None:
        """Handles a message. Closes the connection for one that is malformed, and for a person who may not be here any more."""
        known = self._known.get(connection_id)
        connection = known.connection if known is not None else self._registry.find(connection_id)
        if connection is None:
            self._fan.shut(connection_id, Closing(DONE, "this connection has ended: connect again"))
            return
        try:
            message = messages.read(text)
            roles = self._fan.check(connection)
            if not connection.client:
                self._enter(connection, message, roles)
            else:
                self._take(self._seen(connection), message, roles)
        except Exception as error:
            self._known.pop(connection_id, None)
            self._fan.failed(connection, error)

    def disconnect(self, connection_id: str) -> None:
        """Removes a connection. After the last one of a session, checks what is not checked yet."""
        self._known.pop(connection_id, None)
        connection = self._registry.find(connection_id)
        if connection is not None and self._fan.remove([connection]):
            attempted(connection.workflow_id, partial(self._drafts.checkpoint, connection.workflow_id))

    # -- entering ----------------------------------------------------------------------------------------------------

    def _enter(self, connection: Connection, message: Mapping[str, Any], roles: frozenset[Role]) -> None:
        """Joins before it reads the log: an entry that is not in what was read is passed on to this member too."""
        hello = messages.read_hello(message)
        members = self._fan.members(connection.workflow_id)
        former = [member for member in members if member.client == hello.client]
        others = [member for member in members if member.client != hello.client]
        check_entry(hello, connection.person, former[0].person if former else None, len(members), self._fan.bounds)
        joined = connection._replace(client=hello.client, epoch=hello.epoch, seen_ms=self._clock.now_ms())
        if not self._fan.join(joined):
            return  # it has left meanwhile
        entries, head, current = self._drafts.entries(Draft(joined.workflow_id, joined.epoch), hello.after, MAX_BEHIND_ITEMS)
        if not current:
            raise Closing(REPLACED, OVER)
        people = [Person(member.client, member.person) for member in others]
        rates = self._fan.bounds.rates(len(others) + 1)
        self._fan.say(joined.id, messages.welcome(hello, head, joined.person, Role.EDIT in roles, people, rates))
        for page in messages.entries(entries, head):
            self._fan.say(joined.id, page)
        self._seen(joined)
        for member in former:
            self._fan.close(member, Closing(DONE, "this client has connected again"))
        if not former:
            self._fan.send(others, messages.who(joined.client, joined.person, True, rates))

    def _seen(self, connection: Connection) -> _Known:
        """What is known of a member, who was heard now. It is written twice within the time after which silence ends a
        connection."""
        now_ms = self._clock.now_ms()
        known = self._known.get(connection.id)
        if known is None:
            known = _Known(connection, Pace(self._fan.bounds.presence_per_s), Pace(MAX_PULLS_PER_S))
            self._known[connection.id] = known
            if len(self._known) > MAX_PACED_CLIENTS:
                self._known.popitem(last=False)
        if now_ms - known.connection.seen_ms > self._fan.bounds.silent_ms / 2:
            known.connection = known.connection._replace(seen_ms=now_ms)
            self._registry.touch(known.connection, now_ms)
        return known

    # -- what the client says ----------------------------------------------------------------------------------------

    def _take(self, known: _Known, message: Mapping[str, Any], roles: frozenset[Role]) -> None:
        connection = known.connection
        match message.get("t"):
            case "op":
                self._edit(connection, message, roles)
            case "pull":
                self._pull(known, messages.count(message.get("after")) or 0)
            case "at":
                if not known.presence.wait_ms() and (seen := messages.read_presence(message)) is not None:
                    members = self._fan.members(connection.workflow_id, recent=True)
                    others = [member for member in members if member.client != connection.client]
                    self._fan.send(others, messages.at(connection.client, seen))
            case "ping":
                self._fan.say(connection.id, messages.said("pong"))
            case _:
                raise messages.unknown(message)

    def _pull(self, known: _Known, after: int) -> None:
        if known.pulls.wait_ms():
            raise Closing(TOO_MUCH, "the log is asked for too often: read it over HTTP")
        draft = Draft(known.connection.workflow_id, known.connection.epoch)
        entries, head, current = self._drafts.entries(draft, after, MAX_BEHIND_ITEMS)
        if not current:
            raise Closing(REPLACED, OVER)
        for page in messages.entries(entries, head):
            self._fan.say(known.connection.id, page)

    def _edit(self, connection: Connection, message: Mapping[str, Any], roles: frozenset[Role]) -> None:
        draft, request = Draft(connection.workflow_id, connection.epoch), {**message, "client": connection.client}
        made: LogEntry | Answer | None = forbidden(roles) or self._intake.too_soon(draft, connection.person, request)
        if made is None:
            try:
                made = self._drafts.submit(draft, request, connection.person)
            except Exception as error:
                made = not_committed(error)
        if isinstance(made, LogEntry):
            self._fan.pass_on(draft, made)
            attempted(draft.workflow_id, partial(self._drafts.after, draft, made.seq))
            return
        self._fan.say(connection.id, messages.answer(message, made))
        if made.code == "replaced":
            self._fan.pass_on(draft, None)
