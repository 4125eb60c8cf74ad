"""Checks the form of the ids of workflows."""

from __future__ import annotations

import re
from typing import Final

from stepless.limits import MAX_ID_CHARACTERS

SLUG: Final = rf"[a-z0-9][a-z0-9-]{{0,{MAX_ID_CHARACTERS - 1}}}"
_SLUG: Final = re.compile(SLUG)


def is_slug(text: str) -> bool:
    """Returns whether a text can be the id of a workflow."""
    return _SLUG.fullmatch(text) is not None
