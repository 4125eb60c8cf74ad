"""Every reader of the tables of statuses consumes every row."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from stepless.cli.terminal import formatting, live, progress
from stepless.cli.terminal.timeline import ASCII, Glyphs
from stepless.core.events import ROWS, statuses_of
from stepless.core.state import RUN_TERMINAL, TERMINAL, RunStatus, Status
from stepless.errors import DamagedLog, NewerLog
from stepless.model.runs.statuses import ENDED, NODE_STATUSES, RUN_STATUSES, SETTLED, STORED, Tone
from stepless.runtime.verbs.starts.admission import _LIVE

ROOT: Final = Path(__file__).resolve().parents[2]
UNREADABLE: Final = {DamagedLog.code, NewerLog.code}


def test_the_state_of_a_run_has_each_status() -> None:
    assert [status.value for status in Status] == list(NODE_STATUSES)
    assert {status.value for status in RunStatus} == set(STORED) - UNREADABLE
    assert {status.value for status in TERMINAL} == SETTLED
    assert {status.value for status in RUN_TERMINAL} == ENDED


def test_a_run_that_has_not_ended_counts_as_active() -> None:
    assert set(_LIVE) == set(STORED) - ENDED - UNREADABLE


def test_an_event_leads_to_a_status() -> None:
    assert {*statuses_of("node").values()} == set(NODE_STATUSES) - {"pending"}, "what begins as pending, no event says"
    assert ENDED < {*statuses_of("run").values()} <= set(STORED)
    assert {row.status for row in ROWS.values()} - {*NODE_STATUSES, *RUN_STATUSES} == {""}


@pytest.mark.parametrize("glyphs", [Glyphs(), ASCII], ids=["unicode", "ascii"])
def test_a_terminal_has_a_mark_for_each(glyphs: Glyphs) -> None:
    assert all(len(glyphs.mark(name)) == 1 for name in NODE_STATUSES)
    assert {"?"} & {glyphs.mark(name) for name in NODE_STATUSES} == set()


def test_each_tone_has_a_colour() -> None:
    assert set(formatting._COLOURS) == set(live._STYLES) == set(Tone)


def test_the_tree_of_the_command_line_knows_what_goes_on() -> None:
    assert {"pending", *SETTLED, *progress.LIVE} == set(NODE_STATUSES)


def test_the_console_draws_each_tone() -> None:
    source = (ROOT / "console/src/ui/status.tsx").read_text("utf-8")
    styles = (ROOT / "console/src/ui/status.css").read_text("utf-8")
    tones = set(Tone) - {Tone.NEW}  # as quiet ones
    declared = re.search(r"export type Tone = (.*);", source)
    assert declared is not None
    assert set(re.findall(r'"(\w+)"', declared[1])) == tones
    assert {tone for tone in tones if f".status.{tone}" not in styles} == set()


def test_each_status_is_documented() -> None:
    text = (ROOT / "docs/understand/semantics.md").read_text("utf-8")
    assert {name for name in (*RUN_STATUSES, *NODE_STATUSES) if f"`{name}`" not in text} == set()
