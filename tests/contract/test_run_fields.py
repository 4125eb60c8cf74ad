"""Every reader of a run consumes each field of it, or names the field among those that it leaves out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from contract import openapi

ROOT: Final = Path(__file__).resolve().parents[2]
# `run["status"]` in the command line, `head.status` or `{ status }: Head` in the console
QUOTED: Final = re.compile(r"""run(?:\.get\(|\[)["'](\w+)["']""")
READ: Final = re.compile(r"\b(?:head|run|row)\??\.(\w+)\b")
TAKEN: Final = re.compile(r"\{ ([\w, ]+) \}: (?:Head|RunOut|RunHeadOut)\b")


class Reader(NamedTuple):
    """`left_out` are the fields that it does not show on purpose."""

    schema: str
    files: tuple[str, ...]
    left_out: frozenset[str]


READERS: Final = {
    "runs show": Reader(
        "RunOut", ("engine/stepless/cli/verbs/runs.py", "engine/stepless/cli/verbs/following.py"),
        frozenset({
            "hash", "waiting", "failures", "steps", "usage", "sequence", "pauses_left_out", "messages", "duration_ms",
            "expires_at", "links",
        }),
    ),
    "runs list": Reader(
        "RunHeadOut", ("engine/stepless/cli/verbs/listing.py",),
        frozenset({
            "version", "key", "hash", "waiting", "error", "pauses", "usd", "draft", "keywords", "updated_at", "links", "damage",
        }),
    ),
    "the page of a run": Reader(
        "RunOut", ("console/src/runs/view", "console/src/runstate"),
        frozenset({
            "id", "hash", "waiting", "inputs", "outputs", "variables", "failures", "tags", "non_entries", "parent", "rerun",
            "usage", "sequence", "limits", "expires_at", "links",
        }),
    ),
    "the list of runs": Reader(
        "RunHeadOut", ("console/src/runs/list",), frozenset({"key", "hash", "draft", "tags", "updated_at", "links", "damage"}),
    ),
}  # fmt: skip


def fields_of(schema: str) -> set[str]:
    properties = json.loads(openapi.FILE.read_text("utf-8"))["components"]["schemas"][schema]["properties"]
    return set(properties)


def sources(files: tuple[str, ...]) -> Iterator[str]:
    for name in files:
        path = ROOT / name
        for file in sorted(path.rglob("*.ts*")) if path.is_dir() else [path]:
            yield file.read_text("utf-8")


def read_in(text: str) -> set[str]:
    taken = {name.strip() for names in TAKEN.findall(text) for name in names.split(",")}
    return {*QUOTED.findall(text), *READ.findall(text), *taken}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_shows_each_field_or_leaves_it_out(name: str) -> None:
    reader = READERS[name]
    fields, read = fields_of(reader.schema), {field for text in sources(reader.files) for field in read_in(text)}
    assert fields - read - reader.left_out == set(), f"{name}: show it, or name it here"
    assert read & reader.left_out == set(), f"{name}: it is shown"
    assert reader.left_out - fields == set(), f"{name}: there is no such field"
