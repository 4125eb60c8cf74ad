from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.errors import ExpressionError
from stepless.expressions.functions import FUNCTIONS

S = {"list": [3, 1, 2.5], "order": {"lines": [{"sku": "A", "qty": 2}, {"sku": "B", "qty": 5}]}, "mixed": [1, "a"], "z": None,
"long": "a" * 900_000}


def test_the_table_is_closed() -> None:
    assert " ".join(FUNCTIONS) == (
        "len min max sum round abs lower upper trim split join contains startswith endswith matches "
        "int float str bool keys values items any all default now date json query "
        "need merge put sort range zip repeat text"
    )


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("len('äb')", 2), ("len(<s.list>)", 3), ("len({'a': 1})", 1), ("min(<s.list>)", 1), ("max(<s.list>)", 3),
        ("max(1, 7, 3)", 7),
        ("min('b', 'a')", "a"), ("sum(<s.list>)", 6.5), ("sum([])", 0), ("round(2.5)", 2), ("round(3.5)", 4),
        ("round(2.345, 1)", 2.3),
        ("round(1234, -2)", 1200), ("abs(-2.5)", 2.5), ("lower('ÄB')", "äb"), ("upper('äb')", "ÄB"), ("trim(' a \\n')", "a"),
        ("split('a,b,', ',')", ["a", "b", ""]), ("split(' a  b ')", ["a", "b"]), ("join(['a', 1, true, null], '-')", "a-1-true-"),
        ("join(['a', 'b'])", "ab"), ("contains('abc', 'b')", True), ("contains([1], 1.0)", True),
        ("contains({'a': 1}, 'b')", False),
        ("startswith('abc', 'ab')", True), ("endswith('abc', 'ab')", False), ("matches('invoice-42', '\\d+')", True),
        ("matches('invoice', '^voice')", False), ("matches('AB', '(?i)^ab$')", True), ("matches('a.b', 'a' + '\\.b')", True),
        ("int(' 42 ')", 42), ("int(-2.9)", -2), ("int(true)", 1), ("float('1e3')", 1000.0), ("float(2)", 2.0), ("str('a')", "a"),
        ("str(null)", "null"), ("str(1.0)", "1.0"), ("str({'ä': [1, true]})", '{"ä":[1,true]}'), ("bool('false')", True),
        ("bool([])", False),
        ("keys({'b': 1, 'a': 2})", ["b", "a"]), ("values({'b': 1})", [1]), ("items({'b': 1})", [["b", 1]]),
        ("any([0, 'a'])", True),
        ("all([])", True), ("all([1, null])", False), ("default(<s.z>, 4)", 4), ("default(0, 4)", 0),
        ("now()", "1970-01-02T00:00:00.000Z"),
        ("date('2024-05-01T10:00:00.1239+02:00')", "2024-05-01T08:00:00.123Z"),
        ("date('2024-05-01')", "2024-05-01T00:00:00.000Z"),
        ("date('2024-05-01T10:00')", "2024-05-01T10:00:00.000Z"), ("date(1500.9)", "1970-01-01T00:00:01.500Z"),
        ("date(now())", "1970-01-02T00:00:00.000Z"),
        ("date('2024-01-01T00:00Z') < date('2024-01-01T00:00-01:00') < date(4e12)", True),
        ("json('[1, {\"a\": null}]')", [1, {"a": None}]),
        ("json(str({'a': [1]}))", {"a": [1]}), ("query(<s.order>, 'lines[?qty > `3`].sku | [0]')", "B"),
        ("query(<s.order>, 'nothing.here')", None),
        ("need(0)", 0), ("need('')", ""), ("need(<s.order>['lines'])[0]['sku']", "A"),
        ("merge({'a': 1})", {"a": 1}), ("merge({'a': 1, 'b': 2}, {}, {'a': null})", {"a": None, "b": 2}),
        ("put({'a': 1}, 'a', 2)", {"a": 2}), ("put({}, 'a', [])", {"a": []}), ("put([1, 2], 0, 'x')", ["x", 2]),
        ("put([1, 2], -1, 3)", [1, 3]),
        ("sort(<s.list>)", [1, 2.5, 3]), ("sort(<s.list>, true)", [3, 2.5, 1]), ("sort(['b', 'a', 'B'])", ["B", "a", "b"]),
        ("sort([])", []), ("sort([1, 1.0], true)", [1, 1.0]),
        ("range(3)", [0, 1, 2]), ("range(2, 4)", [2, 3]), ("range(4, 0, -2)", [4, 2]), ("range(-1)", []),
        ("zip([1, 2], ['a', 'b', 'c'])", [[1, "a"], [2, "b"]]), ("zip([1])", [[1]]), ("zip([], [1])", []),
        ("repeat('ab', 2)", "abab"), ("repeat([1, 2], 2)", [1, 2, 1, 2]), ("repeat('a', -1)", ""), ("repeat([], 9)", []),
        ("text('a')", "a"), ("text(null)", "None"), ("text(true)", "True"), ("text(1.0)", "1.0"), ("text(7)", "7"),
        ("text(['a', {'b': null}])", "['a', {'b': None}]"),
        ("query(<s.order>, 'lin' + 'es[0].sku')", "A"), ("query(<s.order>, 'lines[*].{s: sku}')", [{"s": "A"}, {"s": "B"}]),
    ],
)  # fmt: skip
def test_a_function_answers_this(source: str, value: object, evaluate: Callable[..., Any]) -> None:
    result = evaluate(source, s=S)
    assert result == value and type(result) is type(value)


@pytest.mark.parametrize(
    "source",
    [
        "len(1)", "len(null)", "min([])", "min(<s.mixed>)", "max([null])", "min([true])", "max([[1], [2]])", "min(1)",
        "sum(['a'])", "sum([true])",
        "sum(1)", "sum({'a': 1})", "round('1')", "round(1.5, 1.0)", "round(1.5, 16)", "round(true)", "abs('a')", "abs(true)",
        "lower(1)", "trim(null)",
        "split('a', '')", "split(1)", "split('a', 1)", "join('abc')", "join(['a'], 1)", "contains(1, 1)", "contains(null, 'a')",
        "startswith(1, 'a')",
        "startswith('a', null)", "endswith(['a'], 'a')", "matches(1, 'a')", "matches('a', 1)", "int('1.5')", "int('1_0')",
        "int('٣')", "int('')",
        "int(null)", "int([])", "int('9' + <s.long>)", "float('nan')", "float('inf')", "float('1e999')", "float('0x1')",
        "float(null)", "keys([1])",
        "merge([1])", "merge({}, null)", "put(null, 'a', 1)", "put({}, 1, 1)", "put([1], 'a', 1)",
        "put([1], 1, 1)", "put([1], -2, 1)", "put([1], true, 1)", "sort('ba')", "sort(<s.mixed>)", "sort([true])", "sort([null])",
        "sort([[1], [2]])", "sort([1], 1)", "range(1.0)", "range(true)", "range('3')", "range(1, 2, 0)", "range(100001)",
        "range(0, 99999999999999999999)", "zip([1], 'a')", "zip(null)", "repeat(1, 2)", "repeat('a', 1.0)", "repeat('a', true)",
        "repeat(<s.long>, 2)", "repeat([1, 2], 50001)", "text([<s.long>, <s.long>])",
        "values('a')", "items(null)", "any({'a': 1})", "all('a')", "date('yesterday')", "date('')", "date(null)", "date(true)",
        "date(1e300)",
        "date(-1e15)", "date('0001-01-01T00:00+01:00')", "json('{')", "json('NaN')", "json('1e999')", "json(1)", "json(null)",
        "query(<s.order>, 1)",
        "query('a', 'sum(@)')", "query(<s.order>, 'length(' + '@')", "query('nan', 'to_number(@)')", "query(1, '&a')",
    ],
)  # fmt: skip
def test_a_function_refuses_what_it_cannot_take(source: str, evaluate: Callable[..., Any]) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(source, s=S)
    assert caught.value.code == "expression_error"


def test_a_literal_pattern_is_refused_at_publish_and_a_computed_one_when_it_runs(evaluate: Callable[..., Any]) -> None:
    for source, code in (("false and matches('a', '(?=a)')", "expression_syntax"), ("matches('a', <s>)", "expression_error")):
        with pytest.raises(ExpressionError, match="pattern") as caught:
            evaluate(source, s="(?=a)")
        assert caught.value.code == code


def test_values_are_never_changed(evaluate: Callable[..., Any]) -> None:
    given = {"list": [3, 1], "map": {"b": [2]}}
    evaluate("[<s.list> + [1], min(<s.list>), query(<s>, 'sort(list)'), items(<s.map>), <s.list>[:1], default(<s.x>, <s.map>)]",
    s=given)
    assert given == {"list": [3, 1], "map": {"b": [2]}}


@pytest.mark.parametrize("source", ["need(null)", "need(<s.z>)", "1 + need(<s.order>['nothing'])"])
def test_need_fails_with_a_code_of_its_own(source: str, evaluate: Callable[..., Any]) -> None:
    with pytest.raises(ExpressionError, match="null") as caught:
        evaluate(source, s=S)
    assert caught.value.code == "missing_value"
    assert "default" in caught.value.mend


def test_text_is_what_python_writes(evaluate: Callable[..., Any]) -> None:
    values = ["ä\n", None, True, 0, -7, 1.0, 1e300, 0.1, [], {}, ["'", '"', {"a": [None, False]}]]
    assert [evaluate("text(<s>)", s=value) for value in values] == [str(value) for value in values]


def test_no_function_changes_its_arguments(evaluate: Callable[..., Any]) -> None:
    value = {"object": {"a": 1}, "list": [2, 1]}
    evaluate("[merge(<s.object>, {'b': 2}), put(<s.object>, 'a', 2), put(<s.list>, 0, 9), sort(<s.list>)]", s=value)
    assert value == {"object": {"a": 1}, "list": [2, 1]}
