"""Estimates what a run would have cost on AWS, from the sizes of its stored items. Used where requests were not counted.

Item sizes match those that adapters/aws writes, to a few bytes. A write costs one unit per started KB, plus one unit for each
index row that it adds, changes or removes (two if the index key changes). The log does not show, and the estimate does not
include: tries that were refused or failed, replaced snapshots, reads of the inbox during long sessions, claims, repeated reads
of blobs, and the time of an invocation that stays for a short wait.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from stepless.core.deciding.pauses import TIMEOUT
from stepless.core.events import NODE_ENDS, Event, EventType
from stepless.limits import MAX_ESTIMATED_SESSIONS
from stepless.model.kind import Nature
from stepless.model.runs.statuses import ENDED
from stepless.model.runs.tally import Tally
from stepless.ports import RunHead, Signal
from stepless.runtime.inbox import RESUME, body_of, is_worth_marking

RUNNER_MB: Final = 512  # what template.yaml gives the functions by default
API_MB: Final = 1_024
REQUEST_MS: Final = 5  # the round trip of a request for one item of a table
_SCHEDULE_MS: Final = 900_000  # later timers are schedules, sooner ones are delayed messages
_WRITE_BYTES: Final = 1_024  # of a unit
_READ_BYTES: Final = 4_096
_INLINE_BYTES: Final = 512  # of inputs in the header; larger inputs are compressed, then stored in a separate item
_HEAD_BYTES: Final = 190  # of a header: names, key prefixes, instants, lease and tally
_ITEM_BYTES: Final = 32  # of a batch, a signal or a snapshot: names, key prefixes and numbers
_ENTERS: Final = 1  # units of the index of due runs: a run is added,
_LEAVES: Final = 1  # is removed,
_MOVES: Final = 2  # becomes due at another time
_READS_PER_START: Final = 1  # the newest version
_READS_PER_SESSION: Final = 2  # the header and the inbox
_READS_PER_LOAD: Final = 1  # the snapshot
_READS_PER_ANSWER: Final = 4  # the header, the signal, the inbox, a snapshot


def leaving(head: RunHead, status: str, due_ms: int | None, now_ms: int, *, passed_on: bool = False) -> Tally:
    """Returns the cost of the release of a lease and of the request that follows. `head` is the header when the lease was taken.
    A lease that is `passed_on` moves no row, but the row of a due run holds its status."""
    if passed_on:
        return _written(head_bytes(head), int(head.status != status)) + Tally(queue_requests=1)
    if status in ENDED:  # changes the index of all runs
        return _written(head_bytes(head), (_LEAVES if due_ms is None else _MOVES) + int(head.status != status))
    if due_ms is not None and due_ms <= now_ms:
        return _written(head_bytes(head), _MOVES) + Tally(queue_requests=1)  # a hint to the next invocation
    return _written(head_bytes(head), _LEAVES if due_ms is None else _MOVES) + Tally(read_units=1)  # the last read of the inbox


_RESTS: Final = NODE_ENDS | {EventType.NODE_WAITING, EventType.NODE_RETRIED}


@dataclass(slots=True)
class Seen:
    """What a log shows. `node_ms` is how long at least one attempt was running, `pauses` the instances that waited, `dated` the
    instances with a timer, `blobs` how many outputs are too large for the log."""

    hand_overs: int = 0
    schedules: int = 0
    node_ms: int = 0
    blobs: int = 0
    pauses: list[str] = field(default_factory=list)
    dated: set[str] = field(default_factory=set)
    _busy: set[str] = field(default_factory=set)
    _since_ms: int = 0

    def add(self, event: Event, nature: Nature | None) -> None:
        """Adds the next event. `nature` is that of its node's kind, None for events of the run."""
        match event.type:
            case EventType.RUN_CONTINUED:
                self.hand_overs += 1
            case EventType.NODE_STARTED if nature is Nature.EFFECT:
                if not self._busy:
                    self._since_ms = event.at_ms
                self._busy.add(event.instance)
            case EventType.NODE_WAITING | EventType.NODE_RETRIED:
                self._wait(event)
        if event.instance in self._busy and event.type in _RESTS:
            self._busy.discard(event.instance)
            if not self._busy:
                self.node_ms += event.at_ms - self._since_ms

    def _wait(self, event: Event) -> None:
        if event.type is EventType.NODE_WAITING:
            self.pauses.append(event.instance)
        dues = [event.data[name] for name in ("resume_at", "deadline") if isinstance(event.data.get(name), int)]
        if dues:
            self.dated.add(event.instance)
        self.schedules += any(due - event.at_ms > _SCHEDULE_MS for due in dues)


def estimate(
    head: RunHead, batches: Sequence[tuple[int, int]], snapshot: bytes | None, signals: Sequence[Signal], seen: Seen
) -> Tally:
    """Returns the tally of the whole run, if it was started over HTTP and answered by signed links. Each lease taken is an
    invocation with a message. `batches` holds the epoch and the bytes of each batch, in order."""
    size, ended = head_bytes(head), head.status in ENDED and head.owner is None
    answers = sum(signal.kind == RESUME and body_of(signal).get("handle") != TIMEOUT for signal in signals)
    tally = _start(head, size) + _sessions(head, size, batches, seen, ended, answers) + Tally(blob_writes=seen.blobs)
    for _, batch_bytes in batches:
        tally += _written(_ITEM_BYTES + len(head.run_id) + batch_bytes)
    log_bytes = sum(batch_bytes for _, batch_bytes in batches)
    writes = 1 + is_worth_marking(signals)
    for signal in signals:
        signal_bytes = _ITEM_BYTES + len(head.run_id) + 2 * len(signal.identity) + len(signal.body)
        tally += Tally(write_units=writes * _units(signal_bytes, _WRITE_BYTES))
        if body_of(signal).get("handle") != TIMEOUT:
            tally += _answer(_written(size, _MOVES if signal.identity in seen.dated else _ENTERS), log_bytes)
    if snapshot is not None:
        tally += _written(_ITEM_BYTES + len(head.run_id) + len(snapshot))
    return tally


def _start(head: RunHead, size: int) -> Tally:
    separate = _inputs_bytes(head.inputs)[1]
    tally = _written(size, 2) + _request(Tally(read_units=_READS_PER_START), _READS_PER_START + 1)
    return tally + _written(_ITEM_BYTES + len(head.run_id) + separate) if separate else tally


def _request(more: Tally, requests: int) -> Tally:
    """One invocation for an HTTP request, which sends a hint."""
    took_ms = requests * REQUEST_MS
    api = Tally(http_requests=1, invocations=1, queue_requests=1, lambda_ms=took_ms, lambda_mb_ms=took_ms * API_MB)
    return api + more


def _sessions(
    head: RunHead, size: int, batches: Sequence[tuple[int, int]], seen: Seen, ended: bool, answers: int
) -> Tally:
    """Leases, releases, loads and messages. A run that waits for answers only is removed from the index of due runs."""
    count = min(head.epoch, MAX_ESTIMATED_SESSIONS)
    tally = Tally(schedules=seen.schedules, queue_requests=seen.schedules + seen.hand_overs + 2 * count, invocations=count)
    rests = count - ended - (head.owner is not None)  # parked or handed over
    granted = 1 + answers + seen.hand_overs if count else 0  # in the write that created, answered or handed over the run
    passed_on = min(rests, seen.hand_overs)
    leaves = min(rests - passed_on, len({*seen.pauses} - seen.dated))
    for number in range(count):
        leased = Tally() if number < granted else _written(size)
        tally += leased + Tally(read_units=_READS_PER_SESSION)
    for number in range(rests - passed_on):
        tally += _written(size, _LEAVES if number < leaves else _MOVES) + Tally(read_units=1)
    for number in range(passed_on):
        tally += _written(size, int(number == 0))  # the first one changes the status
    if ended:
        tally += _written(size, _LEAVES + 1)
    for epoch, before in _loads(batches).items():
        if epoch > 1:
            tally += Tally(read_units=_READS_PER_LOAD + _units(before, _READ_BYTES))
    took_ms = seen.node_ms + REQUEST_MS * (len(batches) + 4 * count)
    return tally + Tally(lambda_ms=took_ms, lambda_mb_ms=took_ms * RUNNER_MB)


def _loads(batches: Sequence[tuple[int, int]]) -> Mapping[int, int]:
    """The size of the log, in bytes, at the first write of each epoch."""
    before: dict[int, int] = {}
    size = 0
    for epoch, batch_bytes in batches:
        before.setdefault(epoch, size)
        size += batch_bytes
    return before


def _answer(touched: Tally, log_bytes: int) -> Tally:
    """An answer or a cancel request: the log is read and, for `touched`, the run is made due before the signal is put."""
    reads = Tally(read_units=_READS_PER_ANSWER + _units(log_bytes, _READ_BYTES))
    return touched + _request(reads, _READS_PER_ANSWER + 3)


def head_bytes(head: RunHead) -> int:
    """Returns the size of a header's item while its lease is held, accurate to about sixty bytes."""
    texts = (head.run_id, head.run_id, head.workflow_id, head.version, head.status)
    return _HEAD_BYTES + sum(len(text.encode()) for text in texts) + len(head.meta) + _inputs_bytes(head.inputs)[0]


def _inputs_bytes(inputs: bytes) -> tuple[int, int]:
    """How many bytes of the inputs are in the header, and how many in a separate item."""
    if len(inputs) <= _INLINE_BYTES:
        return len(inputs), 0
    packed = len(zlib.compress(inputs))
    return (packed, 0) if packed <= _INLINE_BYTES else (64, packed)


def _written(size: int, index_units: int = 0) -> Tally:
    return Tally(write_units=_units(size, _WRITE_BYTES) + index_units, index_units=index_units)


def _units(size: int, unit_bytes: int) -> int:
    return max(1, -(-size // unit_bytes))
