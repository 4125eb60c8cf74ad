"""Chooses the exporters of a process from its settings. Without one, nothing of `runtime/exporting` is imported."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from stepless.errors import ConfigError
from stepless.runtime.wiring.models import Setting
from stepless.runtime.wiring.telemetry import is_telemetered, telemetry_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from stepless.core.events import Event
    from stepless.model.graph import Graph
    from stepless.ports import Aws, Blobs, Store
    from stepless.runtime.access.invitations import Invitations
    from stepless.runtime.exporting.exporter import Exporter
    from stepless.runtime.exporting.relay import Exports, Relay
    from stepless.runtime.world import World

EVENTS_BUS: Final = "STEPLESS_EVENTS_BUS"  # the EventBridge bus that receives the events of runs
EVENTS_SOURCE: Final = "STEPLESS_EVENTS_SOURCE"  # their `source`
EVENTS_URL: Final = "STEPLESS_EVENTS_URL"  # the URL that receives them as webhooks
EVENTS_SECRET: Final = "STEPLESS_EVENTS_SECRET"  # the secret that signs these webhooks
ON_FAILURE_NOTIFY: Final = "STEPLESS_ON_FAILURE_NOTIFY"  # who is notified of failed runs, space-separated
_DEFAULT_SOURCE: Final = "stepless"
_WEBHOOKS_AT_ONCE: Final = 1
_BUS_AT_ONCE: Final = 50


class LazyRelay:
    """The relay of a process, made by the first run that needs it. `invitations` has the start of links."""

    def __init__(
        self, world: World, setting: Setting, aws: Aws | None, invitations: Invitations, sender: str | None
    ) -> None:
        self._world = world
        self._setting = setting
        self._aws = aws
        self._invitations = invitations
        self._sender = sender
        self._always = is_telemetered(setting) or any(setting(name) for name in (EVENTS_BUS, EVENTS_URL, ON_FAILURE_NOTIFY))

    def concerns(self, graph: Graph) -> bool:
        """See `Relay.concerns`."""
        return (self._always or bool(graph.on_failure_notify)) and self._relay.concerns(graph)

    def open(self, *given: Any) -> Exports:
        """See `Relay.open`."""
        return self._relay.open(*given)

    @cached_property
    def _relay(self) -> Relay:
        from stepless.runtime.exporting.relay import Relay

        return Relay([*self._events(), self._notices(), *self._telemetry()], self._world.meter)

    def _events(self) -> Sequence[Exporter]:
        from stepless.runtime.announcing.run_events import RunEvents
        from stepless.runtime.exporting.cursors import BUS

        setting, world = self._setting, self._world
        made: list[Exporter] = []
        source = setting(EVENTS_SOURCE) or _DEFAULT_SOURCE
        if (bus := setting(EVENTS_BUS)) and self._aws is not None:
            from stepless.adapters.aws.event_bus import EventBridgeAnnouncer

            announcer = EventBridgeAnnouncer(self._aws, world.meter, bus=bus, source=source)
            made.append(RunEvents(BUS, announcer, self._base_url, at_once=_BUS_AT_ONCE))
        if (url := setting(EVENTS_URL)) and (sign := self._sign()) is not None:
            from stepless.adapters.event_webhook import WebhookAnnouncer

            hooks = WebhookAnnouncer(world.http, world.clock, url=url, source=source, sign=sign)
            made.append(RunEvents("hook", hooks, self._base_url, at_once=_WEBHOOKS_AT_ONCE))
        return made

    def _notices(self) -> Exporter:
        from stepless.runtime.announcing.failure_notices import FailureChannels, FailureNotices

        world, setting = self._world, self._setting
        channels = FailureChannels(world.http, self._aws, world.clock, self._sender, self._sign())
        default = (setting(ON_FAILURE_NOTIFY) or "").split()
        return FailureNotices(channels, world.store, world.blobs, world.secrets, world.meter, self._base_url, default)

    def _telemetry(self) -> Sequence[Exporter]:
        telemetry = telemetry_of(self._setting, self._world.secrets, self._world.clock)
        if telemetry is None:
            return ()
        from stepless.runtime.exporting.telemetry import TelemetryExporter

        return (TelemetryExporter(telemetry, log_reader(self._world.store, self._world.blobs)),)

    def _sign(self) -> Callable[[bytes, int], str] | None:
        from stepless.runtime.triggers.signatures import sign

        secret = self._world.secrets.get(EVENTS_SECRET)
        return partial(sign, secret) if secret else None

    def _base_url(self) -> str:
        return self._invitations.base_url


def log_reader(store: Store, blobs: Blobs) -> Callable[[str, int], Iterator[Event]]:
    """Returns a function that reads the events of a run after a sequence number, without large values."""
    from stepless.runtime.runlog import RunLog

    return lambda run_id, after: RunLog(store, blobs, run_id).read(after, whole=False)


def check_exports(setting: Setting, secret: Callable[[str], str | None]) -> None:
    """Raises `ConfigError` for settings with which nothing could be exported."""
    if setting(EVENTS_URL) and not secret(EVENTS_SECRET):
        message = "the webhooks for the events of runs need a secret that signs them"
        raise ConfigError(message, code="setting_missing", place=EVENTS_SECRET, mend=f"set {EVENTS_SECRET}")
    from stepless.model.texts.failure_targets import parse_target

    for text in (setting(ON_FAILURE_NOTIFY) or "").split():
        try:
            parse_target(text)
        except ValueError as error:
            raise ConfigError(str(error), code="setting_invalid", place=ON_FAILURE_NOTIFY, mend="correct this setting") from error
