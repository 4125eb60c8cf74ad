"""Does the simulation see anything at all? Each planted bug must be found, by a few hundred seeds at most."""

from __future__ import annotations

import pytest
from episode import Episode, Failed
from mutants import MUTANTS

pytestmark = pytest.mark.long

SEEDS = 300


@pytest.mark.parametrize("bug", MUTANTS)
def test_simulation_finds_a_planted_bug(bug: str) -> None:
    for number in range(SEEDS):
        try:
            Episode(number, MUTANTS[bug]).go()
        except Failed as found:
            assert f"seed {number}: Violation" in str(found)
            assert f"make simulate SEEDS=1 FROM={number} GROUND={MUTANTS[bug].ground.name}" in str(found)
            return
    pytest.fail(f"{SEEDS} seeds did not find: {bug}")
