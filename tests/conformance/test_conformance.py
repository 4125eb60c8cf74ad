"""The shared conformance cases, with their own runner: one test per case, and once more with other durations."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from shared_cases import CASES, RUNNER

from stepless.testing import simulate

SEEDS = 3


def by_id(cases: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in cases]


@pytest.mark.parametrize("case", by_id(CASES))
def test_a_case_comes_out_as_written(case: dict[str, Any]) -> None:
    problems, _ = RUNNER.run_case(simulate, case)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("reload", ["log", "snapshot"])
def test_no_case_notices_that_its_run_is_loaded_again_after_every_decision(reload: str) -> None:
    problems = {case["id"]: RUNNER.run_case(partial(simulate, reload=reload), case)[0] for case in CASES}
    assert not {identity: found for identity, found in problems.items() if found}


def test_no_status_depends_on_who_finishes_first() -> None:
    problems = {}
    for case in CASES:
        if not case.get("timing") and "publish_error" not in case["expect"]:
            _, simulation = RUNNER.run_case(simulate, case)
            problems[case["id"]] = RUNNER.run_seeds(simulate, case, simulation, SEEDS)
    assert not {identity: found for identity, found in problems.items() if found}
