"""Every reader of the table of kinds consumes every kind, or names it among those that it leaves out."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Final

import pytest

from stepless.adapters.memory.models import ScriptedModels
from stepless.compile.test_runs import called_nodes, published_effects
from stepless.model.kind import Kind, Nature
from stepless.model.runs.span import CLIENT, INTERNAL, PRODUCER
from stepless.nodes import KIND_CODE, KINDS, model_kind_code
from stepless.runtime.verbs.publication import publishing
from stepless.runtime.wiring import models

every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def of_nature(*natures: Nature) -> set[str]:
    return {name for name, kind in KINDS.items() if kind.nature in natures}


# What reads more of a kind than its row has: the kinds that it names, those that it could name, and those that it leaves out.
READERS: Final[dict[str, tuple[Callable[[], Collection[str]], Callable[[], set[str]], Collection[str]]]] = {
    "a line about a node in the console: these are known by their id": (
        lambda: {name for name, kind in KINDS.items() if kind.brief},
        lambda: set(KINDS), {"manual", "event", "code", "join", "end"},
    ),
    "spans of attempts: these call no one": (
        lambda: {name for name, kind in KINDS.items() if kind.span != INTERNAL},
        lambda: of_nature(Nature.EFFECT), {"function", "code"},
    ),
    "how an installation gets the code of a kind: these have it, or need the store alone": (
        lambda: publishing._NEEDS, lambda: of_nature(Nature.EFFECT), {*KIND_CODE, "workflow", "send", "distributed"},
    ),
    "what a test run reaches: with these, it may end": (
        lambda: published_effects._GO_ON, lambda: of_nature(Nature.PURE), {"end"},
    ),
    "what a test run may wait for without a call": (lambda: called_nodes._QUIET, lambda: of_nature(Nature.PAUSE), set()),
}  # fmt: skip


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_names_each_kind_or_leaves_it_out(reader: str) -> None:
    named, possible, left_out = READERS[reader][0](), READERS[reader][1](), READERS[reader][2]
    assert possible - {*named} - {*left_out} == set(), f"{reader}: name it there, or leave it out here"
    assert {*named} - possible == set(), f"{reader}: it is no such kind"
    assert {*named} & {*left_out} == set(), f"{reader}: it is named"


def test_the_kinds_that_call_a_model_are_those_with_its_code() -> None:
    assert set(model_kind_code(ScriptedModels([]))) == models.MODEL_KINDS


@every_kind
def test_a_row_is_complete(kind: Kind) -> None:
    fields = {field.alias or name for name, field in kind.params.model_fields.items()}
    assert re.fullmatch(r"[Mm][\d .a-zA-Z-]+", kind.icon), "the path of an SVG"
    assert {*kind.brief, kind.branches or kind.name} - fields - {kind.name} == set(), "parameters of the kind"
    assert kind.span in (INTERNAL, CLIENT, PRODUCER)


def test_no_two_kinds_have_one_icon() -> None:
    assert len({kind.icon for kind in KINDS.values()}) == len(KINDS)


@every_kind
def test_every_exit_that_a_parameter_names_is_declared(kind: Kind) -> None:
    """`branches` decides how such a node is drawn, and which exits the console offers."""
    if kind.branches is None:
        assert kind.exits(kind.params.model_construct()) is not None
    else:
        assert kind.exits(kind.params.model_construct(**{kind.branches: {"one": "1", "two": "2"}})) == ("one", "two")
