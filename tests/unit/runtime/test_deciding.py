"""Deciding: an answer counts as it was given, whenever a runner processes it."""

from __future__ import annotations

from typing import Any

ASK = {"ask": {"type": "approval", "with": {"message": "Go on?"}}}


def test_a_decision_is_of_when_the_person_decided_also_when_the_runner_came_later(machine: Any) -> None:
    run_id = machine.start(ASK)
    machine.drain()
    machine.clock.advance(5_000)
    decided = machine.service.answer_pause(run_id, "ask", "approved", {}, "Ada")
    machine.clock.advance(900_000)
    machine.drain()
    output = machine.view(run_id).outputs["ask"]
    assert (output["decision"], output["by"]) == ("approved", "Ada")
    assert output["at"] == "2023-11-14T22:13:25.000Z"
    assert decided["at"] == 1_700_000_005_000
