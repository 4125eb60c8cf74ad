from __future__ import annotations

from typing import Any


def test_the_report_is_written_though_the_figures_come_at_the_third_try(example: Any) -> None:
    _, run = example("nightly-report", "figures")
    result = run({"scheduled_at": "2026-01-28T01:15:00.000Z"})
    assert result.nodes["figures"].attempts == 3
    assert result.outputs == {"file": {"title": "Report of 2026-01-28", "total": 50, "best": "cups", "status": "written"}}


def test_a_night_without_figures_files_a_note_instead(example: Any) -> None:
    _, run = example("nightly-report", "figures")
    result = run({"scheduled_at": "2026-01-29T01:15:00.000Z"})
    assert (result.status, result.nodes["figures"].attempts) == ("completed", 4)
    filed = result.outputs["file"]
    assert (filed["title"], filed["status"]) == ("No report", "missing: connection_error")
    assert "2026-01-29" in filed["reason"]
