"""What is stored of an exception: bounded, in Python's own format, whatever the exception does."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from stepless.expressions import compile_template
from stepless.raised import described, message_of

MOST = 4_000
HERE = Path(__file__)


def raised(call: Any) -> dict[str, Any]:
    try:
        call()
    except BaseException as error:
        facts = described(error, MOST)
    assert len(json.dumps(facts, ensure_ascii=False).encode("utf-8", "surrogatepass")) <= MOST
    return facts


def price(item: str) -> int:
    return {"apple": 2}[item]


def test_type_message_place_and_source_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE.parent)
    facts = raised(lambda: price("carrot"))
    line = price.__code__.co_firstlineno + 1
    assert {name: facts[name] for name in ("type", "message", "file", "line", "function")} == {
        "type": "KeyError", "message": "'carrot'", "file": HERE.name, "line": line, "function": "price",
    }  # fmt: skip
    assert facts["traceback"].startswith("Traceback (most recent call last):\n")
    end = f'  File "{HERE.name}", line {line}, in price\n    return {{"apple": 2}}[item]\nKeyError: \'carrot\''
    assert facts["traceback"].endswith(end)


def test_a_cause_stands_before_what_it_caused() -> None:
    def call() -> None:
        try:
            price("carrot")
        except KeyError as error:
            raise ValueError("no price") from error

    text = raised(call)["traceback"]
    assert text.index("KeyError: 'carrot'") < text.index("direct cause of the following") < text.index("ValueError: no price")


def test_a_context_is_told_unless_it_is_suppressed() -> None:
    def call(suppressed: bool) -> None:
        try:
            price("carrot")
        except KeyError:
            if suppressed:
                raise ValueError("no price") from None
            raise ValueError("no price")  # noqa: B904

    text = raised(lambda: call(False))["traceback"]
    assert text.index("KeyError") < text.index("During handling") < text.index("ValueError: no price")
    alone = raised(lambda: call(True))
    assert "handling" not in alone["traceback"]


def test_members_of_groups_are_told_with_their_causes() -> None:
    def call() -> None:
        members: list[Exception] = []
        for item in ("carrot", "leek"):
            try:
                price(item)
            except KeyError as error:
                try:
                    raise ValueError(f"no price for {item}") from error
                except ValueError as caused:
                    members.append(caused)
        raise ExceptionGroup("prices", [ExceptionGroup("inner", members), OSError("out of reach")])

    text = raised(call)["traceback"]
    for part in ("prices (2 sub-exceptions)", "Member 1 of 2", "KeyError: 'leek'", "no price for carrot", "OSError: out of"):
        assert part in text


def test_a_circle_of_causes_ends() -> None:
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    assert described(one, MOST)["traceback"].count("ValueError: ") == 2


def test_a_long_chain_keeps_its_first_and_its_last() -> None:
    error: Exception = ValueError("number 0")
    for number in range(1, 500):
        caused = ValueError(f"number {number}")
        caused.__cause__ = error
        error = caused
    text = described(error, MOST)["traceback"]
    assert "number 0\n" in text and "number 499" in text and "490 more exceptions" in text


def test_recursion_is_told_once() -> None:
    def down(depth: int) -> None:
        if not depth:
            raise ValueError("bottom")
        down(depth - 1)

    facts = raised(lambda: down(800))
    assert "(the same frame 799 more times)" in facts["traceback"]
    assert facts["function"] == "down"


def test_what_is_too_much_is_left_out_and_counted() -> None:
    source = "\n".join(f"def f{n}(text):\n    return f{n + 1}(text)  # {'x' * 150}" for n in range(60))
    names: dict[str, Any] = {}
    exec(compile(f"{source}\ndef f60(text):\n    raise ValueError(text)", "/far/away/deep.py", "exec"), names)
    facts = raised(lambda: names["f0"]("€" * 5_000))
    assert "frames left out" in facts["traceback"]
    assert (facts["file"], facts["line"], facts["function"]) == ("/far/away/deep.py", 122, "f60")
    assert facts["message"].startswith("€€€€")


def test_control_characters_cannot_break_the_bound() -> None:
    assert raised(lambda: price("\x00" * 10_000))["type"] == "KeyError"


def test_the_place_is_the_authors_and_not_a_librarys() -> None:
    def parse() -> None:
        json.loads("{")

    facts = raised(parse)
    assert facts["function"] == "parse" and facts["file"].endswith(HERE.name)
    assert 'File "json/decoder.py"' in facts["traceback"]
    assert facts["type"] == "json.decoder.JSONDecodeError"


def test_frames_of_the_engine_are_left_out() -> None:
    facts = raised(lambda: compile_template("{{ 1 + }}", lambda name: True))
    assert "expressions" not in facts["traceback"].partition("stepless.errors")[0]
    assert facts["file"].endswith(HERE.name)


def test_notes_are_told() -> None:
    def call() -> None:
        error = ValueError("late")
        error.add_note("order A-17")
        raise error

    assert raised(call)["traceback"].endswith("ValueError: late\norder A-17")


class Liar(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


class Hollow(ExceptionGroup[Exception]):
    @property
    def exceptions(self) -> Any:
        raise RuntimeError("no")


def test_an_exception_that_raises_when_asked_is_told_all_the_same() -> None:
    assert message_of(Liar()) == "Liar"
    assert described(Liar(), MOST)["message"] == ""
    assert described(Hollow("hollow", [ValueError()]), MOST)["type"].endswith("Hollow")


def test_source_that_is_given_is_the_only_one_that_is_read() -> None:
    code = "def main(args):\n    return args['a']"
    names: dict[str, Any] = {}
    exec(compile(code, "<code>", "exec"), names)
    try:
        names["main"]({})
    except KeyError as error:
        facts = described(error, MOST, {"<code>": code})
    assert '  File "<code>", line 2, in main\n    return args[\'a\']\nKeyError' in facts["traceback"]
    assert "names[" not in facts["traceback"]
    assert sys.exc_info() == (None, None, None)
