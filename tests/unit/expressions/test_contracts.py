from __future__ import annotations

from typing import Any

import pytest

from stepless.errors import AuthorError
from stepless.expressions.contracts import compile_contract
from stepless.limits import MAX_DOCUMENT_DEPTH

ORDER = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "string", "pattern": "^ord_"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
    },
    "$defs": {"line": {"type": "object", "properties": {"qty": {"type": "integer", "minimum": 1}}}},
}


def test_a_value_that_keeps_its_contract_has_no_violations() -> None:
    contract = compile_contract(ORDER)
    assert contract.violations({"id": "ord_1", "lines": [{"qty": 2}]}) == ()
    assert contract.schema is ORDER


def test_every_violation_is_a_sentence_with_its_path_and_without_the_value() -> None:
    found = compile_contract(ORDER).violations({"id": "hush", "lines": [{"qty": 2}, {"qty": 0}]})
    assert len(found) == 2 and "hush" not in str(found)
    assert found[0].startswith("id: ") and found[1].startswith("lines[1].qty: ")
    assert "id" in compile_contract(ORDER).violations({})[0]


def test_at_most_twenty_violations_are_told_each_of_bounded_length() -> None:
    contract = compile_contract({"items": {"enum": ["x" * 5_000]}})
    found = contract.violations([1] * 1_000)
    assert len(found) == 20 and max(map(len, found)) < 300


@pytest.mark.parametrize(
    "schema",
    [{"type": "strin"}, {"pattern": "("}, {"$ref": "#/nope"}, {"required": "id"}, {"minimum": "1"}, {"x": object()}, "{}", None,
    True, []],
)
def test_what_is_no_schema_is_refused(schema: Any) -> None:
    with pytest.raises(AuthorError) as caught:
        compile_contract(schema)
    assert caught.value.code == "invalid_schema"


@pytest.mark.parametrize("uri",
["http://127.0.0.1:9/x.json", "https://example.com/x", "file:///etc/passwd", "other.json", "ftp://x/y"])
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_another_document_is_never_read(uri: str, keyword: str) -> None:
    with pytest.raises(AuthorError) as caught:
        compile_contract({"properties": {"a": {"anyOf": [{keyword: uri}]}}})
    assert caught.value.code == "invalid_schema"


def test_the_standard_own_schema_may_be_referred_to() -> None:
    contract = compile_contract({"$ref": "https://json-schema.org/draft/2020-12/schema"})
    assert contract.violations({"type": "object"}) == ()
    assert contract.violations({"type": "strin"}) != ()


def test_a_schema_that_nests_without_end_is_refused_or_ends() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"not": deep}
    with pytest.raises(AuthorError):
        compile_contract(deep)
    assert compile_contract({"$ref": "#"}).violations(1) == ()


@pytest.mark.parametrize("value", [object(), {1: 2}, "\ud800", float("nan"), pytest.param(10**5_000, id="huge"), [[[{}]]]])
def test_an_odd_value_is_judged_without_an_exception(value: Any) -> None:
    assert isinstance(compile_contract({"type": "integer"}).violations(value), tuple)


@pytest.mark.parametrize("levels", [900, 200_000])
def test_a_value_that_nests_too_deeply_is_a_violation_and_no_crash(levels: int) -> None:
    deep: Any = 1
    for _ in range(levels):
        deep = [{"a": deep}]
    contract = compile_contract({"items": {"$ref": "#"}})
    assert contract.violations(deep) == (f"the value nests more than {MAX_DOCUMENT_DEPTH} deep",)


def test_a_hostile_pattern_is_judged_soon() -> None:
    assert compile_contract({"pattern": "^(?=(a+)+$)x"}).violations("a" * 5_000 + "!") != ()
