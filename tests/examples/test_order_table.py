from __future__ import annotations

import csv
import json
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

from stepless import run

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "order-table"
ROWS = 1_500


@pytest.fixture
def folder(tmp_path: Path, example: Any) -> Path:
    """The example in a folder of its own, with a table in which one row of a hundred is bad."""
    example("order-table", "orders")
    copy(EXAMPLE / "workflow.yaml", tmp_path)
    with (tmp_path / "orders.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "quantity", "price", "note"])
        for number in range(ROWS):
            fields = [number, number % 100 or "", 2.5, 'a "note"\nof two lines']
            table.writerow(fields[:2] if number == 250 else fields)
    return tmp_path


def rows_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_row_is_checked_and_the_bad_ones_are_listed(folder: Path) -> None:
    result = run(folder / "workflow.yaml", {"table": "orders.csv"})
    report = result.outputs["report"]
    assert (result.status, report["checked"], report["failed"]) == ("completed", ROWS - 16, 16)
    (manifest,) = rows_of(folder / report["manifest"])
    rows = [row for part in manifest["parts"] for row in rows_of(folder / part["key"])]
    assert [row["index"] for row in rows] == list(range(ROWS))
    assert {row["result"] for row in rows if row["index"] % 100 == 4} == {10.0}
    failures = rows_of(folder / manifest["failures"])
    assert [row["index"] for row in failures] == sorted([*range(0, ROWS, 100), 250])
    assert failures[3]["error"]["code"] == "bad_row" and failures[3]["error"]["message"].startswith("line 502: ")
    assert failures[1]["error"]["code"] == "no_quantity"


def test_too_many_bad_rows_stop_the_run(folder: Path) -> None:
    (folder / "orders.csv").write_text("id,quantity,price\n1,2,3\n4,5\n")
    result = run(folder / "workflow.yaml", {"table": "orders.csv"})
    assert result.status == "failed" and result.nodes["each"].error["code"] == "too_many_failures"
