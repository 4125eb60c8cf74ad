"""The tiers of the suite, by marker: `make test` runs the tests that are `quick`, `make check` those that are `check` as well,
and `make check-nightly` those that are `nightly`.

A file says its tier with `pytestmark`, and a test or a parameter may say a later one. A file that says none has the tier of its
folder. What is slow by nature is in `check`: it starts processes, browsers or emulators, or installs packages. In `nightly` are
planted bugs: they test the tests.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

TIERS: Final = ("quick", "check", "nightly")
FOLDERS: Final[Mapping[str, str]] = {  # under tests/ → the tier of its files
    "api": "quick", "benchmarks": "check", "browser": "check", "cli": "quick", "client": "quick",
    "conformance": "quick", "console": "quick", "contract": "quick", "contracts": "quick", "damage": "check", "deploy": "check",
    "docs": "quick", "drafts": "quick", "examples": "check",
    "flow": "quick", "functions": "check", "golden": "quick", "house": "quick", "packaging": "check", "properties": "quick",
    "simulation": "check", "unit": "quick",
}  # fmt: skip


def tier_of(folder: str, marked: Collection[str], folders: Mapping[str, str] = FOLDERS) -> str:
    """The tier of a test in a folder of tests/, with these markers: the latest that it says. Raises LookupError if neither the
    test nor its folder says one."""
    said = [tier for tier in TIERS if tier in marked]
    if said:
        return said[-1]
    if folders.get(folder) not in TIERS:
        raise LookupError(f"tests/{folder} has no tier, one of {', '.join(TIERS)}: add it to FOLDERS in {__name__}.py")
    return folders[folder]
