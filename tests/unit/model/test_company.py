"""The settings of the company whose questions approvers are asked."""

from __future__ import annotations

import pytest

from stepless.errors import ConfigError
from stepless.model.texts.company import COLOR, LOGO, NAME, NONE, Company, company_of


def test_the_settings_are_read_and_each_may_be_missing() -> None:
    given = {NAME: " Acme ", LOGO: "https://acme.example/logo.svg", COLOR: "#FFcc00"}
    assert company_of(given.get) == Company("Acme", "https://acme.example/logo.svg", "#FFcc00")
    assert company_of({}.get) == company_of({NAME: "", LOGO: "", COLOR: ""}.get) == NONE


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (LOGO, "http://acme.example/logo.svg"), (LOGO, "https://acme.example/a b"), (LOGO, "https://a.example/x; script-src *"),
        (LOGO, "https://a.example/'none'"), (LOGO, "javascript:alert(1)"), (COLOR, "blue"), (COLOR, "#fff"), (COLOR, "#12345g"),
        (COLOR, "#123456; } body { display: none"),
    ],
)  # fmt: skip
def test_what_no_page_can_show_is_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError) as refused:
        company_of({name: value}.get)
    assert refused.value.place == name and refused.value.mend


@pytest.mark.parametrize(
    ("color", "ink"), [("#ffcc00", "#000000"), ("#0b5cad", "#ffffff"), ("#ffffff", "#000000"), ("#000000", "#ffffff")]
)
def test_text_on_the_colour_is_black_or_white(color: str, ink: str) -> None:
    assert Company(color=color).ink == ink
