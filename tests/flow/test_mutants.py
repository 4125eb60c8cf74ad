"""The small programs find every planted bug of the compiler, of what it lifts too."""

from __future__ import annotations

import directed_blocks
import pytest
from block_mutants import BLOCK_MUTANTS
from comparing import Program, compare, flow_of
from directed import sources
from flow_mutants import MUTANTS, TRIED_FIRST, planted
from snippets import SNIPPETS
from verdicts import verdict

pytestmark = [pytest.mark.nightly, pytest.mark.long]
SOURCES = sources()
LIFTED = directed_blocks.sources()
REFUSED = dict(SNIPPETS)


def found(name: str) -> bool:
    """Whether a program shows a difference, or becomes no document."""
    source = SOURCES.get(name) or LIFTED[name]
    flow = flow_of(source, f"mutant_{abs(hash(name))}")
    try:
        return compare(Program(name, source, flow, "gather" in source), 2) != ""
    except Exception:
        return True


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_planted_bug_is_found(mutant: str) -> None:
    with planted(MUTANTS[mutant]):
        assert any(found(name) for name in sorted(SOURCES, key=lambda name: name != TRIED_FIRST.get(mutant)))


@pytest.mark.parametrize("mutant", BLOCK_MUTANTS)
def test_a_planted_bug_of_what_is_lifted_is_found(mutant: str) -> None:
    change, program, refused = BLOCK_MUTANTS[mutant]
    assert verdict(refused) == REFUSED[refused] if refused else not found(program)
    with planted(change):
        assert verdict(refused) != REFUSED[refused] if refused else found(program)


def test_without_a_bug_nothing_is_found() -> None:
    assert [name for name in SOURCES if found(name)] == []
