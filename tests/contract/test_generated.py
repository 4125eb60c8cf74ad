"""The files of contract/, and what is generated from them, are as the engine says today."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from contract import draft_tables, openapi, python, tables, typescript

AGAIN = "the contract has changed: run `make contract`, review the difference and commit it"
ROOT = Path(__file__).resolve().parents[2]


def test_the_committed_document_is_what_the_api_serves() -> None:
    assert json.loads(openapi.FILE.read_text("utf-8")) == openapi.document(), AGAIN
    assert openapi.FILE.read_text("utf-8") == openapi.render(), AGAIN


def test_the_types_of_the_console_are_those_of_the_document() -> None:
    assert typescript.FILE.read_text("utf-8") == typescript.render(), AGAIN


def test_the_types_of_the_client_are_those_of_the_document() -> None:
    assert python.FILE.read_text("utf-8") == python.render(), AGAIN


def test_the_tables_of_a_draft_are_those_of_the_rules() -> None:
    assert draft_tables.FILE.read_text("utf-8") == draft_tables.render(), AGAIN


def test_the_tables_of_the_console_are_those_of_the_file() -> None:
    assert draft_tables.TYPESCRIPT.read_text("utf-8") == draft_tables.typescript(), AGAIN


@pytest.mark.parametrize("file", tables.FILES)
def test_the_tables_of_the_console_are_those_of_the_engine(file: str) -> None:
    assert (tables.FOLDER / file).read_text("utf-8") == tables.FILES[file](), AGAIN


def test_every_generated_table_has_its_test() -> None:
    assert {path.name for path in tables.FOLDER.iterdir()} == set(tables.FILES)


def test_what_is_generated_is_marked_for_reviews() -> None:
    made = [openapi.FILE, typescript.FILE, python.FILE, draft_tables.FILE, draft_tables.TYPESCRIPT]
    made += [tables.FOLDER / name for name in tables.FILES]
    asked = ["git", "check-attr", "linguist-generated", "--", *(str(file.relative_to(ROOT)) for file in made)]
    answered = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(answered) == len(made) and [line for line in answered if not line.endswith(": true")] == []


def test_every_mark_for_reviews_names_a_file_of_the_repository() -> None:
    marked = [line.split()[0] for line in (ROOT / ".gitattributes").read_text("utf-8").splitlines() if line.startswith("/")]
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [one for one in marked if not any(f"/{name}".startswith(one.removesuffix("**")) for name in tracked)] == []


def test_every_schema_has_a_name_that_no_module_leaks_into() -> None:
    schemas = json.loads(openapi.FILE.read_text("utf-8"))["components"]["schemas"]
    assert [name for name in schemas if "__" in name] == [], "two response types have one name: rename one"
