"""Reads and writes the log of one run. Large values are stored as blobs, by run and content hash."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from stepless.core.events import RUN_ENDS, Event
from stepless.core.fold import fold
from stepless.core.state import State
from stepless.core.stored.codec import decode_batch, encode_batch
from stepless.core.stored.snapshot import decode_state, encode_state
from stepless.errors import AppendConflict, DamagedLog, EngineBug, LimitExceeded, LogUnreadable
from stepless.limits import (
    INLINE_VALUE_BYTES,
    MAX_BATCH_BYTES,
    MAX_BATCH_EVENTS,
    MAX_RESULT_BYTES,
    PREVIEW_CHARACTERS,
    READ_BYTES,
    SNAPSHOT_TAIL_BYTES,
    SUMMARY_VALUE_BYTES,
)
from stepless.model.graph import Graph
from stepless.model.stored.packing import PACK_BYTES, pack
from stepless.ports import Batch, Blobs, Store

_TAKEN_OVER = frozenset({"reused", "kept"})  # from another run, where each value passed the limit
_SPILLED = frozenset({"output", "inputs", "response", "variables", "answer", "data", "reused", "kept"})


class RunLog:
    """The log of one run. A runner writes with the epoch of its lease; a reader has epoch 0. `writer` distinguishes the first
    batches of several runners with the same epoch; empty if there can be only one."""

    def __init__(self, store: Store, blobs: Blobs, run_id: str, epoch: int = 0, writer: str = "") -> None:
        self._store = store
        self._blobs = blobs
        self.run_id = run_id
        self.epoch = epoch
        self._writer = writer
        self.tail_bytes = 0  # written since the last snapshot
        self._snapshot_bytes = 0
        self.has_snapshot = False  # whether `load` has found one or `save_snapshot` has stored one

    def append(self, events: Sequence[Event]) -> None:
        """Writes like `write`, for events that are not encoded yet."""
        self.write(self.encoded(events))

    def write(self, batches: Sequence[Batch]) -> None:
        """Commits batches in order. May be repeated. Raises `AppendConflict` if another runner has written in the meantime; the
        remaining batches are then not written."""
        for batch in batches:
            try:
                self._store.append(self.run_id, batch)
            except AppendConflict:
                existing = self._store.read_log(self.run_id, batch.first - 1, limit_bytes=1)
                if not existing or existing[0] != batch:
                    raise
                # an earlier try wrote this batch and its answer was lost: no other writer has this epoch and these bytes
            self._writer = ""
            self.tail_bytes += len(batch.data)

    @property
    def is_fenced(self) -> bool:
        """Whether no other process can append under this lease: always, unless the lease was granted and nothing has been written
        under it. Several processes may have received it, and the first append decides which of them holds it."""
        return not self._writer

    def encoded(self, events: Sequence[Event]) -> Sequence[Batch]:
        """Returns the events in order, in as few batches as MAX_BATCH_EVENTS and MAX_BATCH_BYTES allow."""
        if len(events) <= MAX_BATCH_EVENTS:
            return self._fitting(events) if events else []
        batches: list[Batch] = []
        for first in range(0, len(events), MAX_BATCH_EVENTS):
            batches += self._fitting(events[first : first + MAX_BATCH_EVENTS])
        return batches

    def _fitting(self, events: Sequence[Event]) -> Sequence[Batch]:
        data = encode_batch(events, writer=self._writer)
        if len(data) > INLINE_VALUE_BYTES or "steps" in events[-1].data:  # else no value in it can be large
            spilled = [self._spilled(event) for event in events]
            data = encode_batch(spilled, writer=self._writer) if spilled != events else data
        data = pack(data) if len(data) > PACK_BYTES else data
        if len(data) > MAX_BATCH_BYTES:
            if len(events) == 1:
                place = f"{self.run_id}#{events[0].sequence}"
                raise LimitExceeded(f"one event takes {len(data):,} bytes, more than a batch may hold", place=place)
            middle = len(events) // 2
            return [*self._fitting(events[:middle]), *self._fitting(events[middle:])]
        return [Batch(events[0].sequence, events[-1].sequence, data, self.epoch)]

    def load(self, graph: Graph, *, unsaved: bool = False) -> State:
        """Returns the state after the last committed event: the newest snapshot plus the events after it. `unsaved` says that
        there is none, which saves the request for it."""
        snapshot = None if unsaved else self._store.get_snapshot(self.run_id)
        self.has_snapshot = snapshot is not None
        state = decode_state(snapshot[1], graph, self.run_id) if snapshot is not None else None
        if snapshot is not None and state is not None:
            self._snapshot_bytes = len(snapshot[1])
        if state is None:
            state = State(graph, self.run_id)
        self.catch_up(state)
        return state

    def catch_up(self, state: State) -> None:
        """Folds the events committed since into `state`. Raises as `replay` does."""
        self.replay(partial(_folded, state), state.sequence)

    def replay(self, take: Callable[[Event], bool | None], after: int = 0) -> None:
        """Passes every event above `after` to `take`, in order, until it returns True. Raises `LogUnreadable`, also for events
        that can be decoded but do not follow from those before them."""
        for event in self.read(after):
            try:
                if take(event):
                    return
            except (EngineBug, LookupError, TypeError, ValueError, AttributeError) as error:
                raise self.misfit(event, error) from error

    def misfit(self, event: Event, error: Exception) -> DamagedLog:
        """Returns the error for an event that can be decoded but is not possible in this run."""
        why = f"event {event.sequence:,} does not follow from those before it ({error})"
        return DamagedLog(why, sequence=event.sequence, run_id=self.run_id)

    def check_end(self, sequence: int, known: int) -> None:
        """Raises `DamagedLog` if the log ends at `sequence` although the header reports event `known`."""
        if sequence < known:
            why = f"events {sequence + 1:,} to {known:,} are missing"
            raise DamagedLog(why, sequence=sequence + 1, run_id=self.run_id)

    def event(self, number: int) -> Event:
        """Returns one event that the log is known to have. Raises `LogUnreadable`."""
        for event in self.read(number - 1, stride_bytes=1):
            return event
        raise DamagedLog(f"event {number:,} is missing", sequence=number, run_id=self.run_id)

    def read(
        self, after: int = 0, *, whole: bool = True, stride_bytes: int = READ_BYTES, named: bool = False
    ) -> Iterator[Event]:
        """Events above `after`, in order, to the current end of the log, fetched about `stride_bytes` at a time. Unless `whole`,
        blobs are not read: the events have `previews` in place of large values. `named`: as they are stored, with the keys of
        blobs. Raises `LogUnreadable`."""
        for batch in self._batches(after, stride_bytes):
            self.tail_bytes += len(batch.data)
            for event in self._decoded(batch, after):
                if event.sequence > after:
                    yield event if named else self._restored(event, batch.first) if whole else _previewed(event)
            after = max(after, batch.last)

    def _batches(self, after: int, stride_bytes: int = READ_BYTES) -> Iterator[Batch]:
        """The batches with events above `after`. A read after which another batch would have had room was the last."""
        while batches := self._store.read_log(self.run_id, after, limit_bytes=stride_bytes):
            yield from batches
            after = max(after, batches[-1].last)
            if sum(len(batch.data) for batch in batches) + MAX_BATCH_BYTES <= stride_bytes:
                return

    def _decoded(self, batch: Batch, after: int) -> Sequence[Event]:
        """The events of the batch that contains event `after` + 1."""
        if batch.first > after + 1:
            raise DamagedLog(f"events {after + 1:,} to {batch.first - 1:,} are missing", sequence=after + 1, run_id=self.run_id)
        try:
            events = decode_batch(batch.data, batch.first)
        except LogUnreadable as error:
            raise error.of(self.run_id) from error
        if len(events) != batch.last - batch.first + 1:
            why = f"the batch to event {batch.last:,} holds {len(events):,}"
            raise DamagedLog(why, sequence=batch.first, run_id=self.run_id)
        return events

    def blob_of(self, digest: str, *, last: int) -> str | None:
        """Returns the key of the blob with this hash, if an event of the log has its value there. The batch of event `last` is
        searched first, since the last event of a run holds most of the requested values. Raises `LogUnreadable`."""
        keys = (key for after in (max(0, last - 1), 0) for key in self.blob_keys(after))
        return next((key for key in keys if key.rpartition("/")[2] == digest), None)

    def blob_keys(self, after: int = 0) -> Iterator[str]:
        """Yields the keys of the blobs that the batches with events above `after` refer to."""
        for batch in self._batches(after):
            for event in self._decoded(batch, after):
                yield from (blob for blob, _ in event.data.get("blobs", {}).values())
            after = max(after, batch.last)

    def save_snapshot(self, state: State) -> None:
        """Stores a snapshot if the log since the last one is at least as long as that snapshot. So the total cost of snapshots is
        linear in the log."""
        if self.tail_bytes < max(SNAPSHOT_TAIL_BYTES, self._snapshot_bytes):
            return
        data = encode_state(state)
        self._store.put_snapshot(self.run_id, state.sequence, data)
        self._snapshot_bytes = len(data)
        self.has_snapshot = True
        self.tail_bytes = 0

    # -- large values -----------------------------------------------------------------------------------------------

    def _spilled(self, event: Event) -> Event:
        """The event with each large value replaced by a blob key and a preview. Large means above INLINE_VALUE_BYTES, or above
        SUMMARY_VALUE_BYTES in the summary of a run. A summary has no size limit: its values passed the limit before."""
        summary = event.type in RUN_ENDS
        inline = SUMMARY_VALUE_BYTES if summary else INLINE_VALUE_BYTES
        spilled: dict[str, list[str]] = {}
        for name, value in event.data.items():
            if name in _SPILLED and isinstance(value, str | list | dict) and may_be_large(value, inline // 6):
                text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
                data = text.encode("utf-8", "surrogatepass")
                if len(data) > MAX_RESULT_BYTES and not summary and name not in _TAKEN_OVER:
                    raise LimitExceeded(f"{name} takes {len(data):,} bytes", place=event.instance or self.run_id)
                if len(data) > inline:
                    spilled[name] = [self._blobs.put(data, self.run_id), text[:PREVIEW_CHARACTERS]]
        if not spilled:
            return event
        kept = {name: value for name, value in event.data.items() if name not in spilled}
        return Event(event.sequence, event.type, event.at_ms, event.instance, event.parent, {**kept, "blobs": spilled})

    def _restored(self, event: Event, first: int) -> Event:
        spilled: Mapping[str, Sequence[str]] | None = event.data.get("blobs")
        if not spilled:
            return event
        values: dict[str, Any] = {name: value for name, value in event.data.items() if name != "blobs"}
        for name, (key, _) in spilled.items():
            data = self._blobs.get(key)
            if data is None:
                raise DamagedLog(f"the blob {key} of {name} is missing", sequence=first, run_id=self.run_id)
            try:
                values[name] = json.loads(data.decode("utf-8", "surrogatepass"))
            except (ValueError, RecursionError) as error:
                raise DamagedLog(f"the blob {key} of {name} is not JSON", sequence=first, run_id=self.run_id) from error
        return Event(event.sequence, event.type, event.at_ms, event.instance, event.parent, values)


def _folded(state: State, event: Event) -> None:
    fold(state, event)
    state.notes.clear()


def _previewed(event: Event) -> Event:
    spilled: Mapping[str, Sequence[str]] | None = event.data.get("blobs")
    if not spilled:
        return event
    kept = {name: value for name, value in event.data.items() if name != "blobs"}
    previews = {name: preview for name, (_, preview) in spilled.items()}
    return Event(event.sequence, event.type, event.at_ms, event.instance, event.parent, {**kept, "previews": previews})


def previewed(event: Event) -> Event:
    """Returns an event that was read whole, with `previews` in place of the values that are too large for the log itself."""
    previews = {name: text for name in _SPILLED & event.data.keys() if (text := _preview(event.data[name]))}
    if not previews:
        return event
    kept = {name: value for name, value in event.data.items() if name not in previews}
    return Event(event.sequence, event.type, event.at_ms, event.instance, event.parent, {**kept, "previews": previews})


def _preview(value: Any) -> str:
    """The first characters of a value above INLINE_VALUE_BYTES, as JSON; empty for a smaller value."""
    if not isinstance(value, str | list | dict) or not may_be_large(value):
        return ""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text[:PREVIEW_CHARACTERS] if len(text.encode("utf-8", "surrogatepass")) > INLINE_VALUE_BYTES else ""


def may_be_large(value: Any, floor: int = INLINE_VALUE_BYTES // 6) -> bool:
    """Returns whether a value could take more than INLINE_VALUE_BYTES: a cheap estimate that stops early. One character takes at
    most six bytes as JSON."""
    if type(value) is str:
        return len(value) > floor
    size, stack = 0, [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            size += len(item)
        elif isinstance(item, list):
            size += len(item)
            stack.extend(item)
        elif isinstance(item, dict):
            size += len(item)
            stack.extend(item.keys())
            stack.extend(item.values())
        else:
            size += 4
        if size > floor:
            return True
    return False

