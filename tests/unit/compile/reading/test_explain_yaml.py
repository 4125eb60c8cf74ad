"""The message for a text that is not YAML: the error in plain words, and what to write instead."""

from __future__ import annotations

import pytest
import yaml

from stepless.compile import parse
from stepless.compile.reading.explain_yaml import explained
from stepless.errors import DocumentRefused

FAULTS = [
    ("a:\n\tb: 1", "line 2", "indented with a tab", "Indent with spaces"),
    ("a:\n  b: 1\n\tc: 2", "line 3", "indented with a tab", "Indent with spaces"),
    ("id: a\nmessage: Note: <led.x>", "line 2", "`message` has a text with `: ` in it", 'Write `message: "Note: <led.x>"`.'),
    ("m: say: \"x\" <a>", "line 1", "`m` has a text", "Write `m: 'say: \"x\" <a>'`."),
    ("x:\n  - note: y: <led.x>", "line 2", "`note` has a text", 'Write `- note: "y: <led.x>"`.'),
    ("a: b\n  c: d", "line 2", "indented as if it belonged to the line above", "Align it"),
    ("a\nb: c", "line 2", "the line above", "add `:`"),
    ("a:\n  b: 1\n c: 2", "line 3", "a key was expected here", "Align the keys of one object"),
    ("a: {b: c", "line 2", "start in line 1", "Close it with `}`"),
    ("a: [b, c: d: e", "line 1", "`]` was expected", "in quotes"),
    ("a: {x: <b>: c}", "line 1", "`}` was expected", "in quotes"),
    ("a: 'x", "line 1", "the quote that opens in line 1 is not closed", "Close it."),
    ('a: "x\\q"', "line 1", "this escape does not exist", "single quotes"),
    ('a: "b" c', "line 1", "text follows a value that is in quotes", "all of the text in quotes"),
    ("a: @x", "line 1", "a value cannot start with `@`", "quotes"),
    ("a: *", "line 1", "the name is missing", "quotes"),
    ("a: - b", "line 1", "on the same line as its key", "`[a, b]`"),
    ("a: ]", "line 1", "a value was expected", "quotes"),
    ("a: {{ x }}", "line 1", "a key must not be a list or mapping", '"{{ … }}"'),
    ("a: |x\n b", "line 1", "", "quotes"),
    ("- a", "line 1", "a document is a mapping", "`id: name`"),
    ('{"a": 1,}', "line 1", "", "no comma after the last item"),
]


@pytest.mark.parametrize(("text", "place", "told", "mend"), FAULTS, ids=[fault[0].replace("\n", "|") for fault in FAULTS])
def test_a_fault_of_syntax_says_what_to_write_instead(text: str, place: str, told: str, mend: str) -> None:
    with pytest.raises(DocumentRefused) as refused:
        parse(text)
    (finding,) = refused.value.findings
    assert finding.code == "document_syntax"
    assert finding.path.startswith(f"{place},") and told in finding.message and mend in finding.mend


@pytest.mark.parametrize("text", [fault[0] for fault in FAULTS[:-4]])
def test_the_parser_in_python_is_understood_as_well(text: str) -> None:
    with pytest.raises(yaml.MarkedYAMLError) as raised:
        list(yaml.parse(text, Loader=yaml.SafeLoader))
    told, mend = explained(raised.value, text)
    assert told and mend
