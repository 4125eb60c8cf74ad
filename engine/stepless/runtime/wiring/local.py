"""Composes the engine on one machine: over a file, a store of another package, or memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from types import MappingProxyType

from stepless.adapters.due_queue import DueQueue
from stepless.adapters.folder_objects import FolderObjects
from stepless.adapters.memory.queue import MemoryQueue
from stepless.adapters.memory.timers import MemoryTimers
from stepless.adapters.system import EnvSecrets, SteadyClock, SystemClock
from stepless.errors import Conflict
from stepless.limits import LOCAL_BUDGET_MS
from stepless.nodes import KIND_CODE, KINDS
from stepless.ports import Aws, Models, Objects, OpenStore, Queue, Secrets, Timers
from stepless.runtime.access.invitations import Invitations
from stepless.runtime.access.signing_keys import kept_keys
from stepless.runtime.access.tokens import Signer, parse_keys
from stepless.runtime.commits import Commits
from stepless.runtime.hosting.host import Host
from stepless.runtime.hosting.sweep import adopt
from stepless.runtime.news import News
from stepless.runtime.service import Service
from stepless.runtime.session.runner import Runner
from stepless.runtime.triggers.schedule_firing import Schedules
from stepless.runtime.verbs.changes.time_skip import own_times
from stepless.runtime.versions import Versions
from stepless.runtime.wiring.aws_operations import configured_operations, s3_objects
from stepless.runtime.wiring.equipment import BASE_URL, equipped
from stepless.runtime.wiring.exporting import check_exports
from stepless.runtime.wiring.models import Setting
from stepless.runtime.wiring.stores import Kept, database_of
from stepless.runtime.world import World, never_ahead

SIGNING_KEYS = "STEPLESS_SIGNING_KEYS"


@dataclass(slots=True)
class Local:
    """The engine in one process. `close` releases the database of runs; `adopted` counts the runs that an earlier
    process left unfinished. `files` are those of sources and sinks."""

    world: World
    service: Service
    runner: Runner
    host: Host
    adopted: int
    invitations: Invitations
    schedules: Schedules
    files: FolderObjects
    _opened: ExitStack = field(default_factory=ExitStack)

    def close(self) -> None:
        self._opened.close()


def local(
    kept: Kept,
    *,
    budget_ms: float = LOCAL_BUDGET_MS,
    secrets: Secrets | None = None,
    models: Models | None = None,
    aws: Aws | None = None,
    settings: Mapping[str, str] = MappingProxyType({}),
    retention_ms: int | None = None,
    folder: str | os.PathLike[str] = ".",
) -> Local:
    """Serves the runs in `kept`, as the only process. `models` replaces the models that the environment configures, `aws`
    replaces AWS, `retention_ms` the retention. `folder` has the files of sources and sinks. `settings` take precedence over those
    of the environment.

    Raises `ConfigError` for settings that cannot be used, `Conflict` (file_held) when another process serves them,
    `StoreUnusable` for a file of another format, and what `database_of` raises.
    """
    database, clock, secrets = database_of(kept), SystemClock(), secrets or EnvSecrets()
    setting = _first(settings, secrets)
    check_exports(setting, secrets.get)
    with ExitStack() as opened:
        opened.enter_context(database.hold(clock.now_ms()))
        runs = database.open()
        opened.callback(runs.close)
        ahead_ms = own_times(runs.store, clock)
        built = assemble(runs, budget_ms, secrets, models, aws, ahead_ms, News(), retention_ms, setting, folder)
        built.adopted = adopt(built.world)
        built._opened = opened.pop_all()
    return built


@dataclass(frozen=True, slots=True)
class Attached:
    """The verbs over runs that another process may serve; this process never executes them. `holder` names the other process,
    empty if there is none."""

    service: Service
    holder: str
    _opened: ExitStack

    def close(self) -> None:
        self._opened.close()


def attached(kept: Kept) -> Attached:
    """Reads runs and sends them signals, whichever process serves them. Raises `StoreUnusable` for a file of another format,
    and what `database_of` raises."""
    database, clock, holder = database_of(kept), SystemClock(), ""
    try:
        with database.hold(clock.now_ms()):
            pass
    except Conflict as error:
        holder = str(error.facts["holder"])
    with ExitStack() as opened:
        runs = database.open()
        opened.callback(runs.close)
        service, _ = _service(_world(runs, DueQueue(runs.store, clock), MemoryTimers(), EnvSecrets()))
        return Attached(service, holder, opened.pop_all())


def inspected(runs: OpenStore) -> World:
    """Returns a store that is only read: nothing is made or changed in it, not even a signing key."""
    return _world(runs, DueQueue(runs.store, SystemClock()), MemoryTimers(), EnvSecrets())


def assemble(
    runs: OpenStore, budget_ms: float, secrets: Secrets, models: Models | None = None, aws: Aws | None = None,
    ahead_ms: Callable[[str], int] = never_ahead, news: News | None = None, retention_ms: int | None = None,
    setting: Setting | None = None, folder: str | os.PathLike[str] = ".",
) -> Local:  # fmt: skip
    """Returns one process over a store that other processes may share. Pass `news` only when no other process uses the store."""
    pace, files = SteadyClock(), FolderObjects(folder)
    queue, timers = MemoryQueue(pace), MemoryTimers()
    ours = replace(
        _world(runs, queue, timers, secrets), ahead_ms=ahead_ms, commits=Commits(runs.together), news=news,
        objects=_objects(files),
    )  # fmt: skip
    service, invitations = _service(ours, models, aws, setting)
    if retention_ms is not None:
        service.world = replace(service.world, retention_ms=retention_ms)
    world = service.world
    runner = Runner(world)
    host = Host(world, runner, queue, timers, budget_ms=budget_ms, pace=pace)
    return Local(world, service, runner, host, 0, invitations, Schedules(world), files)


def _world(runs: OpenStore, queue: Queue, timers: Timers, secrets: Secrets) -> World:
    versions = Versions(runs.store, KINDS, runs.blobs)
    return World(
        runs.store, queue, timers, runs.blobs, SystemClock(), secrets, KINDS, versions, KIND_CODE, near=runs.near,
        drafts=runs.drafts,
    )  # fmt: skip


def _objects(files: FolderObjects) -> Mapping[str, Callable[[], Objects]]:
    """The places of sources and sinks: `files`, and S3 if boto3 is installed."""
    objects: dict[str, Callable[[], Objects]] = {"file": lambda: files}
    return objects if find_spec("boto3") is None else {**objects, "s3": s3_objects}


def _service(
    world: World, models: Models | None = None, aws: Aws | None = None, setting: Setting | None = None
) -> tuple[Service, Invitations]:
    """The verbs and the links of this world. Links are signed with the configured keys, or else with one key that is made once
    and stored with the runs."""
    signer = Signer(parse_keys(world.secrets.get(SIGNING_KEYS) or "") or kept_keys(world.store, world.clock))
    invitations = Invitations(signer.sign, os.environ.get(BASE_URL, ""))
    operations = aws or configured_operations()
    return Service(equipped(world, setting or world.secrets.get, invitations, operations, models), signer), invitations


def _first(settings: Mapping[str, str], secrets: Secrets) -> Setting:
    return lambda name: settings.get(name) or secrets.get(name)
