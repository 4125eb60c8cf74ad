"""How a run's events are shown on a screen: rows, bars, lines that fit."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from stepless.cli.terminal.live import Tree
from stepless.cli.terminal.progress import Progress, duration
from stepless.cli.terminal.timeline import ASCII, MAX_ROWS, Glyphs, glyphs_for, timeline
from stepless.testing import simulate

INNER = {"type": "transform", "with": {"value": 1}}
NESTED = {
    "id": "nested",
    "nodes": {
        "start": {"type": "manual"},
        "all": {
            "type": "parallel",
            "after": "start",
            "with": {
                "items": list(range(40)),
                "on_error": "continue",
                "body": {"nodes": {"each": {"type": "loop", "with": {"times": 2, "body": {"nodes": {"inner": INNER}}}}}},
            },
        },
        "call": {"type": "function", "after": "start", "with": {"call": "x.y"}, "retry": {"attempts": 2, "backoff_ms": 100}},
        "ask": {"type": "approval", "after": "call", "with": {"message": "?"}},
        "yes": {"type": "join", "after": "ask.approved"},
        "no": {"type": "join", "after": "ask.rejected"},
    },
}
SCRIPT: dict[str, Any] = {
    "call": [{"fail": {"ms": 100, "cause": "timeout"}}, {"ok": {"ms": 300}}],
    "ask": {"human": {"resume_at": 1000, "handle": "approved"}},
    "inner@each[1]@all[39]": {"fail": {"ms": 5, "code": "broke"}},
}


@pytest.fixture(scope="module")
def progress() -> Progress:
    done = simulate(NESTED, script=SCRIPT)
    assert done.graph is not None
    progress = Progress(done.graph)
    progress.add(done.events)
    return progress


def test_rows_follow_the_document_with_turns_inside_their_container(progress: Progress) -> None:
    rows = [(depth, row.instance) for depth, row in progress.rows()]
    assert rows[:5] == [(0, "start"), (0, "all"), (1, "each@all[0]"), (2, "inner@each[0]@all[0]"), (2, "inner@each[1]@all[0]")]
    assert rows[-4:] == [(0, "call"), (0, "ask"), (0, "yes"), (0, "no")]


def test_work_and_waiting_are_told_apart(progress: Progress) -> None:
    call, ask = progress.row("call"), progress.row("ask")
    spans = [(span.waiting, (span.end_ms or 0) - span.start_ms) for span in call.spans]
    assert spans == [(False, 100), (True, 100), (False, 300)]
    assert (call.note, ask.note) == ("2 attempts", "→ approved")
    assert ask.elapsed_ms(progress.now_ms) == 500


def test_a_timeline_fits_its_width_and_keeps_what_matters(progress: Progress) -> None:
    lines = list(timeline(progress, 80))
    assert len(lines) == MAX_ROWS + 1
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert "inner [1]" in text and "broke" in text, "a failed iteration is never among those left out"
    assert "40 iterations" in text and "no " in text and lines[-1].startswith("… and ")


def test_a_bar_is_as_long_as_its_share_of_the_run(progress: Progress) -> None:
    ask = next(line for line in timeline(progress, 80) if line.startswith("ask"))
    waited = ask.count("░")
    width = next(line for line in timeline(progress, 80) if line.startswith("call")).rindex("█") + 1
    assert waited == pytest.approx((ask.rindex("░") + 1 - width) , abs=1) and waited > 12


def test_a_terminal_without_unicode_gets_plain_characters(progress: Progress) -> None:
    assert glyphs_for("latin-1") is ASCII and glyphs_for(None) is ASCII and glyphs_for("utf-8") is not ASCII
    assert all(line.isascii() for line in timeline(progress, 80, ASCII))


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0 ms"), (999, "999 ms"), (1_250, "1.25 s"), (12_340, "12.3 s"), (125_000, "2 m 05 s"), (3_780_000, "1 h 03 m"),
        (187_200_000, "2 d 4 h"),
    ],
)
def test_a_duration_reads_in_its_own_unit(ms: int, text: str) -> None:
    assert duration(ms) == text


def test_the_live_tree_is_never_taller_than_the_terminal(progress: Progress) -> None:
    screen = StringIO()
    console = Console(file=screen, width=80, height=14, force_terminal=True, color_system=None, highlight=False)
    tree = Tree(progress, "Nested", Glyphs(), lambda: progress.now_ms, console)
    tree.show(())
    tree.close()
    screen.truncate(0)
    tree.yield_terminal()
    lines = screen.getvalue().strip("\x00\n").split("\n")
    assert len(lines) <= 12 and max(map(len, lines)) <= 80
    assert "Nested  completed" in lines[0]
    assert any("✗ inner [1]" in line and "broke" in line for line in lines)
    assert not any("✓ inner" in line for line in lines), "the iterations of a container that is done are folded up"


def test_the_turns_of_each_attempt_of_a_container_are_counted_anew() -> None:
    body = {"nodes": {"w": {"type": "function", "with": {"call": "x.y"}}, "z": {**INNER, "after": "w"}}}
    loop = {"type": "loop", "retry": {"attempts": 2, "backoff_ms": 100}, "with": {"times": 3, "body": body}}
    done = simulate({"id": "again", "nodes": {"l": loop}}, script={"w@l[1]": {"fail": {"ms": 5, "cause": "timeout"}}})
    assert done.status == "completed"
    progress, seen = Progress(done.graph), []
    for event in done.events:
        progress.add([event])
        if event["type"] == "loop.next":
            seen.append(progress.row("l").summary)
    assert seen == ["iteration 1 of 3", "iteration 2 of 3", "iteration 1 of 3", "iteration 2 of 3", "iteration 3 of 3"]
    assert progress.row("l").summary == "3 iterations"
