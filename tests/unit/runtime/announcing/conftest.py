"""A local engine whose run events and failure notices go to an HTTP client that keeps the requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.secrets import MemorySecrets
from stepless.model.work import NodeFailure
from stepless.nodes.function import function
from stepless.ports import HttpAnswer, HttpRequest, Message
from stepless.runtime.access.invitations import Invitations
from stepless.runtime.hosting.sweep import sweep
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.runner import Runner
from stepless.runtime.wiring.exporting import LazyRelay
from stepless.runtime.wiring.local import local

SECRETS = {
    "SLACK": "https://hooks.slack.com/services/T0/B0/slack-secret-path",
    "TEAMS": "https://example.webhook.office.com/webhookb2/teams-secret-path",
    "HOOK": "https://hooks.example/failures", "STEPLESS_EVENTS_SECRET": "events-secret",
}  # fmt: skip


@function("announcing.breaks")
def breaks(message: str) -> None:
    raise ValueError(message)


class Outside:
    """The ports `Http` and `Aws`, which keep what they receive. `fails` are the next errors."""

    def __init__(self) -> None:
        self.posts: list[HttpRequest] = []
        self.calls: list[tuple[str, str, dict[str, Any]]] = []
        self.fails: list[NodeFailure] = []

    async def send(self, request: HttpRequest) -> HttpAnswer:
        if self.fails:
            raise self.fails.pop(0)
        self.posts.append(request)
        return HttpAnswer(200, {}, b"")

    def check(self, *given: Any) -> list[Any]:
        return []

    async def call(self, service: str, action: str, params: Mapping[str, Any], *, token: str, timeout_ms: int) -> Any:
        self.calls.append((service, action, dict(params)))
        return {}

    def bodies(self) -> list[Any]:
        return [json.loads(post.content or b"") for post in self.posts]


class Place:
    """One process over a store."""

    def __init__(self, settings: Mapping[str, str], secrets: Mapping[str, str], *, aws: bool = True) -> None:
        self.outside, self.clock = Outside(), SettableClock(1_700_000_000_000)
        self.built = local(None, secrets=MemorySecrets(secrets))
        self._settings = settings
        self._aws = self.outside if aws else None
        self.restart()

    def restart(self) -> None:
        plain = replace(self.built.world, http=self.outside, clock=self.clock)
        invitations = Invitations(self.built.service.signer.sign, "https://shop.example")
        relay = LazyRelay(plain, self._settings.get, self._aws, invitations, self._settings.get("STEPLESS_NOTIFY_FROM"))
        self.world = replace(plain, relay=relay)
        self.built.service.world = self.world
        self.runner = Runner(self.world)

    def start(self, document: Mapping[str, Any], inputs: Any = None) -> str:
        self.built.service.publish(document)
        run_id = self.built.service.start(document["id"], inputs or {}).run_id
        self.drive(run_id)
        return run_id

    def drive(self, run_id: str) -> None:
        asyncio.run(self.runner.run(Message(run_id, "start"), Budget(60_000)))

    def later(self, ms: int) -> None:
        """Moves the clock and serves what the sweep finds."""
        self.clock.set(self.clock.now_ms() + ms)
        sweep(self.world)
        queue: Any = self.world.queue
        while (message := queue.receive(2**62)) is not None:
            asyncio.run(self.runner.run(message, Budget(60_000)))

    def head(self, run_id: str) -> Any:
        return self.world.store.get_run(run_id)


@pytest.fixture
def place() -> Callable[..., Place]:
    def made(settings: Mapping[str, str] | None = None, secrets: Mapping[str, str] = SECRETS, **more: Any) -> Place:
        return Place(settings or {}, secrets, **more)

    return made


@pytest.fixture
def failing() -> Callable[..., dict[str, Any]]:
    """A workflow that fails at `pay`."""

    def made(notify: Any = None, **top: Any) -> dict[str, Any]:
        work = {"type": "function", "with": {"call": "announcing.breaks", "args": {"message": "<start.why>"}}}
        named = {} if notify is None else {"on_failure_notify": notify}
        return {
            "id": "refunds", "name": "Refunds", "env": ["SLACK", "TEAMS", "HOOK"], **named, **top,
            "nodes": {"start": {"type": "manual"}, "pay": {**work, "after": "start"}},
        }  # fmt: skip

    return made
