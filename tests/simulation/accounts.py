"""Accounts for every answer that senders got from real servers: what became of each message, as the stored runs say.

A message that was answered 202 was *read* by a node, or cancelled a run; or it is *unread* in the log or the inbox of a run; or
it is *kept*, because no run of its key has begun since. Anything else is *lost*. It is *doubled* if a log has it twice, if it was
read twice in a run, or if it asked for a start and two runs have it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from senders import Told

from stepless.core.events import RUN_ENDS, Event, EventType
from stepless.core.stored.codec import decode_batch
from stepless.model.runs.statuses import ENDED
from stepless.ports import RunFilter, RunHead, Store
from stepless.runtime import inbox
from stepless.runtime.messages.keys import RunKey, run_key_of

SLACK_MS: Final = 1_000  # around the instant at which a kept message expires
_FIELDS: Final = ("messages", "answered 202", "read", "unread", "kept", "lost", "doubled")


@dataclass
class Row:
    """What became of the messages of one sender. `refused` counts codes, `starts` the starts that were told a run."""

    messages: int = 0
    answered: int = 0
    read: int = 0
    unread: int = 0
    kept: int = 0
    starts: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)

    def __add__(self, other: Row) -> Row:
        return Row(
            self.messages + other.messages, self.answered + other.answered, self.read + other.read, self.unread + other.unread,
            self.kept + other.kept, self.starts + other.starts, self.refused + other.refused, self.lost + other.lost,
            self.doubled + other.doubled,
        )  # fmt: skip

    def cells(self) -> list[str]:
        codes = ", ".join(f"{code} {count}" for code, count in self.refused.most_common()) or "-"
        counts = (self.messages, self.answered, self.read, self.unread, self.kept)
        return [*map(str, (*counts, len(self.lost), len(self.doubled), self.starts)), codes]


def heads_in(store: Store) -> Iterator[RunHead]:
    cursor = None
    while True:
        page = store.list_runs(RunFilter(), limit=100, cursor=cursor)
        yield from page.items
        if (cursor := page.cursor) is None:
            return


class Runs:
    """All stored runs: which messages each has, and which it has read."""

    def __init__(self, store: Store) -> None:
        self.heads: dict[str, RunHead] = {}
        self.logged: defaultdict[str, list[str]] = defaultdict(list)  # by message: the runs that have it in their log
        self.read: defaultdict[str, list[str]] = defaultdict(list)  # by message: the runs that have read it
        self.waiting: defaultdict[str, list[str]] = defaultdict(list)  # by message: the runs that have it in their inbox
        self.by_key: defaultdict[RunKey, dict[int, str]] = defaultdict(dict)
        self._spans: dict[str, tuple[int, int | None]] = {}  # when a run began, and when it ended
        for head in heads_in(store):
            self._take(store, head)

    def _take(self, store: Store, head: RunHead) -> None:
        run_id = head.run_id
        self.heads[run_id] = head
        if (placed := run_key_of(head)) is not None:
            self.by_key[placed[0]][placed[1]] = run_id
        events: list[Event] = []
        after = 0
        while batches := store.read_log(run_id, after):
            events += [event for batch in batches for event in decode_batch(batch.data, batch.first)]
            after = batches[-1].last
        cancels = [str(event.data.get("why")) for event in events if event.type is EventType.RUN_STATUS_CHANGED]
        for event in events:
            if event.type is EventType.MESSAGE_RECEIVED:
                self.logged[event.data["id"]].append(run_id)
                if any(f"({event.data['id']})" in why for why in cancels):
                    self.read[event.data["id"]].append(run_id)
            elif event.type is EventType.NODE_RESUMED and "message" in event.data:
                self.read[event.data["message"]].append(run_id)
        for signal in store.read_inbox(run_id):
            if signal.kind == inbox.MESSAGE:
                self.waiting[signal.identity].append(run_id)
        if events:
            self._spans[run_id] = events[0].at_ms, events[-1].at_ms if events[-1].type in RUN_ENDS else None

    def has(self, run_id: str, message: str) -> bool:
        return run_id in self.logged[message] or run_id in self.waiting[message]

    def at_once(self) -> list[str]:
        """The keys of which two runs were at work at once."""
        found = []
        for run_key, runs in self.by_key.items():
            spans = [self._spans[runs[number]] for number in sorted(runs) if runs[number] in self._spans]
            if any(ended is None or ended > began for (_, ended), (began, _) in pairwise(spans)):
                found.append(f"{run_key.workflow_id} {run_key.key}")
        return found

    def still_live(self) -> Counter[str]:
        return Counter(head.workflow_id for head in self.heads.values() if head.status not in ENDED)


def row_of(told: Iterable[Told], runs: Runs) -> Row:
    """What became of what one sender sent."""
    row, by_id = Row(), defaultdict[str, list[Told]](list)
    for each in told:
        by_id[each.id].append(each)
    for id, answers in by_id.items():
        accepted = [each for each in answers if each.status in (200, 202)]
        row.refused.update(each.code for each in answers if each.code)
        if answers[0].how == "start":
            row.starts += bool(accepted)
            row.lost += [f"start {id}" for each in accepted if each.run not in runs.heads]
            row.doubled += [f"start {id}"] if len({each.run for each in accepted}) > 1 else []
            continue
        row.messages += 1
        if is_doubled(id, answers, runs):
            row.doubled.append(id)
        if not accepted:
            continue
        row.answered += 1
        if why := missing(id, accepted, runs):
            row.lost.append(f"{id} ({answers[0].how}): {why}")
        elif runs.read[id]:
            row.read += 1
        elif runs.logged[id] or runs.waiting[id]:
            row.unread += 1
        else:
            row.kept += 1
    return row


def is_doubled(id: str, answers: Sequence[Told], runs: Runs) -> bool:
    twice = max([0, *Counter(runs.logged[id]).values(), *Counter(runs.read[id]).values()]) > 1
    return twice or (answers[0].how == "begin" and len(set(runs.logged[id])) > 1)


def missing(id: str, accepted: Sequence[Told], runs: Runs) -> str:
    """What an answer promised and the stored runs do not hold; empty if they hold all of it."""
    if accepted[0].how == "begin":
        return "" if runs.logged[id] else "no run has it"
    for told in accepted:
        for run_id in told.delivered:
            if not runs.has(run_id, id):
                return f"not in {run_id}"
        if told.kept_until_ms is None:
            if not told.delivered:
                return "delivered to nobody"
            continue
        for run_id in runs.by_key[RunKey(told.workflow, told.key)].values():
            created_ms = runs.heads[run_id].created_ms
            if told.at_ms < created_ms < told.kept_until_ms - SLACK_MS and not runs.has(run_id, id):
                return f"kept, and not in {run_id}"
    return ""


def table(rows: Mapping[str, Row]) -> str:
    """The rows of all senders and their sum, as text in columns."""
    whole = {**rows, "sum": sum(rows.values(), Row())}
    lines = [["sender", *_FIELDS, "starts", "refused"], *([name, *row.cells()] for name, row in whole.items())]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines)
