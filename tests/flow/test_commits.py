"""A compiled workflow needs no more commits than the document that a person writes for it by hand."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from fifteen import LOG
from killing import Killing
from twins import TWINS, Twin


def commits(document: Any, given: Any, answer: Any) -> tuple[int, list[Any]]:
    """The conditional appends to the log of one run, and the effects of the run."""
    LOG.clear()
    with closing(Killing(document, answer)) as runs:
        _, _, count = runs.run(given, None, False)
    return count, sorted(LOG, key=repr)


@pytest.mark.parametrize("twin", TWINS.values(), ids=TWINS)
def test_a_compiled_workflow_needs_no_more_commits_than_one_by_hand(twin: Twin) -> None:
    document = twin.flow.compile(lift="function").document
    for given in twin.inputs:
        for answer in twin.answers:
            compiled, effects = commits(document, given, answer)
            by_hand, others = commits(twin.by_hand, given, answer)
            assert effects == others
            assert compiled <= by_hand, f"{compiled} commits, {by_hand} by hand, for {given}"
            assert by_hand > 0
