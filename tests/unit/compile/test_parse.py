from __future__ import annotations

import pytest

from stepless.compile import parse
from stepless.errors import DocumentRefused
from stepless.limits import MAX_DOCUMENT_BYTES, MAX_DOCUMENT_DEPTH, MAX_YAML_ALIASES


def refusal(text: str | bytes, **how: str) -> str:
    with pytest.raises(DocumentRefused) as caught:
        parse(text, **how)  # type: ignore[arg-type]
    return str(caught.value)


@pytest.mark.parametrize(("written", "read"), [
    ("yes", "yes"), ("no", "no"), ("on", "on"), ("off", "off"), ("y", "y"),
    ("true", True), ("False", False), ("null", None), ("~", None), ("", None), ('"true"', "true"), ("'1'", "1"),
    ("2024-01-31", "2024-01-31"), ("12:30:00", "12:30:00"), ("1_000", "1_000"), ("0x1F", "0x1F"), ("017", "017"),
    (".inf", ".inf"), ("1.", 1.0), (".5e1", 5.0),
    ("5", 5), ("-3", -3), ("1.5", 1.5), ("1e3", 1000.0), ("!!str 5", "5"), ("|\n  a\n  b\n", "a\nb\n"),
    ("[1, {a: b}]", [1, {"a": "b"}]), ("<order.body.id>", "<order.body.id>"),
])
def test_yaml_scalars_are_those_of_json_and_all_else_is_text(written: str, read: object) -> None:
    assert parse(f"a: {written}\n") == {"a": read}


def test_keys_are_always_text() -> None:
    assert parse("cases: {yes: 1, on: 2, true: 3, null: 4, 5: 6}") == {"cases": {"yes": 1, "on": 2, "true": 3, "null": 4, "5": 6}}


def test_an_alias_repeats_the_value_of_its_anchor() -> None:
    assert parse("a: &r {attempts: 3}\nb: *r\nc: &t x\nd: *t") == {"a": {"attempts": 3}, "b": {"attempts": 3}, "c": "x", "d": "x"}


def test_json_and_yaml_of_the_same_document_are_equal() -> None:
    json, yaml, marked = '{"id": "a", "n": [1, 2.5, null]}', "id: a\nn: [1, 2.5, null]", b"\xef\xbb\xbfid: a\nn: [1, 2.5, ~]"
    assert [parse(json), parse(yaml), parse(marked)] == [{"id": "a", "n": [1, 2.5, None]}] * 3


def test_a_flow_mapping_is_yaml() -> None:
    assert parse("{id: a, on: yes}") == {"id": "a", "on": "yes"}


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)


@pytest.mark.parametrize(("text", "told"), [
    (BOMB, "aliases"),
    ("a: &x 1\nb: [" + "*x, " * (MAX_YAML_ALIASES + 1) + "]", "aliases"),
    ("a: &x [*x]", "no anchor before it"),
    ("a: *nowhere", "no anchor before it"),
    ("a: " + "[" * 200, "nested deeper"),
    ("a: " + "[" * 100_000, "nested deeper"),
    ("a:\n" + "".join("  " * n + "-\n" for n in range(1, MAX_DOCUMENT_DEPTH + 5)), "nested deeper"),
    ("a: 1\nb: 2\na: 3", "line 3, column 1: the key `a` is given twice"),
    ("a: {b: 1, 'b': 2}", "line 1, column 11: the key `b` is given twice"),
    ("a: !!python/object/apply:os.system [ls]", "tag"),
    ("a: !secret x", "tag"),
    ("base: &b {x: 1}\nc: {<<: *b}", "YAML 1.2"),
    ("[a]: 1", "key"),
    ("a: 1\n---\nb: 2", "second document"),
    ("a: [1, 2", "line 2, column 1"),
    ("a: b: c", "line 1, column 5"),
    ("a: " + "9" * 5_000, "digits"),
    ("a: 1e999", "too large"),
    ("- a", "a document is a mapping"),
    ("", "a document is a mapping"),
    ("a: \x07", "document_syntax"),
    ("x" * (MAX_DOCUMENT_BYTES + 1), "bytes"),
])
def test_yaml_that_is_refused(text: str, told: str) -> None:
    assert told in refusal(text, syntax="yaml")


@pytest.mark.parametrize(("text", "told"), [
    ('{"a": NaN}', "NaN"),
    ('{"a": -Infinity}', "-Infinity"),
    ('{"a": 1e999}', "too large"),
    ('{"a": 1, "b": {"c": 1, "c": 2}}', "the key `c` is given twice"),
    ('{"a": ' + "[" * 100_000, "nested deeper"),
    ('{"a": ' + '{"a": ' * 200, "nested deeper"),
    ('{"a": ' + "9" * 5_000 + "}", "digits"),
    ('{"a": 1,\n "b": }', "line 2, column 7"),
    ('{"a": "\\ud800"}', "surrogate"),
    ('["a"]', "a document is a mapping"),
    (b'{"a": "\xff"}', "UTF-8"),
])
def test_json_that_is_refused(text: str | bytes, told: str) -> None:
    assert told in refusal(text, syntax="json")


def test_what_opens_like_json_is_never_read_as_yaml() -> None:
    assert "NaN" in refusal('{"a": NaN}')


def test_a_text_that_never_ends_is_read_once() -> None:
    """Not once more from each quotation mark in it."""
    with pytest.raises(DocumentRefused):
        parse('{"id": "' + '\\"' * 400_000)


def test_brackets_in_texts_do_not_count_as_nesting() -> None:
    assert parse('{"a": "' + "[" * 500 + '"}') == {"a": "[" * 500}
