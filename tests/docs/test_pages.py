"""README.md and all pages below docs/ are correct, block by block and link by link. (Recipes have a separate test file, since
both take long.)"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from pages import ROOT, anchors, blocks, links, name_of, pages
from reader import Reader

pytestmark = [pytest.mark.check, pytest.mark.long]

OWN_TEST: Mapping[str, str] = {  # pages that are run, or made, by a test of their own
    "docs/understand/measurements/benchmarks.md": "tests/benchmarks",
    "docs/run/cli.md": "tests/cli/test_manual.py",
    "docs/understand/measurements/cost.md": "tests/benchmarks/test_monthly.py",
    "docs/write/client.md": "tests/client/test_page.py",
    "docs/run/errors.md": "tests/house/test_codes.py",
    "docs/run/http.md": "tests/api/test_http_docs.py",
    "docs/understand/measurements/scale.md": "tests/benchmarks/test_scale.py",
    "docs/write/testing.md": "tests/unit/testing/test_documentation.py",
}
READ = [page for page in pages() if name_of(page) not in OWN_TEST and page.parent.name != "recipes"]


@pytest.mark.parametrize("page", READ, ids=name_of)
def test_every_block_of_a_page_does_what_it_says(page: Path, reader: Reader) -> None:
    for block in blocks(page):
        reader.read(block)


@pytest.mark.parametrize("page", sorted(OWN_TEST))
def test_a_page_with_a_test_of_its_own_has_it(page: str) -> None:
    assert (ROOT / page).is_file() and (ROOT / OWN_TEST[page]).exists()
    assert all(block.language for block in blocks(ROOT / page)), "a block without a language"


@pytest.mark.parametrize("page", [*pages(), *sorted((ROOT / "examples").rglob("README.md"))], ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name_of(page)}: {link}"
        assert not anchor or anchor in anchors(target), f"{name_of(page)}: {link}"
