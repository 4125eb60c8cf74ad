"""Reads the W3C trace context of runs (`traceparent` and `tracestate`), and derives the ids of a run's trace and spans.

The ids are a function of the run id, so that every process that works on the run, and every repetition after a crash, uses the
same ones (docs/run/observability.md#ids).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Final, NamedTuple

from stepless.limits import LONG_TRACESTATE_MEMBER_CHARACTERS, MAX_TRACESTATE_CHARACTERS, MAX_TRACESTATE_MEMBERS
from stepless.model.json import JSON

TRACEPARENT: Final = "traceparent"
TRACESTATE: Final = "tracestate"
TRACE: Final = "trace"  # the key of the stored context in the meta of a run, and of the context in the facts of a call

SAMPLED: Final = 1
_KNOWN_FLAGS: Final = 3  # sampled, and random trace id
_TRACEPARENT: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_KEY: Final = re.compile(r"[a-z0-9][a-z0-9_\-*/]{0,255}(?:@[a-z][a-z0-9_\-*/]{0,13})?")
_VALUE: Final = re.compile(r"[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]")


class Parent(NamedTuple):
    """A span of another program. `state` is a `tracestate`; the engine passes it on and adds nothing."""

    trace_id: str
    span_id: str
    flags: int
    state: str = ""


class RunTrace(NamedTuple):
    """The trace of one run. `parent_id` is the span that started the run; empty if the run begins the trace."""

    run_id: str
    trace_id: str
    parent_id: str = ""
    flags: int = SAMPLED
    state: str = ""

    @property
    def sampled(self) -> bool:
        """Whether the spans of the run are exported."""
        return bool(self.flags & SAMPLED)

    def stored(self, span_id: str) -> Mapping[str, JSON]:
        """Returns the context of a span, as `meta` of a run that this span starts."""
        stored: dict[str, JSON] = {"parent": f"00-{self.trace_id}-{span_id}-{self.flags:02x}"}
        return {**stored, "state": self.state} if self.state else stored

    def headers(self, instance: str, attempt: int) -> dict[str, str]:
        """Returns `traceparent`, and `tracestate` if there is one, with an attempt as the parent."""
        span_id = attempt_span_id(self.run_id, instance, attempt)
        headers = {TRACEPARENT: f"00-{self.trace_id}-{span_id}-{self.flags:02x}"}
        if self.state:
            headers[TRACESTATE] = self.state
        return headers


def trace_of(run_id: str, meta: Mapping[str, JSON]) -> RunTrace:
    """Returns the trace of a run with this `meta`. Without a usable parent in it, the run begins a trace of its own, which is
    sampled."""
    stored = meta.get(TRACE)
    parent = None
    if isinstance(stored, Mapping):
        parent = parent_of({TRACEPARENT: stored.get("parent"), TRACESTATE: stored.get("state")})
    if parent is None:
        return RunTrace(run_id, trace_id(run_id))
    return RunTrace(run_id, parent.trace_id, parent.span_id, parent.flags, parent.state)


def stored_parent(headers: Mapping[str, str]) -> Mapping[str, JSON]:
    """Returns the facts that the `meta` of a run records of the request that started it: its trace context under TRACE; empty if
    the headers (names in lower case, repeated ones joined by commas) have none that is valid."""
    parent = parent_of(headers)
    if parent is None:
        return {}
    return {TRACE: RunTrace("", parent.trace_id, flags=parent.flags, state=parent.state).stored(parent.span_id)}


def stored_former(run_id: str, meta: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """Returns the facts that the `meta` of a rerun records of the run `run_id` that it repeats: its trace, unless it follows from
    the run id. A rerun begins a trace of its own, which links to the former one."""
    former = trace_of(run_id, meta).trace_id
    return {} if former == trace_id(run_id) else {TRACE: {"former": former}}


def parent_of(headers: Mapping[str, object]) -> Parent | None:
    """Returns the parent in `traceparent` and `tracestate`. None if `traceparent` is missing or invalid; an invalid `tracestate`
    is dropped alone."""
    text = headers.get(TRACEPARENT)
    found = _TRACEPARENT.fullmatch(text.strip(" \t")) if isinstance(text, str) else None
    if found is None:
        return None
    version, trace, span, flags, more = found.groups()
    if version == "ff" or (version == "00" and more) or not (trace.strip("0") and span.strip("0")):
        return None
    state = headers.get(TRACESTATE)
    return Parent(trace, span, int(flags, 16) & _KNOWN_FLAGS, _valid_state(state) if isinstance(state, str) else "")


def _valid_state(text: str) -> str:
    """A `tracestate` in the order in which it came, within the limits; empty if any member is invalid."""
    members: dict[str, str] = {}
    for part in text.split(",", MAX_TRACESTATE_MEMBERS * 2):
        member = part.strip(" \t")
        if not member:
            continue
        key, _, value = member.partition("=")
        if not _KEY.fullmatch(key) or not _VALUE.fullmatch(value):
            return ""
        members.setdefault(key, member)
    return _bounded(list(members.values())) if len(members) <= MAX_TRACESTATE_MEMBERS else ""


def _bounded(members: list[str]) -> str:
    """Whole members only. As W3C asks, members of more than 128 characters go first, then those at the end."""
    if sum(map(len, members)) + len(members) - 1 > MAX_TRACESTATE_CHARACTERS:
        members = [member for member in members if len(member) <= LONG_TRACESTATE_MEMBER_CHARACTERS]
    while sum(map(len, members)) + len(members) - 1 > MAX_TRACESTATE_CHARACTERS:
        members.pop()
    return ",".join(members)


def trace_id(run_id: str) -> str:
    """Returns the trace of a run without a parent: the first 16 bytes of the SHA-256 of `trace:{run id}`, in hexadecimal."""
    return sha256(f"trace:{run_id}".encode()).hexdigest()[:32]


def run_span_id(run_id: str) -> str:
    """Returns the first 8 bytes of the SHA-256 of `run:{run id}`."""
    return sha256(f"run:{run_id}".encode()).hexdigest()[:16]


def node_span_id(run_id: str, instance: str) -> str:
    """Returns the first 8 bytes of the SHA-256 of `node:{run id}:{instance}`."""
    return sha256(f"node:{run_id}:{instance}".encode()).hexdigest()[:16]


def attempt_span_id(run_id: str, instance: str, attempt: int) -> str:
    """Returns the first 8 bytes of the SHA-256 of `attempt:{run id}:{instance}:{attempt}`."""
    return sha256(f"attempt:{run_id}:{instance}:{attempt}".encode()).hexdigest()[:16]
