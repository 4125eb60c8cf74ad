"""The composition root: which adapter fulfils which port. The only place where the shell meets adapters."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from typing import Literal

from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.queue import MemoryQueue
from stepless.adapters.memory.store import MemoryStore
from stepless.adapters.memory.timers import MemoryTimers
from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.file_lock import lock_file
from stepless.adapters.sqlite.hints import DueQueue
from stepless.adapters.sqlite.store import SqliteStore
from stepless.adapters.system import EnvSecrets, SteadyClock, SystemClock
from stepless.errors import Conflict
from stepless.limits import LOCAL_BUDGET_MS
from stepless.nodes import KINDS, KindCode, aws_kind_code, aws_kinds, kind_code_with
from stepless.ports import Aws, Blobs, Clock, Models, Secrets, Store
from stepless.runtime.access.invitations import Invitations
from stepless.runtime.access.notifier import Notifier
from stepless.runtime.access.signing_keys import kept_keys
from stepless.runtime.access.tokens import Signer, parse_keys
from stepless.runtime.commits import Commits
from stepless.runtime.hosting.host import Host
from stepless.runtime.hosting.sweep import adopt
from stepless.runtime.news import News
from stepless.runtime.service import Service
from stepless.runtime.session.children import caller
from stepless.runtime.session.moderation import configured_moderator
from stepless.runtime.session.runner import Runner
from stepless.runtime.triggers.delivering import Schedules
from stepless.runtime.verbs.time_skip import own_times
from stepless.runtime.versions import Versions
from stepless.runtime.wiring.aws_operations import configured_operations
from stepless.runtime.wiring.models import configured_kind_code
from stepless.runtime.world import World, never_ahead

SIGNING_KEYS = "STEPLESS_SIGNING_KEYS"
MODERATOR = "STEPLESS_MODERATOR"  # the registered function that is the moderator
NOTIFY_FROM = "STEPLESS_NOTIFY_FROM"  # the address that mail to people comes from
BASE_URL = "STEPLESS_BASE_URL"  # what comes before the links that are sent to people


@dataclass(slots=True)
class Local:
    """Everything in one process. `close` lets go of the file; `adopted` counts the runs that a former process left behind."""

    world: World
    service: Service
    runner: Runner
    host: Host
    adopted: int
    invitations: Invitations
    schedules: Schedules
    _opened: ExitStack = field(default_factory=ExitStack)

    def close(self) -> None:
        self._opened.close()


def local(
    path: str | os.PathLike[str] | None,
    *,
    synchronous: Literal["NORMAL", "FULL"] = "NORMAL",
    budget_ms: float = LOCAL_BUDGET_MS,
    secrets: Secrets | None = None,
    models: Models | None = None,
    aws: Aws | None = None,
) -> Local:
    """The engine on one machine: over one SQLite file, or in memory when `path` is None. `models` are asked instead of those
    that the environment configures, `aws` instead of AWS.

    Raises `Conflict` (file_held) when another process serves the file, `StoreUnusable` when it is no such file.
    """
    clock = SystemClock()
    if path is None:
        return assemble(MemoryStore(), MemoryBlobs(), budget_ms, secrets or EnvSecrets(), models, aws, news=News())
    with ExitStack() as opened:
        opened.enter_context(lock_file(path, clock.now_ms()))
        store = opened.enter_context(closing(SqliteStore(path, synchronous=synchronous)))
        times = own_times(store, clock)
        built = assemble(store, SqliteBlobs(store.database), budget_ms, secrets or EnvSecrets(), models, aws, times, News())
        built.adopted = adopt(built.world)
        built._opened = opened.pop_all()
    return built


@dataclass(frozen=True, slots=True)
class Attached:
    """The verbs over a file that another process may be serving; runs go on there, never here. `holder` says who that is,
    empty for nobody."""

    service: Service
    holder: str
    _store: SqliteStore

    def close(self) -> None:
        self._store.close()


def attached(path: str | os.PathLike[str]) -> Attached:
    """Looks at runs of a file and signals to them, whoever serves it. Raises `StoreUnusable` when it is no such file."""
    clock, holder = SystemClock(), ""
    try:
        lock_file(path, clock.now_ms()).release()
    except Conflict as error:
        holder = error.facts["holder"]
    store = SqliteStore(path)
    try:
        built = assemble(store, SqliteBlobs(store.database), LOCAL_BUDGET_MS, EnvSecrets())
    except BaseException:
        store.close()
        raise
    world = replace(built.world, queue=DueQueue(store, clock))
    return Attached(Service(world, built.service.signer), holder, store)


def assemble(
    store: Store, blobs: Blobs, budget_ms: float, secrets: Secrets, models: Models | None = None, aws: Aws | None = None,
    ahead_ms: Callable[[str], int] = never_ahead, news: News | None = None,
) -> Local:  # fmt: skip
    """One process over a store that may be shared with others; with `news` over one that is not."""
    clock = SystemClock()
    steady = SteadyClock()
    queue, timers = MemoryQueue(steady, lambda: host.wake()), MemoryTimers()  # noqa: PLW0108 - the host comes later
    aws = aws or configured_operations()
    kinds = KINDS if aws is None else aws_kinds(aws)
    signer = _signer(store, secrets, clock)
    invitations = Invitations(lambda: signer, os.environ.get(BASE_URL, ""))
    moderator = configured_moderator(secrets.get(MODERATOR))
    notices = Notifier(invitations, aws, secrets.get(NOTIFY_FROM))
    children: dict[str, KindCode] = {}
    on_aws = {} if aws is None else aws_kind_code(aws, invitations.invite)
    kind_code = kind_code_with(children, configured_kind_code(secrets.get, models), on_aws)
    commits = Commits(store.together if isinstance(store, SqliteStore) else None)
    world = World(store, queue, timers, blobs, clock, secrets, kinds, Versions(store, KINDS), kind_code, moderator, notices.send,
                  ahead_ms=ahead_ms, commits=commits, news=news)  # fmt: skip
    children["workflow"] = caller(world)
    runner = Runner(world)
    host = Host(world, runner, queue, timers, budget_ms=budget_ms, pace=steady)
    schedules = Schedules(world)
    return Local(world, Service(world, signer), runner, host, 0, invitations, schedules)


def _signer(store: Store, secrets: Secrets, clock: Clock) -> Signer:
    """The configured signing keys; else one that is made once and kept with the runs."""
    return Signer(parse_keys(secrets.get(SIGNING_KEYS) or "") or kept_keys(store, clock))
