"""Secrets are masked in every encoding that programs use, and nothing else is."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, quote_plus, urlencode

import pytest

from stepless.core.values.masking import HIDDEN, Mask
from stepless.testing.simulation import simulate

HARD = "p@s's (w)*!/\\ü\"~\n+%&="


def component(text: str, kept: str = "~!*'()") -> str:
    """What JavaScript's encodeURIComponent makes of a text."""
    return quote(text, safe=kept)


@pytest.mark.parametrize("secret", [HARD, "it's (mine)!*", "ключ'()", "100% sure!"])
def test_a_secret_in_a_url_is_hidden_whoever_wrote_it(secret: str) -> None:
    mask = Mask([secret])
    for written in (
        component(secret), component(secret, "~!*'();,/?:@&=+$#"), component(secret).replace("%20", "+"),
        quote(secret, safe=""), quote(secret), quote_plus(secret), urlencode({"k": secret}).removeprefix("k="),
        quote(secret, safe="*").replace("%20", "+").replace("~", "%7E"),
    ):  # fmt: skip
        assert mask.text(f"https://x/?k={written}&z") == f"https://x/?k={HIDDEN}&z", written


@pytest.mark.parametrize("secret", [HARD, 'a"b\\c', "line\nline", "grüße", "\ttab\x01"])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("then", [True, False])
@pytest.mark.parametrize("levels", [1, 2, 3, 4])
def test_a_secret_in_json_within_json_is_hidden(secret: str, first: bool, then: bool, levels: int) -> None:
    text = json.dumps({"k": secret}, ensure_ascii=first)
    for _ in range(levels - 1):
        text = json.dumps({"body": text}, ensure_ascii=then)
    shown = Mask([secret]).text(text)
    for _ in range(levels - 1):
        shown = json.loads(shown)["body"]
    assert json.loads(shown) == {"k": HIDDEN}


@pytest.mark.parametrize(
    ("secret", "numbers", "others"),
    [
        ("123456", [123456, 123456.0], [123457, 1234567, 12345, True, -123456]),
        ("-9876", [-9876], [9876]),
        ("1234.50", [1234.5], [1234, 12345.0]),
        ("1e10", [1e10], [1e11]),
        ("0042", [], [42]),
        ("123", [], [123]),
        ("word", [], [0, 1, 1.5]),
        (str(2**200), [2**200], [2**200 + 1]),
        ("Infinity", [], [0]),
    ],
)
def test_a_number_whose_text_is_a_secret_is_hidden(secret: str, numbers: list[Any], others: list[Any]) -> None:
    mask = Mask([secret, "another-secret"])
    assert mask.value({"k": [numbers]}) == {"k": [[HIDDEN] * len(numbers)]}
    assert mask.value(others) == others
    assert mask.value(numbers, numbers=False) == numbers


@pytest.mark.parametrize("pin", ["4711", "1000", "0.0001"])
def test_numbers_of_people_are_hidden_in_events(pin: str) -> None:
    number = "{{ json(${PIN}) }}"
    nodes = {
        "begin": {"type": "manual"},
        "pin": {"type": "transform", "after": "begin", "with": {"value": {"pin": number, "n": 7}}},
        "kept": {"type": "set", "after": "pin", "with": {"variables": {"pin": number}}},
        "end": {"type": "respond", "after": "kept", "with": {"status": 201, "body": {"pin": number}}},
    }
    document = {"id": "pins", "env": ["PIN"], "variables": {"pin": None}, "nodes": nodes}
    run = simulate(document, {"given": json.loads(pin)}, env={"PIN": pin})
    assert run.status == "completed" and run.variables == {"pin": HIDDEN}
    assert run.nodes["pin"].output == {"pin": HIDDEN, "n": 7}
    assert run.events[0]["payload"]["inputs"] == {"given": HIDDEN}
    assert pin not in json.dumps([event["payload"] for event in run.events])


def test_numbers_of_the_engine_stay() -> None:
    """A secret may be the number of a turn, or an instant."""
    body = {"nodes": {"x": {"type": "transform", "with": {"value": "<loop.index>"}}}}
    turns = {"times": 1002, "max_iterations": 2000, "body": body}
    nodes = {"a": {"type": "wait", "with": {"for": "1s"}}, "l": {"type": "loop", "after": "a", "with": turns}}
    plain = {"id": "w", "env": ["PIN"], "max_steps": 5000, "nodes": nodes}
    for pin in ("1000", "1001"):
        run = simulate(plain, env={"PIN": pin})
        assert run.status == "completed", run.error
        assert run.nodes["l"].output == [HIDDEN if str(index) == pin else index for index in range(1002)]
