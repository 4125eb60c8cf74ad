"""`validate` and `schedules list` tell what a schedule does when the clocks change."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from stepless.cli import main
from stepless.runtime.wiring.local import local

Write = Callable[[str, str], str]
CHANGE = re.compile(r"on \d{4}-\d\d-\d\d (the clocks skip 02:30: it does not fire then|02:30 comes twice: it fires once)")


def workflow(cron: str, timezone: str = "Europe/Berlin") -> str:
    return json.dumps({"id": "w", "nodes": {"tick": {"type": "schedule", "with": {"cron": cron, "timezone": timezone}}}})


def test_validate_warns_of_a_changed_hour_and_refuses_what_never_fires(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", write("w.json", workflow("30 2 * * *"))]) == 0
    told = "".join(capsys.readouterr())
    assert "[clock_change]" in told and CHANGE.search(told) and "in Europe/Berlin" in told
    assert main(["validate", write("w.json", workflow("30 4 * * *"))]) == 0
    assert "clock_change" not in "".join(capsys.readouterr())
    assert main(["validate", write("w.json", workflow("0 0 31 2 *"))]) == 2
    assert "[never_fires]" in "".join(capsys.readouterr())


def test_the_list_tells_the_next_change_of_the_clocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "runs.db")
    built = local(file)
    for name, cron in (("changed", "30 2 * * *"), ("even", "30 4 * * *")):
        built.service.publish({**json.loads(workflow(cron)), "id": name})
    built.close()
    assert main(["schedules", "list", "--db", file]) == 0
    told = capsys.readouterr().out
    (line,) = [line for line in told.splitlines() if CHANGE.search(line)]
    assert line.startswith("changed tick: ")
    assert main(["schedules", "list", "--db", file, "--json"]) == 0
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [sorted({each["kind"] for each in one["clock_changes"]}) for one in listed] == [["repeated", "skipped"], []]
