"""Chooses whether runs are traced, and what receives their spans and metrics, by the variables of OpenTelemetry. Imports nothing
of the export unless an endpoint is set.
"""

from __future__ import annotations

import logging
from typing import Final

from stepless.ports import Clock, Secrets, Telemetry
from stepless.runtime.wiring.models import Setting

_log = logging.getLogger(__name__)
_ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
_OF_TRACES: Final = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
_OF_METRICS: Final = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
_PROPAGATOR: Final = "tracecontext"


def is_traced(setting: Setting) -> bool:
    """Returns whether trace context is taken from requests and handed on by nodes: spans have an endpoint, and OTEL_PROPAGATORS
    does not leave out `tracecontext`."""
    if not (setting(_ENDPOINT) or setting(_OF_TRACES)) or _is_disabled(setting):
        return False
    return _PROPAGATOR in (setting("OTEL_PROPAGATORS") or _PROPAGATOR).replace(" ", "").split(",")


def is_telemetered(setting: Setting) -> bool:
    """Returns whether spans or metrics have an endpoint, so that `telemetry_of` may have a result."""
    return not _is_disabled(setting) and any(setting(name) for name in (_ENDPOINT, _OF_TRACES, _OF_METRICS))


def telemetry_of(setting: Setting, secrets: Secrets, clock: Clock) -> Telemetry | None:
    """Returns the exporter of spans and metrics; None if the export is off, or cannot be on: the log then says why."""
    if not is_telemetered(setting):
        return None
    from stepless.adapters.otlp.settings import settings_of

    settings = settings_of(setting)
    if settings is None:
        return None
    try:
        from stepless.adapters.otlp.telemetry import OtlpTelemetry
    except ModuleNotFoundError as error:
        _log.warning("spans and metrics are not exported: %s is not installed; install stepless[otel]", error.name)
        return None
    return OtlpTelemetry(settings, secrets.get, clock)


def _is_disabled(setting: Setting) -> bool:
    return (setting("OTEL_SDK_DISABLED") or "").strip().lower() == "true"
