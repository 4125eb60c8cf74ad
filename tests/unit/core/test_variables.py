"""Which of several values of a variable is used, by its writers and their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.core.state import OUTSIDE, Cell, Scope, State
from stepless.core.values.variables import VariableConflict, merge_cells, settle, written
from stepless.model.declaration.policies import JoinRule
from stepless.model.graph import Join

Make = Callable[..., Any]  # the fixture `play` of conftest.py
OLD, YOUNG = Cell("old", 1, 10), Cell("young", 2, 20)


def join(**settings: Any) -> Join:
    return Join(2, JoinRule(**settings))


def custom(expression: Any, values: Any) -> Any:
    return [expression, *values]


@pytest.fixture
def scope(play: Make, node: Callable[..., Any]) -> Scope:
    """s → a → b, s → c, then all into j: a is known to b, and c knows of neither."""
    nodes = {"s": node(), "a": node("s"), "b": node("a"), "c": node("s"), "j": node(["b", "c"])}
    state: State = play(nodes, variables={"x": 0}).state
    return state.root


@pytest.mark.parametrize(
    ("rule", "cells", "stands", "warns"),
    [
        (Join(2), [OLD, YOUNG], YOUNG, True),
        (Join(2), [YOUNG, OLD], OLD, True),
        (join(on_conflict="first"), [YOUNG, OLD], YOUNG, False),
        (join(vars="last-write"), [YOUNG, OLD], YOUNG, False),
        (join(vars="first-write"), [YOUNG, OLD], OLD, False),
        (Join(2, custom="both"), [OLD, YOUNG], Cell(["both", "old", "young"], 2, 20), False),  # type: ignore[arg-type]
        (join(on_conflict="error"), [OLD], OLD, False),
        (join(on_conflict="error"), [OLD, YOUNG._replace(value="old")], Cell("old", 2, 20), False),
        (Join(2), [Cell(1, 1, 10), Cell(True, 2, 20)], Cell(True, 2, 20), True),
    ],
)
def test_one_of_several_unrelated_writes_stands(rule: Join, cells: list[Cell], stands: Cell, warns: bool) -> None:
    assert settle("x", cells, rule, custom) == (stands, warns)


def test_a_conflict_may_be_an_error() -> None:
    with pytest.raises(VariableConflict, match="the variable x") as conflict:
        settle("x", [OLD, YOUNG], join(on_conflict="error"), custom)
    assert conflict.value.name == "x"


@pytest.mark.parametrize(
    ("writers", "stands", "warns"),
    [
        ([OUTSIDE, "a"], "a", False),  # what is inherited is older than any write
        (["a", OUTSIDE], "a", False),
        (["a", "b"], "b", False),  # b began with what a wrote
        (["b", "a"], "b", False),
        (["s", "c"], "c", False),
        (["b", "c"], "c", True),  # neither knew of the other: the last in edge order
        (["c", "b"], "b", True),
        (["s", "b", "c"], "c", True),
        (["a", "c", "b"], "b", True),
    ],
)
def test_a_write_that_knew_of_another_replaces_it(scope: Scope, writers: list[Any], stands: str, warns: bool) -> None:
    places = {node.id: place for place, node in enumerate(scope.body.nodes)}
    views = [{"x": Cell(writer, places.get(writer, OUTSIDE), number)} for number, writer in enumerate(writers, 1)]
    merged, warnings = merge_cells(views, scope, Join(1), custom)
    assert (merged["x"].value, warnings) == (stands, ("x",) * warns)


def test_the_later_settlement_of_one_writer_stands_whatever_the_order(scope: Scope) -> None:
    views = [{"x": Cell("second", 1, 9)}, {"x": Cell("first", 1, 4)}]
    for order in (views, views[::-1]):
        assert merge_cells(order, scope, join(on_conflict="error"), custom) == ({"x": Cell("second", 1, 9)}, ())


def test_views_that_are_one_or_none_are_not_merged(scope: Scope) -> None:
    view = {"x": OLD}
    assert merge_cells([view, view], scope, Join(1), custom)[0] is view
    assert merge_cells([], scope, Join(1), custom) == (scope.cells, ())


def test_a_view_that_lacks_a_variable_takes_part_for_the_others_only(scope: Scope) -> None:
    merged, _ = merge_cells([{"x": OLD}, {"y": YOUNG}], scope, Join(1), custom)
    assert merged == {"x": OLD, "y": YOUNG}


def test_writing_leaves_the_former_view_as_it_was() -> None:
    view = {"x": OLD, "y": OLD}
    assert written(view, {"x": "new"}, 3, 30) == {"x": Cell("new", 3, 30), "y": OLD}
    assert view == {"x": OLD, "y": OLD}
