"""The small programs find every planted bug of the compiler."""

from __future__ import annotations

import pytest
from comparing import Program, compare, flow_of
from directed import sources
from flow_mutants import MUTANTS, TRIED_FIRST, planted

pytestmark = [pytest.mark.nightly, pytest.mark.long]
SOURCES = sources()


def found(name: str) -> bool:
    """Whether a program shows a difference, or becomes no document."""
    flow = flow_of(SOURCES[name], f"mutant_{abs(hash(name))}")
    try:
        return compare(Program(name, SOURCES[name], flow, "gather" in SOURCES[name]), 2) != ""
    except Exception:
        return True


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_planted_bug_is_found(mutant: str) -> None:
    with planted(MUTANTS[mutant]):
        assert any(found(name) for name in sorted(SOURCES, key=lambda name: name != TRIED_FIRST.get(mutant)))


def test_without_a_bug_nothing_is_found() -> None:
    assert [name for name in SOURCES if found(name)] == []
