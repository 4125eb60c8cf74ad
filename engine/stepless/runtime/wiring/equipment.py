"""Completes an engine with the parts that are the same on a laptop and on AWS: the code of the configured kinds, the guarded
HTTP client, the moderator, the notices, and whether runs are traced.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from stepless.errors import ConfigError
from stepless.limits import LINGER_MS
from stepless.model.texts.company import company_of
from stepless.model.texts.durations import parse_duration_ms, parse_retention_ms
from stepless.nodes import KINDS, aws_kind_code, aws_kinds, kind_code_with
from stepless.ports import Aws, Clock, HttpAnswer, HttpRequest, Models, Moderator
from stepless.runtime.access.invitations import Invitations
from stepless.runtime.access.notifier import Notifier
from stepless.runtime.session.pauses.run_kinds import with_run_kinds
from stepless.runtime.wiring.exporting import LazyRelay
from stepless.runtime.wiring.models import Setting, configured_kind_code
from stepless.runtime.wiring.telemetry import is_traced
from stepless.runtime.world import World

MODERATOR: Final = "STEPLESS_MODERATOR"  # the name of the registered function that moderates
NOTIFY_FROM: Final = "STEPLESS_NOTIFY_FROM"  # the sender address of mail to people
BASE_URL: Final = "STEPLESS_BASE_URL"  # the start of every link that is sent to people
LINGER: Final = "STEPLESS_LINGER"  # how long the code of an attempt may go on after its end, like 60s
RETENTION: Final = "STEPLESS_RETENTION"  # how long runs are kept after their end, like 90d


class GuardedHttp:
    """The port `Http`: the client of `nodes/http`, loaded by the first request. `clock` is the start of a `Retry-After`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def send(self, request: HttpRequest) -> HttpAnswer:
        """See `Http.send`."""
        from stepless.nodes.http.exchange import exchange

        return await exchange(request, self._clock.now_ms())


def equipped(
    world: World, setting: Setting, invitations: Invitations, aws: Aws | None, models: Models | None = None
) -> World:
    """Returns `world` with these parts. `models` replaces the configured models; without `aws` no kind calls AWS. Raises
    `ConfigError` (invalid_duration, or a setting of the company that cannot be used)."""
    http, company = GuardedHttp(world.clock), company_of(setting)
    code = kind_code_with(configured_kind_code(setting, models), {} if aws is None else aws_kind_code(aws, invitations.invite))
    complete = replace(
        world,
        kinds=KINDS if aws is None else aws_kinds(aws),
        kind_code=code,
        http=http,
        moderator=_moderator(setting(MODERATOR)),
        notify=Notifier(invitations, http, aws, setting(NOTIFY_FROM), company).send,
        company=company,
        retention_ms=retention_ms(setting(RETENTION)),
        traces=is_traced(setting),
        linger_ms=linger_ms(setting(LINGER)),
    )
    relay = LazyRelay(complete, setting, aws, invitations, setting(NOTIFY_FROM))
    return with_run_kinds(replace(complete, relay=relay))


def _moderator(name: str | None) -> Moderator | None:
    """`name` is a function of one of the loaded modules."""
    if not name:
        return None
    from stepless.runtime.session.execution.moderation import FunctionModerator  # imported late: few installations moderate

    return FunctionModerator(name)


def linger_ms(text: str | None) -> int:
    """Returns the setting LINGER in milliseconds; LINGER_MS for an empty text. Raises `ConfigError` (invalid_duration)."""
    try:
        return parse_duration_ms(text.strip()) if text and text.strip() else LINGER_MS
    except ValueError as error:
        raise ConfigError(str(error), code="invalid_duration", place=LINGER, mend="write it like 60s") from error


def retention_ms(text: str | None, *, place: str = RETENTION) -> int | None:
    """Returns the retention in milliseconds; None for an empty text. Raises `ConfigError` (invalid_duration) that names
    `place`."""
    try:
        return parse_retention_ms(text.strip()) if text and text.strip() else None
    except ValueError as error:
        raise ConfigError(str(error), code="invalid_duration", place=place, mend="write it like 90d") from error
