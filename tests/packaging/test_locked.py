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
Package = tuple[str, str]  # name and version; the project has none in the lock, because its version comes from the tag
PACKAGES: Final[Mapping[Package, Mapping[str, Any]]] = {(one["name"], one.get("version", "")): one for one in LOCK["package"]}
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


def installed(python: tuple[int, ...], architecture: str, *extras: str) -> dict[str, Mapping[str, Any]]:
    """The packages that the project brings on Linux, itself left out. The tools of a deployment may bring other versions."""
    place = {"python_version": ".".join(map(str, python)), "python_full_version": ".".join(map(str, python)) + ".2",
             "sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_machine": architecture,
             "platform_python_implementation": "CPython", "implementation_name": "cpython"}  # fmt: skip
    found: set[tuple[Package, str]] = set()
    todo = [(_only("stepless"), extra) for extra in ("", *extras)]
    while todo:
        package, extra = todo.pop()
        if (package, extra) in found:
            continue
        found.add((package, extra))
        todo += _needs(package, extra, place)
    packages = {package for package, _ in found} - {_only("stepless")}
    assert len({name for name, _ in packages}) == len(packages), "the project brings one version of each package"
    return {name: PACKAGES[name, version] for name, version in packages}


def _needs(package: Package, extra: str, place: Mapping[str, str]) -> Iterator[tuple[Package, str]]:
    locked = PACKAGES[package]
    for need in locked.get("optional-dependencies", {}).get(extra, ()) if extra else locked.get("dependencies", ()):
        if "marker" not in need or Marker(need["marker"]).evaluate({**place, "extra": ""}):
            needed = (need["name"], need["version"]) if "version" in need else _only(need["name"])
            yield from ((needed, one) for one in ("", *need.get("extra", ())))


def _only(name: str) -> Package:
    """A package of which the lock has one version."""
    [found] = [package for package in PACKAGES if package[0] == name]
    return found


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("python", PYTHONS, ids=lambda python: ".".join(map(str, python)))
def test_every_dependency_has_a_wheel(python: tuple[int, ...], architecture: str) -> None:
    able = tags(python, architecture)
    found = installed(python, architecture, *PROJECT["optional-dependencies"])
    assert found.keys() >= ALWAYS
    missing = [name for name, package in sorted(found.items()) if not any(wheel & able for wheel in wheels(package))]
    assert missing == []


@pytest.mark.parametrize("python", PYTHONS, ids=lambda python: ".".join(map(str, python)))
def test_no_compiled_dependency_is_optional(python: tuple[int, ...]) -> None:
    """A new one needs a line above and in docs/understand/decisions/0004-dependencies.md, and wheels for every place."""
    for extras in ((), PROJECT["optional-dependencies"]):
        assert {name for name, package in installed(python, "x86_64", *extras).items() if is_compiled(package)} == ALWAYS


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
