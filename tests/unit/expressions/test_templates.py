from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.errors import ExpressionError
from stepless.expressions.templates import compile_template
from stepless.limits import MAX_DOCUMENT_DEPTH
from stepless.model.json import JSON

S: dict[str, JSON] = {"n": 5, "f": 2.5, "o": {"k": [1]}, "l": [7, "x"], "b": False, "z": None, "text": "<s.n> ${KEY} {{ 1 }} \"'"}
KNOWN = {"s"}.__contains__


@pytest.mark.parametrize("source", ["<s.{}>", "{{{{ <s.{}> }}}}", "{{{{<s.{}>}}}}", "<s.{}>\n"])
@pytest.mark.parametrize("name", list(S))
def test_a_text_that_is_one_reference_or_expression_keeps_the_type(source: str, name: str, render: Callable[..., Any]) -> None:
    assert render(source.format(name), s=S) is S[name]


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("<s.n>!", "5!"), (" <s.n>", " 5"), ("<s.n><s.f>", "52.5"), ("<s.b> and <s.z>.", "false and ."),
        ("is <s.o> <s.l>", 'is {"k":[1]} [7,"x"]'),
        ("Bearer ${KEY}", "Bearer k-123"), ("t: <s.text>", "t: <s.n> ${KEY} {{ 1 }} \"'"),
        ("total {{ <s.n> + 1 }} of {{ len(<s.l>) }}", "total 6 of 2"),
        ("{{ {'a': {'b': 1}} }}", {"a": {"b": 1}}), ("{{ '}}' }}", "}}"), ("{{ '{{' }} <div>", "{{ <div>"),
        ("{{ '<' }}Foo.Bar>", "<Foo.Bar>"),
        ("a {{\n1 +\n1\n}} b", "a 2 b"), ("{{ null }}x", "x"), ("}} a < b", "}} a < b"), ("{{ 1 }}{{ 2 }}", "12"),
        ("{{ [1][0] }}", 1),
    ],
)  # fmt: skip
def test_longer_text_is_filled_in(text: str, rendered: JSON, render: Callable[..., Any]) -> None:
    assert render(text, s=S) == rendered


@pytest.mark.parametrize("value",
[None, True, 5, 2.5, "", "plain", "<div> a < b", "x<y", {"a": [1, {"b": "<p>"}]}, [], {"<s.n>": 1}])
def test_what_has_nothing_to_fill_in_is_constant_and_rendered_as_the_same_object(value: JSON, values: Callable[..., Any]) -> None:
    template = compile_template(value, KNOWN)
    assert template.constant and template.references == ()
    assert template.render(values(s=S)) is value


def test_only_the_way_to_a_reference_is_copied(values: Callable[..., Any]) -> None:
    still: JSON = {"deep": [1, 2]}
    value: JSON = {"z": "<s.n>", "still": still, "list": [still, "n: <s.n>"], "a": {"o": "<s.o>"}}
    rendered = compile_template(value, KNOWN).render(values(s=S))
    assert rendered == {"z": 5, "still": still, "list": [still, "n: 5"], "a": {"o": {"k": [1]}}}
    assert list(rendered) == ["z", "still", "list", "a"]
    assert rendered["still"] is still and rendered["list"][0] is still and rendered["a"]["o"] is S["o"]
    assert value["z"] == "<s.n>" and value["list"][1] == "n: <s.n>"


def test_references_are_listed_in_order_expressions_included() -> None:
    template = compile_template({"a": "x <s.n> {{ <s.f> + len('<s.o>') }} ${KEY}", "b": ["<s>"]}, KNOWN)
    assert [reference.text for reference in template.references] == ["<s.n>", "<s.f>", "<s.o>", "${KEY}", "<s>"]


@pytest.mark.parametrize(
    ("text", "code", "offset"),
    [("ab <ghost.n>", "unknown_reference", 3), ("ab {{ 1 + <ghost> }}", "unknown_reference", 10),
    ("{{ 1", "expression_syntax", 2),
     ("ab {{ }}", "expression_syntax", 5), ("ab {{ (1 }}", "expression_syntax", 9),
     ("a {{ 1 + x.y }}", "expression_forbidden", 9)],
)  # fmt: skip
def test_a_fault_is_refused_at_its_position_in_the_whole_text(text: str, code: str, offset: int) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_template({"deep": [text]}, KNOWN)
    assert (caught.value.code, caught.value.offset, caught.value.source) == (code, offset, text)


def test_an_expression_that_raises_tells_its_position_in_the_text(render: Callable[..., Any]) -> None:
    with pytest.raises(ExpressionError, match="zero") as caught:
        render("it is {{ 1 / <s.b> if false else 1 / 0 }}", s=S)
    assert caught.value.offset == 33


def test_nesting_and_length_are_bounded(render: Callable[..., Any]) -> None:
    nested: JSON = "<s>"
    for _ in range(MAX_DOCUMENT_DEPTH):
        nested = [nested]
    render(nested, s=1)
    with pytest.raises(ExpressionError) as caught:
        render([nested], s=1)
    assert caught.value.code == "expression_too_large"
    with pytest.raises(ExpressionError, match="characters"):
        render("<s><s>", s="x" * 600_000)
