"""Reads the settings of the export from the environment variables that the OpenTelemetry specification names."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from secrets import token_hex
from typing import Final
from urllib.parse import unquote, urlsplit

from stepless.limits import TELEMETRY_TIMEOUT_MS

_log = logging.getLogger(__name__)
Setting = Callable[[str], str | None]

PREFIX: Final = "OTEL_EXPORTER_OTLP_"
TRACES: Final = "TRACES"
METRICS: Final = "METRICS"
_PROTOCOL: Final = "http/protobuf"


@dataclass(frozen=True, slots=True)
class Signal:
    """How one kind of data is exported. `header_names` are the settings that may hold its headers, its own one first."""

    url: str
    header_names: tuple[str, ...]
    timeout_ms: int
    gzip: bool


@dataclass(frozen=True, slots=True)
class Settings:
    """`traces` or `metrics` is None if it is not exported. `resource` describes this process. `delta` asks for metrics that count
    since the last export, not since the start of the process."""

    traces: Signal | None
    metrics: Signal | None
    resource: Mapping[str, str]
    delta: bool


def settings_of(setting: Setting) -> Settings | None:
    """Returns the settings of the export; None if it is off. A value that cannot be used is logged, and what it concerns stays
    off: the variables belong to every library of the process, so none of them may stop it."""
    if (setting("OTEL_SDK_DISABLED") or "").strip().lower() == "true":
        return None
    traces, metrics = _signal(setting, TRACES, "v1/traces"), _signal(setting, METRICS, "v1/metrics")
    if traces is None and metrics is None:
        return None
    preference = (setting(f"{PREFIX}METRICS_TEMPORALITY_PREFERENCE") or "cumulative").strip().lower()
    return Settings(traces, metrics, _resource(setting), preference in ("delta", "lowmemory"))


def _signal(setting: Setting, name: str, path: str) -> Signal | None:
    exporter = (setting(f"OTEL_{name}_EXPORTER") or "otlp").strip().lower()
    url = _url(setting, name, path)
    if url is None or "otlp" not in exporter.split(","):
        return None
    protocol = (_either(setting, name, "PROTOCOL") or _PROTOCOL).strip().lower()
    if protocol != _PROTOCOL:
        _log.warning("%s are not exported: the protocol is %r, and only %s is supported", name.lower(), protocol, _PROTOCOL)
        return None
    timeout_ms = _milliseconds(_either(setting, name, "TIMEOUT"))
    compressed = (_either(setting, name, "COMPRESSION") or "none").strip().lower() == "gzip"
    return Signal(url, (f"{PREFIX}{name}_HEADERS", f"{PREFIX}HEADERS"), timeout_ms, compressed)


def _either(setting: Setting, signal: str, name: str) -> str | None:
    return setting(f"{PREFIX}{signal}_{name}") or setting(f"{PREFIX}{name}")


def _url(setting: Setting, name: str, path: str) -> str | None:
    """The signal's own endpoint as it is, or `path` below the common one."""
    own, common = setting(f"{PREFIX}{name}_ENDPOINT"), setting(f"{PREFIX}ENDPOINT")
    if not own and not common:
        return None
    url = own.strip() if own else f"{(common or '').strip().rstrip('/')}/{path}"
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and url.isprintable()
    except ValueError:
        usable = False
    if not usable or " " in url or parts.username is not None:
        _log.warning("%s are not exported: the endpoint must be http:// or https:// with a host, without a user", name.lower())
        return None
    return url


def _milliseconds(text: str | None) -> int:
    try:
        wanted = int(text) if text else TELEMETRY_TIMEOUT_MS
    except ValueError:
        _log.warning("%sTIMEOUT is not a number of milliseconds", PREFIX)
        wanted = TELEMETRY_TIMEOUT_MS
    return min(max(wanted, 1), TELEMETRY_TIMEOUT_MS)


def _resource(setting: Setting) -> Mapping[str, str]:
    """Attributes of this process. OTEL_RESOURCE_ATTRIBUTES overrides the defaults, OTEL_SERVICE_NAME overrides both."""
    resource = {"service.name": "stepless", "service.instance.id": token_hex(16), **_lambda(setting)}
    text = setting("OTEL_RESOURCE_ATTRIBUTES")
    if text:
        pairs = pairs_of(text)
        if pairs is None:
            _log.warning("OTEL_RESOURCE_ATTRIBUTES is not a list of key=value, separated by commas: it is ignored")
        resource |= pairs or {}
    if name := (setting("OTEL_SERVICE_NAME") or "").strip():
        resource["service.name"] = name
    return resource


def _lambda(setting: Setting) -> dict[str, str]:
    """What Lambda says of its function; empty elsewhere."""
    name = setting("AWS_LAMBDA_FUNCTION_NAME")
    if not name:
        return {}
    known = {
        "cloud.provider": "aws", "cloud.platform": "aws_lambda", "cloud.region": setting("AWS_REGION"), "faas.name": name,
        "faas.version": setting("AWS_LAMBDA_FUNCTION_VERSION"), "faas.instance": setting("AWS_LAMBDA_LOG_STREAM_NAME"),
    }  # fmt: skip
    return {key: value for key, value in known.items() if value}


def pairs_of(text: str) -> dict[str, str] | None:
    """Reads `key=value,key=value` with percent-encoded values. None, for all of them, if one is malformed."""
    pairs: dict[str, str] = {}
    for part in text.split(","):
        if not part.strip():
            continue
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            return None
        try:
            pairs[unquote(key.strip(), errors="strict")] = unquote(value.strip(), errors="strict")
        except UnicodeDecodeError:
            return None
    return pairs
