from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from stepless.errors import ExpressionError
from stepless.expressions.language import compile_expression
from stepless.expressions.references import find_references
from stepless.expressions.templates import compile_template
from stepless.expressions.texts import to_text
from stepless.model.steps import Steps

KNOWN = {"s", "a-b"}.__contains__

JSON_VALUES = some.recursive(
    some.none() | some.booleans() | some.integers(-(2**1000), 2**1000) | some.floats(allow_nan=False,
    allow_infinity=False) | some.text(),
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
ANY_TEXT = some.text(some.characters(codec=None), max_size=60)  # half surrogate pairs too
WORDS = """<s> <s.n> <a-b.c> <ghost.x> ${KEY} '<s.n>' 'x' "y" ' " \\ 1 2.5 .5 1e3 true null and or not in if else == != < <= > >=
+ - * / // % ** ( ) [ ] { } ,
: . ; # = := lambda for is await len( str( query( matches( now() 'a[' '(' {{ }} \x00 é x __class__"""
LOOKALIKES = some.lists(some.sampled_from(WORDS.split()), max_size=12)


TEXTS = ANY_TEXT | LOOKALIKES.map(" ".join) | LOOKALIKES.map("".join)


@given(TEXTS, JSON_VALUES)
@settings(max_examples=100)
def test_any_text_compiles_and_evaluates_or_raises_an_expression_error(values: Callable[..., Any], text: str, value: Any) -> None:
    evaluates_or_raises(values, text, value)


@pytest.mark.check
@given(TEXTS, JSON_VALUES)
@settings(max_examples=600)
def test_many_more_texts_compile_or_raise_an_expression_error(values: Callable[..., Any], text: str, value: Any) -> None:
    evaluates_or_raises(values, text, value)


def evaluates_or_raises(values: Callable[..., Any], text: str, value: Any) -> None:
    scope = values(s={"n": value})
    for attempt in (
        lambda: compile_expression(text, KNOWN).evaluate(scope),
        lambda: compile_template({"a": [text]}, KNOWN).render(scope),
        lambda: find_references(text, KNOWN),
    ):
        try:
            attempt()
        except ExpressionError as error:
            assert 0 <= error.offset <= len(error.source)


@given(JSON_VALUES)
def test_a_value_never_changes_what_an_expression_does(values: Callable[..., Any], value: Any) -> None:
    scope = values(s={"v": value})
    for source, expected in (
        ("<s.v>", value),
        ("<s.v> == <s.v>", True),
        ("[<s.v>][0] == {'k': <s.v>}['k']", True),
        ("'<s.v>'", to_text(value, Steps())),
        ("\"(<s.v>)\" == '(' + '<s.v>' + ')'", True),
        ("<s.v> in [1, <s.v>]", True),
        ("json(str([<s.v>]))[0] == <s.v>", True),
        ("'<s.v>' == 'never this' or true", True),
        ("1 if <s.v> else 2", 1 if value else 2),
    ):
        assert compile_expression(source, KNOWN).evaluate(scope) == expected, source


@given(JSON_VALUES)
def test_a_value_is_rendered_once_and_never_read_as_a_template(values: Callable[..., Any], value: Any) -> None:
    scope = values(s={"v": value})
    template = compile_template({"whole": "<s.v>", "part": "(<s.v>|{{ <s.v> }})"}, KNOWN)
    assert template.render(scope) == {"whole": value, "part": f"({to_text(value, Steps())}|{to_text(value, Steps())})"}
    assert scope.reads == ["<s.v>"] * 3
