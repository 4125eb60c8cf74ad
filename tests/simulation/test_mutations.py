"""The simulation finds bugs: each planted bug must be found, by a few hundred seeds at most."""

from __future__ import annotations

import pytest
from episode import Episode, Failed
from mutants import MUTANTS

pytestmark = [pytest.mark.nightly, pytest.mark.long]

SEEDS = 300
TRIED_FIRST = {  # seeds that find a bug whose search takes seconds
    "a dead letter's run is never looked at again": 58,
    "a failed message is done with": 5,
    "a full disk refuses only one write": 20,
    "a header before its inputs": 33,
    "a removal begins with the header": 26,
    "a repeated request believes a conflict": 11,
    "a shared transaction is answered too soon": 20,
    "a version before its document": 8,
    "alone in its run is alone in its process": 309,
    "an erasure leaves the values": 19,
    "children of the dead are orphans": 134,
    "exclusive without a request": 51,
    "loading forgets the last event": 17,
}
FOUND_AS = {"events are exported before their commit": "a span shows what is in the log"}  # another violation is another bug


@pytest.mark.parametrize("bug", MUTANTS)
def test_simulation_finds_a_planted_bug(bug: str) -> None:
    for number in (TRIED_FIRST.get(bug, 0), *range(SEEDS)):
        try:
            Episode(number, MUTANTS[bug]).go()
        except Failed as found:
            assert f"seed {number}: Violation: {FOUND_AS.get(bug, '')}" in str(found)
            assert f"make simulate SEEDS=1 FROM={number} GROUND={MUTANTS[bug].ground.name}" in str(found)
            return
    pytest.fail(f"{SEEDS} seeds did not find: {bug}")


def test_every_bug_that_is_tried_at_a_seed_first_is_planted() -> None:
    assert TRIED_FIRST.keys() <= MUTANTS.keys()
