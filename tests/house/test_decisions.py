"""Decision records are up to date: every declared dependency has its reason, and the core is called as its record says."""

from __future__ import annotations

import inspect
import json
import re
import tomllib

from pages import ROOT

from stepless.core.decide import decide
from stepless.core.fold import fold

RECORDS = ROOT / "docs/understand/decisions"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
NAME = re.compile(r"[\w.@/-]*[\w]")


def declared() -> set[str]:
    """The names of all that pyproject.toml asks for, its own extras left out."""
    lists = [PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"].values()]
    lists += [*PROJECT["dependency-groups"].values(), PROJECT["build-system"]["requires"]]
    return {found[0].lower() for one in lists for need in one if (found := NAME.match(need))} - {"stepless"}


def listed(record: str = "0004-dependencies.md") -> dict[str, list[str]]:
    """The first column of the tables of the record, name by name, with the reason beside it."""
    chosen = (RECORDS / record).read_text("utf-8").partition("## Not chosen")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|", chosen, re.MULTILINE)
    found: dict[str, list[str]] = {}
    for names, reason in rows:
        for name in filter(None, map(NAME.match, names.split(", "))):
            found.setdefault(name[0].lower(), []).append(reason)
    return found


def test_every_dependency_has_its_reason() -> None:
    reasons = listed()
    assert declared() - reasons.keys() == set()
    assert [name for name in declared() if not all(len(reason) > 4 for reason in reasons[name])] == []


def test_no_reason_is_left_over() -> None:
    assert listed().keys() - declared() - {"library", "uv"} == set()


def test_the_packages_of_the_console_have_their_reasons_and_exact_versions() -> None:
    package = json.loads((ROOT / "console/package.json").read_text("utf-8"))
    needed = {**package.get("dependencies", {}), **package["devDependencies"]}
    reasons = listed("0012-console-tools.md") | listed("0013-console-libraries.md")
    assert reasons.keys() - {"package"} == needed.keys()
    assert [name for name, version in needed.items() if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []


def test_the_core_is_called_as_its_record_says() -> None:
    text = (RECORDS / "0003-pure-core-async-shell.md").read_text("utf-8")
    for function in (decide, fold):
        parameters = inspect.signature(function).parameters.values()
        keywords = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
        names = [one.name for one in parameters if one.kind is not one.KEYWORD_ONLY] + (["*", *keywords] if keywords else [])
        assert f"`{function.__name__}({', '.join(names)})`" in text


def test_every_part_of_the_wiring_is_in_the_record() -> None:
    text = (RECORDS / "0003-pure-core-async-shell.md").read_text("utf-8")
    wiring = {path.name for path in (ROOT / "engine/stepless/runtime/wiring").glob("[a-z]*.py")}
    assert wiring == {name for name in re.findall(r"`(\w+\.py)`", text) if name != "app.py"}
