"""docs/write/reference.md agrees with the models, and describes everything in them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from pages import ROOT
from pydantic import BaseModel

from stepless.cli.terminal.field_docs import described
from stepless.compile import json_schema
from stepless.model.declaration import validation
from stepless.model.declaration.field_docs import field_docs
from stepless.nodes import KINDS
from stepless.nodes.control.container import ContainerParams
from stepless.nodes.control.loop import LoopParams

PAGE = (ROOT / "docs/write/reference.md").read_text("utf-8")
MODELS = [model for model in vars(validation).values() if isinstance(model, type) and issubclass(model, validation.DocumentPart)]


@pytest.fixture(scope="module")
def made() -> str:
    command = [sys.executable, "-X", "utf8", "tests/tools/documentation/reference_page.py"]
    environment = {"PYTHONPATH": str(ROOT / "engine"), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True, encoding="utf-8", timeout=120)
    return ended.stdout


def test_the_page_is_what_the_models_say(made: str) -> None:
    assert made == PAGE, "make it anew: .venv/bin/python tests/tools/documentation/reference_page.py > docs/write/reference.md"


@pytest.mark.parametrize("model", [*MODELS, *(kind.params for kind in KINDS.values())], ids=lambda model: model.__name__)
def test_every_field_says_what_it_means(model: type[BaseModel]) -> None:
    assert [name for name in model.model_fields if name not in field_docs(model)] == []


def test_every_kind_has_a_chapter_with_a_workflow_that_uses_it() -> None:
    for name in KINDS:
        chapter = PAGE.split(f"\n### `{name}`\n")[1].split("\n### ")[0]
        assert re.search(rf"type: {name}\b", chapter), name
        assert "\nExits: " in chapter, name


def test_what_a_field_means_stands_below_it_in_its_source_or_in_that_of_a_base() -> None:
    class Small(BaseModel):
        size: int = 1
        """How large it is,
        in metres."""
        weight: int = 2

    assert field_docs(Small) == {"size": "How large it is, in metres."}
    assert field_docs(LoopParams).keys() - field_docs(ContainerParams).keys() == {
        "times", "items", "while_", "do_while", "results", "keep_writes",
    }  # fmt: skip


def test_editors_are_told_what_a_field_means() -> None:
    schema = described(json_schema(KINDS))
    assert schema["properties"]["timeout"]["description"] == field_docs(validation.Document)["timeout_ms"]
    parts = {name: part["properties"] for name, part in schema["$defs"].items() if part.get("properties")}
    assert parts["http.with"]["url"]["description"].startswith("The URL.")
    signed = schema["$defs"]["webhook.Signed"]["anyOf"][0]["properties"]
    assert signed["scheme"]["description"].startswith("The sender's scheme")
    silent = [f"{name}.{field}" for name, fields in parts.items() for field, told in fields.items() if "description" not in told]
    assert silent == []
