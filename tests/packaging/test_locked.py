"""Every compiled dependency has wheels for the platforms of Stepless: CPython 3.11 to 3.13, on both of Lambda's architectures.
Read from uv.lock, so no network is needed."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
from environments import ROOT
from packaging.markers import Marker
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

LOCK: Final = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))
PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PACKAGES: Final[Mapping[str, Mapping[str, Any]]] = {package["name"]: package for package in LOCK["package"]}
PYTHONS: Final = [tuple(map(int, found)) for found in re.findall(r":: (3)\.(\d+)", " ".join(PROJECT["classifiers"]))]
ARCHITECTURES: Final = ("x86_64", "aarch64")
NEWEST_GLIBC: Final = 28  # manylinux_2_28 is what the layers are built for (Makefile)
ALWAYS: Final = {"cffi", "cryptography", "google-re2", "jsonschema-rs", "orjson", "pydantic-core", "pyyaml"}
"""Compiled, and installed without any extra. None of them may become optional: the engine has one way to do what they do."""


def tags(python: tuple[int, ...], architecture: str) -> set[Tag]:
    """What an interpreter of Lambda can install."""
    platforms = [f"manylinux_2_{minor}_{architecture}" for minor in range(NEWEST_GLIBC, 4, -1)]
    platforms += [f"manylinux2014_{architecture}", *([f"manylinux2010_{architecture}"] if architecture == "x86_64" else [])]
    interpreter = f"cp{python[0]}{python[1]}"
    return {*cpython_tags(python, platforms=platforms), *compatible_tags(python, interpreter, platforms)}


def wheels(package: Mapping[str, Any]) -> list[frozenset[Tag]]:
    return [parse_wheel_filename(wheel["url"].rpartition("/")[2])[3] for wheel in package.get("wheels", ())]


def is_compiled(package: Mapping[str, Any]) -> bool:
    return not any(tag.platform == "any" for found in wheels(package) for tag in found)


def installed(python: tuple[int, ...], architecture: str, *extras: str) -> set[str]:
    """The packages that the project brings on Linux, itself left out."""
    place = {"python_version": ".".join(map(str, python)), "python_full_version": ".".join(map(str, python)) + ".2",
             "sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_machine": architecture,
             "platform_python_implementation": "CPython", "implementation_name": "cpython"}  # fmt: skip
    found: set[tuple[str, str]] = set()
    todo = [("stepless", extra) for extra in ("", *extras)]
    while todo:
        name, extra = todo.pop()
        if (name, extra) in found:
            continue
        found.add((name, extra))
        todo += [(next_name, one) for next_name, one in _needs(name, extra, place)]
    return {name for name, _ in found} - {"stepless"}


def _needs(name: str, extra: str, place: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    package = PACKAGES[name]
    for need in package.get("optional-dependencies", {}).get(extra, ()) if extra else package.get("dependencies", ()):
        if "marker" not in need or Marker(need["marker"]).evaluate(dict(place)):
            yield from ((need["name"], one) for one in ("", *need.get("extra", ())))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("python", PYTHONS, ids=lambda python: ".".join(map(str, python)))
def test_every_dependency_has_a_wheel(python: tuple[int, ...], architecture: str) -> None:
    able = tags(python, architecture)
    names = installed(python, architecture, *PROJECT["optional-dependencies"])
    assert names >= ALWAYS
    missing = [name for name in sorted(names) if not any(found & able for found in wheels(PACKAGES[name]))]
    assert missing == []


@pytest.mark.parametrize("python", PYTHONS, ids=lambda python: ".".join(map(str, python)))
def test_no_compiled_dependency_is_optional(python: tuple[int, ...]) -> None:
    """A new one needs a line above and in docs/decisions/0004-dependencies.md, and wheels for every place."""
    for extras in ((), PROJECT["optional-dependencies"]):
        assert {name for name in installed(python, "x86_64", *extras) if is_compiled(PACKAGES[name])} == ALWAYS


def test_the_lock_has_one_version_of_each_dependency() -> None:
    """Otherwise only the last of them would be looked at."""
    names = [package["name"] for package in LOCK["package"]]
    assert [name for name in installed(PYTHONS[0], "x86_64", *PROJECT["optional-dependencies"]) if names.count(name) != 1] == []


def test_a_missing_wheel_is_found() -> None:
    able = tags((3, 12), "aarch64")
    for name, fits in (
        ("x-1-cp312-cp312-manylinux_2_17_aarch64.manylinux2014_aarch64.whl", True),
        ("x-1-cp39-abi3-manylinux_2_28_aarch64.whl", True),
        ("x-1-py3-none-any.whl", True),
        ("x-1-cp312-cp312-manylinux_2_17_x86_64.whl", False),
        ("x-1-cp313-cp313-manylinux_2_17_aarch64.whl", False),
        ("x-1-cp312-cp312-manylinux_2_34_aarch64.whl", False),
        ("x-1-cp312-cp312-musllinux_1_2_aarch64.whl", False),
    ):
        assert bool(parse_wheel_filename(name)[3] & able) is fits, name
