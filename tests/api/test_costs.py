"""Bills over HTTP; every response is checked against /openapi.json."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.model.runs.tally import Tally, encode_tally

pytestmark = pytest.mark.anyio


async def test_a_bill_holds_its_arithmetic_and_what_others_ask(door: Any) -> None:
    run_id = await door.start(door.ECHO, {"a": 1})
    await door.end(run_id)
    bill = (await door.ask.get(f"/runs/{run_id}/cost")).json()
    assert (bill["run_id"], bill["workflow"], bill["status"]) == (run_id, "echo", "completed")
    assert bill["basis"] == "estimated from the log"
    for sheet in (bill, *bill["beside"]):
        for line in sheet["lines"]:
            assert line["usd_per_million_runs"] == pytest.approx(line["count"] * line["usd"] / line["per"] * 1e6, abs=1e-4)
    assert [other["name"] for other in bill["beside"]] == ["Step Functions Standard", "Lambda durable functions"]


async def test_what_was_counted_is_what_is_billed(door: Any) -> None:
    run_id = await door.start(door.ECHO, {"a": 1})
    await door.end(run_id)
    store = door.local.world.store
    lease = store.take_lease(run_id, "test", 2**40, 2**40)
    store.update_run(lease, 2**40, release=True, spent=encode_tally(Tally(write_units=9)))
    bill = (await door.ask.get(f"/runs/{run_id}/cost")).json()
    assert (bill["basis"], bill["usd_per_million_runs"]) == ("counted", pytest.approx(9 * 0.625, abs=0.01))


async def test_a_run_that_is_not_there_has_no_bill(door: Any) -> None:
    answer = await door.ask.get("/runs/run_none/cost")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_run")


async def test_a_bill_is_not_for_strangers(door: Any) -> None:
    assert (await door.stranger.get("/runs/run_none/cost")).status_code == 401
