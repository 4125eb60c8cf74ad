"""Every recipe works as printed on its page: its workflow, its functions, its tests, and their output."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import ROOT, blocks, name_of
from reader import Reader

pytestmark = [pytest.mark.check, pytest.mark.long]

RECIPES = [page for page in sorted((ROOT / "docs/learn/recipes").glob("*.md")) if page.name != "README.md"]


@pytest.mark.parametrize("page", RECIPES, ids=name_of)
def test_a_recipe_works_as_it_stands(page: Path, reader: Reader) -> None:
    for block in blocks(page):
        reader.read(block)


@pytest.mark.parametrize("page", RECIPES, ids=name_of)
def test_a_recipe_has_a_workflow_in_both_forms_and_tests_and_is_listed(page: Path) -> None:
    files = [block.file or "" for block in blocks(page)]
    assert any(name.endswith(".yaml") for name in files)
    assert any("@workflow(" in block.text for block in blocks(page) if block.language == "python"), "no workflow in Python"
    assert any(name.startswith("test_") for name in files)
    assert f"({page.name})" in page.with_name("README.md").read_text("utf-8")
