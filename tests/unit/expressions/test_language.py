from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.errors import ExpressionError
from stepless.expressions.language import compile_expression
from stepless.model.json import equal

Evaluate = Callable[..., Any]
S = {
    "n": 5, "half": 2.5, "text": "it's \"q\" \\ ${KEY} <s.n>\n}}", "list": [1, 2, 3], "map": {"k": 2, "x y": 3},
    "t": True, "f": False, "z": None, "empty": [], "big": 2**1023,
}  # fmt: skip


@pytest.mark.parametrize(
    ("source", "value"),
    [
        # how references and operators share their characters
        ("<s.n> < 6", True), ("<s.n> > 6", False), ("<s.n> <= <s.n>", True), ("<s.n><<s.n>", False), ("<s.n> <<s.n>", False),
        ("<s.n><=<s.n>", True), ("1 <<s.n>", True), ("<s.n>>1", True), ("<s.n>>=1", True), ("len(<s.list>)>2", True),
        ("1 <len(<s.list>)", True), ("<s.list>[0]<<s.list>[1]", True), ("<s.n>-<s.n>", 0), ("-<s.n>", -5), ("- -1", 1), ("+1", 1),
        # literals
        ("true", True), ("True", True), ("false", False), ("False", False), ("null", None), ("None", None), ("1.5e3", 1500.0),
        (".5", 0.5), ("[1, 'a', [null],]", [1, "a", [None]]), ("{'a': 1, 'b': {}, 'a': 2}", {"a": 2, "b": {}}), ("[]", []),
        (r"'\n\t\\\'\"\u00e9\x41'", "\n\t\\'\"éA"), (r"'\d+\b'", r"\d+\b"), ('"it\'s"', "it's"), ("'a # b'", "a # b"),
        ("'naïve 日本 😀'", "naïve 日本 😀"), ("'<div> < b'", "<div> < b"), ("'{{ x }}'", "{{ x }}"), ("''", ""),
        # white space
        (" \n 1 +\t\r\n 2 \n", 3), ("1\n+\n2", 3),
        # equality is by JSON type and value
        ("1 == 1.0", True), ("'5' == 5", False), ("true == 1", False), ("null == false", False), ("null == 0", False),
        ("[1, {'a': 1}] == [1.0, {'a': 1.0}]", True), ("[1] == [true]", False), ("'a' != 'a'", False), ("<s.z> == null", True),
        # order, chains
        ("1 < 2 < 3", True), ("1 < 3 < 2", False), ("'a' < 'b'", True), ("1 < 1.5", True), ("1 > 2 > 'x'", False),
        # membership
        ("2 in <s.list>", True), ("true in [1]", False), ("'k' in <s.map>", True), ("'q' in <s.text>", True),
        ("1 not in [1]", False),
        # arithmetic
        ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("5 / 2", 2.5), ("4 / 2", 2.0), ("5 // 2", 2), ("-5 // 2", -3), ("-5 % 3", 1),
        ("<s.half> * 2", 5.0), ("'a' + 'b'", "ab"), ("[1] + [2]", [1, 2]), ("1 - 2 - 3", -4),
        # deciding
        ("0 or 'x'", "x"), ("'' and 1/0", ""), ("1 or 1/0", 1), ("not []", True), ("not 'a' == 'b'", True),
        ("true and null", None),
        ("1 if <s.empty> else 2", 2), ("1/0 if false else 2", 2), ("false or true and false", False),
        # reading
        ("<s.map>['k']", 2), ("<s.map>['x y']", 3), ("<s.map>['no']", None), ("<s.list>[-1]", 3), ("<s.list>[9]", None),
        ("<s.z>['a']['b']", None), ("<s.missing.x>", None), ("<s.list>[1:]", [2, 3]), ("'abc'[:2]", "ab"), ("'abc'[0]", "a"),
        ("<s.list>[-2:5]", [2, 3]), ("<s.list>[:]", [1, 2, 3]), ("${KEY}", "k-123"), ("'Bearer ${KEY}'", "Bearer k-123"),
        # references in quotes
        ("'<s.text>' == <s.text>", True), ("'n=<s.n>'", "n=5"), ("'<s.n>'", "5"),
        ("'<s.z>|<s.t>|<s.map>'", '|true|{"k":2,"x y":3}'),
        ("{'<s.n>': 1}", {"5": 1}),
    ],
)  # fmt: skip
def test_an_expression_has_this_value(source: str, value: object, evaluate: Evaluate) -> None:
    result = evaluate(source, s=S)
    assert equal(result, value) and type(result) is type(value)


@pytest.mark.parametrize(
    ("source", "offset", "message"),
    [
        ("1 + (<s.n> < 'x')", 5, "a number and a text"), ("<s.z> < 1", 0, "null and a number"), ("true < 2", 0, "a boolean"),
        ("[1] < [2]", 0, "a list"), ("3 > 2 < 'x'", 0, "a text"), ("1 + 'a'", 0, "write str"), ("1 + true", 0, "a boolean"),
        ("'a' * 3", 0, "two numbers"),
        ("[1] * 3", 0, "two numbers"), ("2 + 1 / 0", 4, "divides by zero"), ("1 // 0", 0, "zero"), ("1 % 0.0", 0, "zero"),
        ("<s.big> * 4", 0, "1024 bits"), ("<s.big> * <s.big>", 0, "bits"), ("1e308 * 10", 0, "finite"),
        ("<s.big> * 1e300", 0, "finite"),
        ("1 in 'a'", 0, "cannot be in"), ("1 in 2", 0, "in searches"), ("'a' in null", 0, "null"),
        ("-'a'", 0, "a number is needed"),
        ("+true", 0, "a number is needed"), ("1 and 2['a']", 6, "no item"), ("<s.list>['a']", 0, "no item"),
        ("<s.list>[1.0]", 0, "int"),
        ("<s.list>[true]", 0, "a boolean"), ("<s.map>[0]", 0, "no item"), ("1[0:1]", 0, "cut"), ("'a'['b':]", 0, "integers"),
        ("{'a': 1, 2: 3}", 9, "key"), ("[1, len(5)]", 4, "no length"), ("\n\n  'a' - 1", 4, "two numbers"),
        ("'é😀' - 1", 0, "two numbers"), ("'é😀' == <s.n> - 'x'", 8, "two numbers"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_raises_at_its_position(source: str, offset: int, message: str, evaluate: Evaluate) -> None:
    with pytest.raises(ExpressionError, match=message) as caught:
        evaluate(source, s=S)
    assert (caught.value.offset, caught.value.source, caught.value.code) == (offset, source, "expression_error")


@pytest.mark.parametrize(
    ("source", "code", "offset"),
    [
        ("", "expression_syntax", 0), ("  \n", "expression_syntax", 0), ("1 +", "expression_syntax", 2),
        ("<s.n> > > 3", "expression_syntax", 8),
        ("1 2", "expression_syntax", 2), ("(1", "expression_syntax", 0), ("1)", "expression_syntax", 1),
        ("(1]", "expression_syntax", 2),
        ("'a", "expression_syntax", 0), ("'a\n'", "expression_syntax", 0), ("<s.n> = 3", "expression_syntax", 6),
        ("1 # x", "expression_syntax", 2),
        ("len", "expression_syntax", 0), ("1 + len(1, 2)", "expression_syntax", 4),
        ("matches('a', '(')", "expression_syntax", 13),
        ("query(<s.n>, 'a[')", "expression_syntax", 13), ("1 + s", "unknown_reference", 4),
        ("1 + <ghost>", "unknown_reference", 4),
        ("'<ghost.n>'", "unknown_reference", 1), ("1 + system('x')", "unknown_function", 4),
        ("1 + 'a'.upper()", "expression_forbidden", 4),
        ("<s.n> == s.n", "expression_forbidden", 9), ("not<s.n>", "expression_syntax", 3), ("a-b", "unknown_reference", 0),
    ],
)  # fmt: skip
def test_what_is_not_of_the_language_is_refused_at_its_position(source: str, code: str, offset: int) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(source, {"s"}.__contains__)
    assert (caught.value.code, caught.value.offset) == (code, offset)


@pytest.mark.parametrize(
    ("source", "mend"),
    [("1 && 2", "and"), ("1 || 2", "or"), ("!1", "not"), ("1 === 1", "=="), ("1 is 1", "=="), ("(1, 2)", "list"),
    ("“a”", "quote"),
     ("a.b == 1", "<node.path>"), ("[x for x in y]", "query"), ("len", "len("), ("1 ? 2 : 3", "if"),
     ("{{<s.list>}}", "write <s.list>"), (" {{ s.list }} ", "write <s.list>"), ("{{ $json.total }}", "write $json.total"),
     ("{{}}", "without them")],
)  # fmt: skip
def test_a_refusal_says_what_to_write_instead(source: str, mend: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(source, {"s"}.__contains__)
    assert mend in caught.value.mend


def test_references_are_listed_in_order_of_appearance_quoted_ones_too() -> None:
    expression = compile_expression("<s.b> if '<s.c> ${KEY}' == <s.a> else <s.b>", {"s"}.__contains__)
    assert [(found.text, found.offset) for found in expression.references] == [
        ("<s.b>", 0), ("<s.c>", 10), ("${KEY}", 16), ("<s.a>", 27), ("<s.b>", 38),
    ]  # fmt: skip


def test_only_what_is_needed_is_read(values: Callable[..., Any]) -> None:
    scope = values(s=S)
    compile_expression("<s.n> == 5 or <s.text> < 3", {"s"}.__contains__).evaluate(scope)
    assert scope.reads == ["<s.n>"]


def test_no_message_shows_a_value(evaluate: Evaluate) -> None:
    for source in ("<s> < 1", "<s> - 1", "int(<s>)", "json(<s>)", "date(<s>)", "matches('a', <s>)", "query([], <s>)", "[][<s>]",
    "sum([<s>])"):
        with pytest.raises(ExpressionError) as caught:
            evaluate(source, s="hush(hush")
        assert "hush" not in str(caught.value)
