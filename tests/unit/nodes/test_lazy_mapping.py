"""Tables that load their values when they are first read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stepless.nodes import KIND_CODE, KINDS, aws_kinds, kind_code_with
from stepless.nodes.lazy_mapping import LayeredMapping, LazyMapping

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "engine")}


def table(made: list[str], *names: str) -> LazyMapping[str]:
    def maker(name: str) -> str:
        made.append(name)
        return name.upper()

    return LazyMapping({name: lambda name=name: maker(name) for name in names})  # type: ignore[misc]  # binds early


def test_an_entry_is_made_when_it_is_first_asked_for_and_once() -> None:
    made: list[str] = []
    known = table(made, "a", "b")
    assert list(known) == ["a", "b"] and len(known) == 2 and "b" in known and "c" not in known
    assert made == []
    assert [known["b"], known["b"], known.get("c")] == ["B", "B", None]
    assert made == ["b"]


def test_what_cannot_be_made_is_tried_again() -> None:
    answers = iter([ImportError("not yet"), "there"])

    def make() -> str:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    known = LazyMapping({"a": make})
    with pytest.raises(ImportError):
        known["a"]
    assert known["a"] == "there"


def test_of_several_tables_the_first_that_has_a_name_answers_and_the_others_make_nothing() -> None:
    made: list[str] = []
    layers = LayeredMapping({"a": "mine"}, table(made, "a", "b"), table(made, "b", "c"))
    assert layers["a"] == "mine" and layers["b"] == "B"
    assert made == ["b"]
    assert list(layers) == ["a", "b", "c"] and len(layers) == 3 and "c" in layers and "d" not in layers
    with pytest.raises(KeyError):
        layers["d"]


def test_what_is_brought_later_into_a_table_is_found() -> None:
    later: dict[str, str] = {}
    layers = LayeredMapping(later, {"a": "old"})
    later["a"] = "new"
    assert layers["a"] == "new"


def test_every_kind_of_the_table_has_the_name_under_which_it_is_kept() -> None:
    assert {name: kind.name for name, kind in KINDS.items()} == {name: name for name in KINDS}


def test_code_that_somebody_brings_goes_before_code_that_is_there() -> None:
    async def mine(call: object) -> None:
        return None

    runs = kind_code_with({"http": mine})  # type: ignore[dict-item]  # never called
    assert runs["http"] is mine and runs["function"] is KIND_CODE["function"]


def test_kinds_that_are_held_against_aws_are_the_others_themselves() -> None:
    kinds = aws_kinds(object())  # type: ignore[arg-type]  # asked for nothing
    assert set(kinds) == set(KINDS)
    assert kinds["set"] is KINDS["set"] and kinds["aws"] is not KINDS["aws"]


LOADED = """
import sys
from stepless.nodes import KIND_CODE
before = "httpx" in sys.modules
KIND_CODE["http"]
from stepless.nodes.http import transport
print(before, "httpx" in sys.modules, transport._tls.cache_info().currsize)
"""


def test_the_http_client_is_loaded_with_the_code_that_sends_and_not_before() -> None:
    """Its certificates too: what that takes is no part of the first attempt."""
    told = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=60, env=ENVIRONMENT)
    assert told.stdout.split() == ["False", "True", "1"]
