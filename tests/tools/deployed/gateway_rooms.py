"""A WebSocket API as `Connections` sees one, without a network: connections with what they received, and events as API Gateway
sends them. Several processes can serve one gateway, each with its own memory, over one store."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from memory_connections import MemoryDraftConnections

from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.drafts import MemoryDrafts
from stepless.adapters.memory.queue import MemoryQueue
from stepless.adapters.memory.secrets import MemorySecrets
from stepless.adapters.memory.store import MemoryStore
from stepless.adapters.memory.timers import MemoryTimers
from stepless.drafts.operations.verbs import DraftVerbs
from stepless.drafts.sessions.bounds import ON_AWS, Bounds
from stepless.drafts.sessions.connections import Connections
from stepless.drafts.sessions.fan_out import Fan
from stepless.nodes import KIND_CODE, KINDS
from stepless.ports import Draft, DraftConnections, Op
from stepless.runtime.access.api_keys import ApiKeys
from stepless.runtime.access.current_roles import Standing
from stepless.runtime.access.roles import Role
from stepless.runtime.access.tickets import Tickets
from stepless.runtime.access.tokens import Key, Signer
from stepless.runtime.versions import Versions
from stepless.runtime.world import World

EDITS = frozenset({Role.READ, Role.EDIT})


@dataclass
class Gateway:
    """The port `Wire`. `open` are the connections that are there, each with what it received."""

    open: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    closed: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    fault: Exception | None = None
    _lock: Lock = field(default_factory=Lock)

    def send(self, connection_id: str, message: bytes) -> bool:
        with self._lock:
            if self.fault is not None:
                raise self.fault
            if connection_id not in self.open:
                return False
            assert len(message) <= 30_000
            self.open[connection_id].append(json.loads(message))
            return True

    def close(self, connection_id: str) -> None:
        with self._lock:
            if connection_id in self.open:
                self.closed[connection_id] = self.open.pop(connection_id)


class TroubledDrafts(MemoryDrafts):
    """While it has a `fault`, nothing is appended."""

    fault: Exception | None = None

    def append_op(self, draft: Draft, op: Op) -> bool:
        if self.fault is not None:
            raise self.fault
        return super().append_op(draft, op)


class Deployment:
    """One store, one gateway, and processes that serve them."""

    def __init__(self, bounds: Bounds = ON_AWS, rooms: DraftConnections | None = None) -> None:
        self.clock = SettableClock(1_700_000_000_000)
        self.store = MemoryStore()
        self.drafts = TroubledDrafts()
        self.world = World(
            self.store, MemoryQueue(self.clock), MemoryTimers(), MemoryBlobs(), self.clock, MemorySecrets({}), KINDS,
            Versions(self.store, KINDS), KIND_CODE, drafts=self.drafts,
        )  # fmt: skip
        self.rooms = rooms or MemoryDraftConnections()
        self.gateway = Gateway()
        self.bounds = bounds
        self.keys = ApiKeys(self.store, self.clock)
        self.tickets = Tickets(Signer([Key("k", b"1" * 32)]), self.store, self.clock)
        self.configured: list[str] = []
        self._numbers = 0
        self.verbs = DraftVerbs(self.world)
        self.verbs.open_empty("w", "ada")

    def process(self) -> Process:
        standing = Standing(ApiKeys(self.store, self.clock), self.configured, self.clock)
        fan = Fan(self.rooms, self.gateway, standing, self.clock, self.bounds)
        verbs = DraftVerbs(self.world)
        return Process(self, fan, verbs, Connections(verbs, self.rooms, fan, self.tickets, self.clock))

    def new_id(self) -> str:
        self._numbers += 1
        return f"conn-{self._numbers}="


@dataclass
class Process:
    """A warm environment of the function `socket`."""

    deployment: Deployment
    fan: Fan
    verbs: DraftVerbs
    connections: Connections

    def connect(self, ticket: str) -> tuple[int, str]:
        connection_id = self.deployment.new_id()
        status = self.connections.serve(event("CONNECT", connection_id, queryStringParameters={"ticket": ticket}))
        if status == 200:
            self.deployment.gateway.open[connection_id] = []
        return status, connection_id

    def enter(
        self, client: str, person: str = "ada", roles: frozenset[Role] = EDITS, key_id: str = "", until_ms: int | None = None,
        **hello: Any,
    ) -> Seat:
        ticket = self.deployment.tickets.issue("w", person, roles, key_id, until_ms)
        status, connection_id = self.connect(ticket)
        assert status == 200
        seat = Seat(self, connection_id)
        seat.say("hello", **{"client": client, "after": 0, "epoch": 1, **hello})
        return seat


@dataclass
class Seat:
    """A client behind the gateway. `by` names another process that handles the message."""

    process: Process
    id: str

    @property
    def heard(self) -> list[dict[str, Any]]:
        gateway = self.process.deployment.gateway
        return gateway.open.get(self.id) or gateway.closed.get(self.id) or []

    @property
    def is_open(self) -> bool:
        return self.id in self.process.deployment.gateway.open

    def of(self, type_: str) -> list[dict[str, Any]]:
        return [message for message in self.heard if message["t"] == type_]

    def say(self, type_: str, by: Process | None = None, **message: Any) -> None:
        self.say_text(json.dumps({"v": 1, "t": type_, **message}), by)

    def say_text(self, text: str, by: Process | None = None, **more: Any) -> None:
        (by or self.process).connections.serve(event("MESSAGE", self.id, body=text, **more))

    def edit(self, n: int, name: str, base: int = 0, by: Process | None = None, **more: Any) -> None:
        operations = [{"writes": [["set", "doc", ["name"], name]]}]
        self.say("op", by, **{"n": n, "tag": f"{self.id}-{n}", "base": base, "gestures": operations, **more})

    def leave(self, by: Process | None = None) -> None:
        self.process.deployment.gateway.open.pop(self.id, None)
        (by or self.process).connections.serve(event("DISCONNECT", self.id))


def event(kind: str, connection_id: str, **fields: Any) -> dict[str, Any]:
    """As API Gateway sends it."""
    routes = {"CONNECT": "$connect", "DISCONNECT": "$disconnect", "MESSAGE": "$default"}
    context = {"eventType": kind, "routeKey": routes[kind], "connectionId": connection_id, "stage": "live", "apiId": "a1b2c3d4"}
    return {"requestContext": context, "body": None, "isBase64Encoded": False, **fields}
