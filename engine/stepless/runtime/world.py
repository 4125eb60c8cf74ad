"""Holds everything that the shell needs from outside in one value: the ports and the tables of node kinds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from stepless.core.state import Instance, State, Wait
from stepless.limits import LINGER_MS
from stepless.model.effects.exchange import NoHttp
from stepless.model.kind import Kinds
from stepless.model.texts.company import NONE, Company
from stepless.nodes import KindCode
from stepless.ports import (
    Blobs,
    Calendar,
    Clock,
    Drafts,
    Http,
    Meter,
    Moderator,
    Objects,
    Queue,
    RunHead,
    Secrets,
    Store,
    Tallies,
    Timers,
)  # fmt: skip
from stepless.runtime.commits import Commits
from stepless.runtime.metering import NullMeter, NullTallies
from stepless.runtime.news import News
from stepless.runtime.versions import Versions

if TYPE_CHECKING:
    from stepless.runtime.exporting.relay import Relaying

Notify: TypeAlias = Callable[[State, Instance, Wait, Mapping[str, str], int], Awaitable[None]]
"""`notifier.Notifier.send`."""


def never_ahead(run_id: str) -> int:
    """Returns 0, the `World.ahead_ms` of deployments: only `stepless dev` can skip time."""
    return 0


@dataclass(frozen=True, slots=True)
class World:
    """The adapters and settings of one process, created by `runtime/wiring` only. `kind_code` holds the code of the effectful
    kinds by name. `calendar` is None if the process fires schedules itself. `news` is None unless this process serves every run
    of the store. `relay` is None if nothing is exported. `runner_timeout_s` is the time after which the deployment kills an
    invocation; None if there is no limit. `retention_ms` is how long runs are kept after their end, unless their workflow says
    otherwise; None keeps them for ever. `traces` says whether the trace context of a request is stored with the run that it
    starts, and handed on by its nodes. `near` is `OpenStore.near`, `drafts` is
    `OpenStore.drafts`. `linger_ms` is how long the code of an attempt may go on after its end. `company` is whose questions
    approvers are asked. `fresh` are headers of runs that this process has just created (`headers.head_of`). `objects` are the
    places of sources and sinks, by name: `s3`, `file`."""

    store: Store
    queue: Queue
    timers: Timers
    blobs: Blobs
    clock: Clock
    secrets: Secrets
    kinds: Kinds
    versions: Versions
    kind_code: Mapping[str, KindCode]
    moderator: Moderator | None = None
    notify: Notify | None = None
    meter: Meter = field(default_factory=NullMeter)
    tallies: Tallies = field(default_factory=NullTallies)
    calendar: Calendar | None = None
    ahead_ms: Callable[[str], int] = never_ahead
    commits: Commits = field(default_factory=Commits)
    news: News | None = None
    runner_timeout_s: int | None = None
    relay: Relaying | None = None
    retention_ms: int | None = None
    http: Http = field(default_factory=NoHttp)
    traces: bool = False
    near: bool = False
    drafts: Drafts | None = None
    linger_ms: int = LINGER_MS
    company: Company = NONE
    fresh: dict[str, RunHead] = field(default_factory=dict)
    objects: Mapping[str, Callable[[], Objects]] = field(default_factory=dict)
