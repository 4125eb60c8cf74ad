"""Bills: counts times prices, line by line."""

from __future__ import annotations

import pytest

from stepless.model.runs.prices import Line, Work, bill, durable_functions, step_functions, usd
from stepless.model.runs.tally import Tally

TALLY = Tally(
    write_units=18, index_units=4, read_units=4, queue_requests=3, http_requests=1, invocations=2, lambda_ms=100,
    lambda_mb_ms=51_200,
)  # fmt: skip


def shown(lines: tuple[Line, ...]) -> dict[str, tuple[float, float]]:
    """Unit → count of one run, USD of a million."""
    return {line.price.unit: (line.count, round(line.usd * 1_000_000, 6)) for line in lines}


def test_every_line_is_its_count_times_its_price() -> None:
    assert shown(bill(TALLY)) == {
        "DynamoDB write units": (18, 11.25),
        "DynamoDB read units": (4, 0.5),
        "SQS requests": (3, 1.2),
        "HTTP API requests": (1, 1.0),
        "Lambda requests": (2, 0.4),
        "Lambda GB-s": (0.05, 0.66667),
    }
    assert usd(bill(TALLY)) * 1_000_000 == pytest.approx(15.01667)


def test_a_bill_names_what_was_used_and_nothing_else() -> None:
    assert bill(Tally()) == ()
    assert set(shown(bill(Tally(schedules=1, blob_writes=2, blob_reads=3)))) == {"Scheduler schedules", "S3 writes", "S3 reads"}
    assert usd(bill(Tally(blob_writes=1))) == pytest.approx(5e-6)


def test_notes_tell_what_a_count_is_made_of() -> None:
    notes = {line.price.unit: line.note for line in bill(TALLY)}
    assert notes["DynamoDB write units"] == "4 of them for indexes"
    assert notes["Lambda GB-s"] == "100 ms at 512 MB"


def test_step_functions_bill_the_start_and_every_attempt() -> None:
    assert shown(step_functions(Work(attempts=10, steps=10, waits=0, output_bytes=5_000))) == {"state transitions": (11, 275)}


def test_durable_functions_bill_operations_bytes_and_the_same_time() -> None:
    lines = durable_functions(Work(attempts=4, steps=1, waits=2, output_bytes=1_000_000), TALLY)
    assert shown(lines) == {
        "durable operations": (4, 32),
        "durable bytes": (1_000_000, 250),
        "Lambda requests": (2, 0.4),
        "Lambda GB-s": (0.05, 0.66667),
    }
    assert lines[0].note == "the run, 1 step, 2 waits"
