"""Conditions in JavaScript, converted to expressions."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from stepless.imports.sim.javascript import Names, Untranslated, translate
from stepless.imports.sim.reference_translation import Read, Unread
from stepless.testing import simulate


def found(match: re.Match[str]) -> Read | Unread:
    if match["root"] in ("nobody", "empty"):
        return Unread("code", literal=match["root"] == "nobody")
    return Read(match["root"], tuple(match["path"].strip(".").split(".")) if match["path"] else ())


NAMES = Names(found, lambda name: f"${{{name}}}")


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("<a.b> === 'x'", '<a.b> == "x"'),
        ('<a.b> !== "x" && <c> >= 2', '<a.b> != "x" and <c> >= 2'),
        ("!(<a> || <b>)", "not (<a> or <b>)"),
        ("!<a> === true", "(not <a>) == true"),
        ("!!<a>", "bool(<a>)"),
        ("<a>.length > 0", "len(<a>) > 0"),
        ("<a> ? 1 : <b> ? 2 : 3", "1 if <a> else 2 if <b> else 3"),
        ("(<a> ? 1 : 2) + 1", "(1 if <a> else 2) + 1"),
        ("<a>.includes('x')", 'contains(<a>, "x")'),
        ("'x'.startsWith(<a>)", 'startswith("x", <a>)'),
        ("<a>.toLowerCase().trim() === 'y'", 'trim(lower(<a>)) == "y"'),
        ("<a> ?? 'd'", 'default(<a>, "d")'),
        ("<a>?.b?.[0].c", '<a>["b"][0]["c"]'),
        ("1 + 2 * 3 - (4 - 5)", "1 + 2 * 3 - (4 - 5)"),
        ("-<a> < +1.5e3", "-<a> < +1.5e3"),
        ("a < b".replace("a", "1").replace("b", "2"), "1 < 2"),
        ("1 < 2 === true", "(1 < 2) == true"),
        ("<a> < 5 && <b> > 3", "<a> < 5 and <b> > 3"),
        ("5 < <a.b> && <c> > 3;", "5 < <a.b> and <c> > 3"),
        ("Number(<a>) > parseInt('7', 10)", 'float(<a>) > int("7")'),
        ("Math.max(1, <a>)", "max(1, <a>)"),
        ("[1, 'b'].includes(<a>)", 'contains([1, "b"], <a>)'),
        ("<a> === undefined || <b> == null", "<a> == null or <b> == null"),
        ("{{KEY}} === 'k'", '${KEY} == "k"'),
        ("'<a.b>' === \"{{K}}!\"", '"<a.b>" == "${K}!"'),
        (r"'it\'s <x' === '$1\n'", '"it\'s \\x3cx" == "\\x241\\n"'),
        ("<empty.x> === 1", "null == 1"),
        ("'<nobody.x>' === 'a'", '"\\x3cnobody.x>" == "a"'),
        ("(<a> || <b>) && <c>", "(<a> or <b>) and <c>"),
        ("<a> - (<b> - 1)", "<a> - (<b> - 1)"),
    ],
)
def test_a_test_is_translated(there: str, here: str) -> None:
    assert translate(there, NAMES).text == here


@pytest.mark.parametrize(
    ("there", "loose"), [("<a> == 1", True), ("<a> != '1'", True), ("<a> == null", False), ("<a> === 1", False)]
)
def test_loose_comparisons_are_known(there: str, loose: bool) -> None:
    assert translate(there, NAMES).loose is loose


@pytest.mark.parametrize(
    "there",
    [
        "",
        "   ",
        "x => x",
        "<a>.filter(1)",
        "new Date()",
        "a.b",
        "return 1",
        "<nobody.x> === 1",
        "1 +",
        "(1",
        "[1",
        "1 2",
        "`x`",
        "/x/.test('a')",
        "a = 1",
        "typeof <a>",
        "<a>.includes()",
        "1 ? 2",
        "{{bad name}}",
        "{{a-b}}",
        "007",
        "'open",
        "<a>.",
        "(" * 200 + "1" + ")" * 200,
        "!" * 999 + "1",
        "1+" * 2000 + "1",
    ],
)
def test_what_has_no_counterpart_is_not_guessed(there: str) -> None:
    with pytest.raises(Untranslated):
        translate(there, NAMES)


def test_an_untranslated_test_fails_whoever_reaches_it_and_shows_its_source(tried: Any) -> None:
    cases = [
        {"id": "a", "title": "if", "value": "<s.n> === 1"},
        {"id": "b", "title": "else if", "value": "<s.l>.some(x => '$<s.n>')"},
        {"id": "c", "title": "else"},
    ]
    blocks = {
        "s": ("starter", "S", {}),
        "k": ("condition", "K", {"conditions": json.dumps(cases)}),
        "w": ("wait", "W", {}),
        "e": ("wait", "E", {}),
    }
    made = tried(blocks, [("s", "k"), ("k", "w", "condition-a"), ("k", "e", "condition-c")])
    assert made.codes == ["sim_condition_untranslated"]
    assert ".some(x =>" in made.messages("sim_condition_untranslated")
    assert simulate(made.document, {"n": 1}).nodes["W"].status == "completed"
    reached = simulate(made.document, {"n": 2})
    assert (reached.status, reached.nodes["K"].code) == ("failed", "expression_error")
    assert "not translated" in reached.error["message"] or "not translated" in str(reached.error)
    assert reached.nodes["E"].status != "completed"


@pytest.mark.parametrize(("value", "way"), [("urgent", "W"), ("later", "E")])
def test_a_translated_condition_takes_the_same_way(value: str, way: str, tried: Any) -> None:
    cases = [
        {"id": "a", "title": "if", "value": "<s.x> === 'urgent' && <s.list>.length > 1"},
        {"id": "c", "title": "Else", "value": "ignored"},
    ]
    blocks = {
        "s": ("starter", "S", {}),
        "k": ("condition", "K", {"conditions": cases}),
        "w": ("slack", "W", {}),
        "e": ("slack", "E", {}),
    }
    made = tried(blocks, [("s", "k"), ("k", "w", "condition-a"), ("k", "e", "condition-c")])
    assert list(simulate(made.document, {"x": value, "list": [1, 2]}).outputs) == [way]
