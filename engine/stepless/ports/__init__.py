"""Defines the ports of the engine: the Protocols that adapters implement, with their guarantees. Adapters decide nothing about a
run.

Adapters see no engine types, only text keys, integers and encoded bytes. All instants are milliseconds since 1970 UTC. Every
method may raise `StoreUnavailable` (try again); otherwise it raises only what its docstring names. Methods are synchronous and
thread-safe. `Models`, `Sandbox`, `Aws`, `Http` and `Announcer` are the exceptions: their calls take seconds, so their methods are
coroutines. The engine cancels a call that it no longer waits for, and these methods raise only `NodeFailure`. The methods of
`Telemetry` are coroutines too.
"""

from __future__ import annotations

from stepless.model.effects.call import Call
from stepless.model.effects.exchange import Http, HttpAnswer, HttpRequest
from stepless.ports.draft_connections import Connection, DraftConnections, Wire
from stepless.ports.drafts import ENTITY_KINDS, Draft, DraftHead, Drafts, Entity, Op, StateAt
from stepless.ports.hints import Calendar, Firing, Inbound, Message, Queue, Rhythm, Timers
from stepless.ports.objects import ObjectChanged, ObjectRefused, Objects, Seen
from stepless.ports.outward import Announcement, Announcer
from stepless.ports.run_database import Inspection, OpenStore, Record, RunDatabase
from stepless.ports.store import (
    ERASED,
    GRANTED,
    MESSAGE,
    RECEIVER,
    SHARD,
    SUCCESSOR,
    AuditEntry,
    Batch,
    Blobs,
    Lease,
    Page,
    PublishedVersion,
    RunFilter,
    RunHead,
    Signal,
    Store,
    StoredVersion,
    Together,
    Version,
)
from stepless.ports.world import Aws, Clock, Meter, Misfit, Models, Moderator, Sandbox, Secrets, Tallies, Telemetry

__all__ = [
    "ENTITY_KINDS",
    "ERASED",
    "GRANTED",
    "MESSAGE",
    "RECEIVER",
    "SHARD",
    "SUCCESSOR",
    "Announcement",
    "Announcer",
    "AuditEntry",
    "Aws",
    "Batch",
    "Blobs",
    "Calendar",
    "Call",
    "Clock",
    "Connection",
    "Draft",
    "DraftHead",
    "Drafts",
    "Entity",
    "Firing",
    "Http",
    "HttpAnswer",
    "HttpRequest",
    "Inbound",
    "Lease",
    "Message",
    "Meter",
    "Misfit",
    "Models",
    "Moderator",
    "ObjectChanged",
    "ObjectRefused",
    "Objects",
    "Op",
    "Inspection",
    "OpenStore",
    "Record",
    "Page",
    "PublishedVersion",
    "Queue",
    "Rhythm",
    "DraftConnections",
    "RunFilter",
    "RunHead",
    "Sandbox",
    "Secrets",
    "Seen",
    "Signal",
    "StateAt",
    "Store",
    "RunDatabase",
    "StoredVersion",
    "Tallies",
    "Telemetry",
    "Timers",
    "Together",
    "Version",
    "Wire",
]
