"""Every reader of a log consumes every type of event, or names it among those that it leaves out."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

import pytest

from stepless.cli.terminal import live, progress
from stepless.client import calls
from stepless.core import fold
from stepless.core.events import NODE_ENDS, NODE_FAILURES, ROWS, RUN_ENDS, EventType
from stepless.core.history import spans, tags

ROOT: Final = Path(__file__).resolve().parents[2]
T = EventType
_SAID: Final = frozenset({T.NODE_LOG, T.NODE_DELTA, T.MODERATION_FLAGGED, T.CONTRACT_VIOLATED, T.HEARTBEAT})


def quoted(*files: str) -> Callable[[], set[EventType]]:
    """The types that source files name in quotes."""

    def read() -> set[EventType]:
        text = "\n".join((ROOT / file).read_text("utf-8") for file in files)
        return {type for type in EventType if f'"{type.value}"' in text}

    return read


def module(of: object) -> str:
    return str(Path(str(of.__file__)).relative_to(ROOT))  # type: ignore[attr-defined]


# A reader that takes more than ROWS has: what it consumes, and what it leaves out on purpose.
READERS: Final[dict[str, tuple[Callable[[], Collection[EventType]], Collection[EventType]]]] = {
    "the fold: these do not change the state": (
        lambda: {*fold._RUN_FOLDS, *fold.NODE_FOLDS},
        {T.HEARTBEAT, T.LOOP_COMPLETED, T.MODERATION_FLAGGED, T.CONTRACT_VIOLATED},
    ),
    "tags: these are no transitions of an instance": (
        lambda: {*tags._TAGS, T.RUN_COMPLETED},
        {
            T.RUN_STARTED, T.RUN_STATUS_CHANGED, T.RUN_FAILED, T.RUN_CANCELLED, T.RUN_TIMED_OUT, T.RUN_RECOVERED, T.RUN_CONTINUED,
            T.HEARTBEAT, T.MESSAGE_RECEIVED, T.NODE_QUEUED, T.NODE_WAITING,
            T.NODE_RESUMED, T.NODE_DELTA, T.NODE_LOG, T.NODE_SKIPPED, T.LOOP_STARTED,
            T.LOOP_NEXT, T.LOOP_COMPLETED,
        },
    ),
    "spans: these neither open nor end one": (
        lambda: spans.SPANNED,
        {*_SAID, T.MESSAGE_RECEIVED, T.NODE_QUEUED, T.LOOP_STARTED, T.LOOP_NEXT, T.LOOP_COMPLETED},
    ),
    "the tree of the command line: these change no row of it": (
        lambda: {*quoted(module(progress))(), *NODE_ENDS, T.RUN_STATUS_CHANGED, T.LOOP_COMPLETED},
        {T.RUN_RECOVERED, T.RUN_CONTINUED, T.MESSAGE_RECEIVED, T.HEARTBEAT, T.MODERATION_FLAGGED, T.CONTRACT_VIOLATED},
    ),
    "the lines of the command line: of these, the type and the node say all": (
        lambda: {type for type in EventType if type.value in live._TEXTS},
        {
            T.RUN_STARTED, T.RUN_COMPLETED, T.RUN_CANCELLED, T.RUN_RECOVERED, T.RUN_CONTINUED, T.HEARTBEAT, T.NODE_QUEUED,
            T.NODE_RESUMED, T.NODE_DELTA, T.NODE_SKIPPED, T.LOOP_STARTED, T.LOOP_COMPLETED, T.MODERATION_FLAGGED,
            T.CONTRACT_VIOLATED,
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_consumes_each_type_or_leaves_it_out(reader: str) -> None:
    consumed, left_out = READERS[reader][0](), READERS[reader][1]
    assert set(EventType) - {*consumed} - {*left_out} == set(), f"{reader}: consume it, or name it here"
    assert {*consumed} & {*left_out} == set(), f"{reader}: it is consumed"


def test_each_type_has_a_row_and_a_code_of_its_own() -> None:
    assert list(ROWS) == list(EventType)
    assert len({row.code for row in ROWS.values()}) == len(ROWS)


def test_the_ends_follow_from_the_statuses() -> None:
    assert {T.RUN_COMPLETED, T.RUN_FAILED, T.RUN_CANCELLED, T.RUN_TIMED_OUT} == RUN_ENDS
    assert {T.NODE_FAILED, T.NODE_TIMED_OUT, T.NODE_BLOCKED, T.NODE_INVALIDATED} == NODE_FAILURES
    assert NODE_FAILURES < NODE_ENDS


def test_the_client_names_types_that_there_are() -> None:
    """It knows nothing of the engine, so it writes them itself."""
    assert {type.value for type in RUN_ENDS} == calls.RUN_ENDS
    assert set(map(EventType, calls._CHANGES)) == {T.RUN_STATUS_CHANGED, T.NODE_WAITING}


def test_each_type_is_documented() -> None:
    text = (ROOT / "docs/understand/semantics.md").read_text("utf-8")
    named = set(re.findall(r"`((?:run|node|loop|moderation|contract|message)\.[\w.]+|heartbeat)`", text))
    assert {type.value for type in EventType} - named == set()
