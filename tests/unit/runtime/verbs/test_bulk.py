"""A bulk change continues with the next run when one run refuses the verb, or cannot be changed for the moment."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.errors import Conflict, SteplessError, StoreUnavailable
from stepless.ports import RunFilter, RunHead

APPROVAL = {"type": "approval", "with": {"message": "Go on?"}}


@pytest.mark.parametrize("error", [StoreUnavailable("gone for a moment"), Conflict("this run has ended", code="run_ended")])
def test_a_run_that_fails_in_the_middle_of_a_page_is_refused_and_the_others_are_changed(
    machine: Any, error: SteplessError
) -> None:
    first, second, third = (machine.start({"w": APPROVAL}) for _ in range(3))
    asked: list[str] = []

    def verb(head: RunHead) -> str:
        asked.append(head.run_id)
        if head.run_id == second:
            raise error
        return f"done {head.run_id}"

    swept = machine.service.each_run(verb, RunFilter(workflow_id="small"))
    assert sorted(asked) == sorted([first, second, third])
    assert set(swept.changed) == {first, third}
    assert set(swept.done) == {f"done {first}", f"done {third}"}
    assert [(one.run_id, one.code, one.message) for one in swept.refused] == [(second, error.code, error.message)]
    assert swept.matched == 3


def test_an_error_of_the_engine_itself_ends_the_page(machine: Any) -> None:
    machine.start({"w": APPROVAL})

    def verb(head: RunHead) -> str:
        raise AssertionError(head.run_id)

    with pytest.raises(AssertionError):
        machine.service.each_run(verb, RunFilter(workflow_id="small"))
