"""Reads whose name, logo and colour the pages and notices for approvers have: settings of the deployment."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from stepless.errors import ConfigError

NAME: Final = "STEPLESS_COMPANY_NAME"  # whose questions these are, in the head of the page and of mail
LOGO: Final = "STEPLESS_COMPANY_LOGO"  # the https address of an image
COLOR: Final = "STEPLESS_COMPANY_COLOR"  # of buttons, like #0b5cad
_LOGO: Final = re.compile(r"https://[A-Za-z0-9.-]+(?::\d{1,5})?/[^\s\"'<>;,\\]{0,2000}")  # no mark ends it in a policy
_COLOR: Final = re.compile(r"#[0-9a-fA-F]{6}")
_LIGHT: Final = 0.179  # a luminance, above which black is easier to read than white


@dataclass(frozen=True, slots=True)
class Company:
    """Each is empty where it is not set."""

    name: str = ""
    logo: str = ""
    color: str = ""

    @property
    def ink(self) -> str:
        """The colour of text on `color`: black or white, whichever has the higher contrast."""
        return "#000000" if _luminance(self.color) > _LIGHT else "#ffffff"


NONE: Final = Company()


def company_of(setting: Callable[[str], str | None]) -> Company:
    """Returns the company that the settings describe. Raises `ConfigError` for a logo or a colour that no page can show."""
    name, logo, color = ((setting(key) or "").strip() for key in (NAME, LOGO, COLOR))
    if logo and not _LOGO.fullmatch(logo):
        raise ConfigError(f"{logo[:100]!r} is not the address of a logo", place=LOGO, mend="use an https address of an image")
    if color and not _COLOR.fullmatch(color):
        raise ConfigError(f"{color[:100]!r} is not a colour", place=COLOR, mend="write it like #0b5cad")
    return Company(name[:100], logo, color)


def _luminance(color: str) -> float:
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
