"""Runs with `distributed` nodes end with the results of an undisturbed run, and the simulation finds planted bugs."""

from __future__ import annotations

import pytest
from episode import Failed
from mutants_shards import MUTANTS, planted
from sharded import GROUNDS, ShardsEpisode

SEEDS = 6
WITHIN = 60  # seeds, a planted bug is found


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("number", range(SEEDS))
def test_faults_do_not_show_in_the_results(number: int, ground: str) -> None:
    ShardsEpisode(number, GROUNDS[ground]).go()


@pytest.mark.parametrize("bug", MUTANTS)
def test_a_planted_bug_is_found(bug: str) -> None:
    fan, bugs = MUTANTS[bug]
    with planted(bugs):
        for number in range(WITHIN):
            try:
                ShardsEpisode(number, GROUNDS["memory"], fan).go()
            except Failed:
                return
    pytest.fail(f"no world of {WITHIN} shows it")
