"""Small programs, each around one thing that a compiler can get wrong, as plain Python and as documents."""

from __future__ import annotations

import pytest
from comparing import Program, compare, flow_of
from directed import sources

SOURCES = sources()


@pytest.mark.parametrize("lift", ["function", "auto"])
@pytest.mark.parametrize("name", SOURCES)
def test_the_document_does_what_the_source_says(name: str, lift: str) -> None:
    flow = flow_of(SOURCES[name], f"directed_{abs(hash(name + lift))}", lift)
    assert compare(Program(name, SOURCES[name], flow, "gather" in SOURCES[name]), 3) == ""
