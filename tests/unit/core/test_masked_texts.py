"""Which parts of a text are masked because of a secret, or of a part of one."""

from __future__ import annotations

import pytest

from stepless.core.values.masking import Mask

SECRET = "s3cr3t-of-a-bank"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("it was s3cr3t-of-a-b", "it was ***"),  # cut off
        ("s3cr3t-of-a-b, s3cr3t-of, and s3cr3t-o!", "***, ***, and ***!"),
        ("s3cr3t-os3cr3t-o", "******"),  # the next one begins where the last one ended
        ("s3cr3t-ox s3cr3t-of-a-bankx", "***x ***x"),
        ("s3cr3t- is too little to tell", "s3cr3t- is too little to tell"),
        ("a secret of a bank", "a secret of a bank"),
    ],
)
def test_the_beginnings_of_a_secret_are_hidden_in_a_message(text: str, shown: str) -> None:
    assert Mask([SECRET]).message(text) == shown


def test_what_hides_a_secret_is_not_searched_for_it_again() -> None:
    assert Mask(["***abcdefghijkl"]).message("a ***abcdefg b ***abcdefgh") == "a *** b ***"


def test_a_beginning_that_every_address_has_gives_nothing_away() -> None:
    mask = Mask(["https://hooks.example/zq7-secret-path"])
    assert mask.message("see https://docs.example") == "see https://docs.example"
    assert mask.message("see https://hooks.ex") == "see ***"
    assert mask.message("see https://hooks.e") == "see https://hooks.e"


@pytest.mark.parametrize(("text", "held"), [("", 0), ("x", 0), ("xs", 1), ("x s3cr3t-of-a-ban", 15), ("s3cr3t-of-a-bank", 0)])
def test_of_a_stream_only_what_may_become_a_secret_is_held_back(text: str, held: int) -> None:
    assert Mask([SECRET]).held(text) == held
