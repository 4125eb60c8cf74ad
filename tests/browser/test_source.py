"""A workflow that was compiled from Python, in the console: its source beside its graph, read-only until the source is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from axe import violations
from draft_site import DraftSite
from windows import Windows, block, choose, saved, until

SOURCE: Final = '''\
from stepless.flow import step, workflow


@step("source.pay")
async def pay(order_id: str, amount: int) -> str:
    return f"receipt of {order_id}"


@workflow("refund")
async def refund(order_id: str, amount: int) -> dict:
    if amount > 100:
        return {"status": "denied"}
    receipt = await pay(
        order_id,
        amount,
    )
    return {"receipt": receipt}
'''

STOCK: Final = """\
from stepless.flow import part, step


@step("source.count")
async def count(sku: str) -> int:
    return len(sku)


@part
async def left(sku: str) -> int:
    found = await count(sku)
    if found > 3:
        await count("more")
    return found
"""
SALE: Final = """\
from stepless.flow import part, step, workflow
from stock import count, left


@part
async def near(sku: str) -> int:
    return await count(sku)


@workflow("sale")
async def sale(sku: str) -> list:
    many = await left(sku)
    few = await near(sku)
    return [many, few]
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[DraftSite]:
    """A server over a folder with one workflow in Python, of which two versions are published."""
    (tmp_path / "refund.py").write_text(SOURCE)
    made = DraftSite(tmp_path)
    made.kill()
    (tmp_path / "refund.py").write_text(SOURCE.replace("100", "200"))
    made.start()
    yield made
    made.close()


def marked(page: Any) -> list[str]:
    """The lines of the source that are marked, in its shadow tree."""
    return [line.strip() for line in page.locator(".source-text .cm-part").all_inner_texts()]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_source_and_the_graph_show_each_other_and_the_draft_is_edited_after_leaving_it(
    windows: Windows, site: DraftSite, theme: str
) -> None:
    admin = site.administrator()
    script = f"localStorage.setItem('stepless.theme', '{theme}')"
    page = windows.open(admin, f"{admin.cable.url}/console/workflows/refund/versions/2", ".source-text .cm-line", script)

    block(page, "receipt").click()
    until(page, "() => document.querySelector('.source-at').textContent === 'lines 13–16'")
    assert marked(page) == ["receipt = await pay(", "order_id,", "amount,", ")"]
    page.locator(".source-text .cm-line", has_text="denied").click()
    page.wait_for_selector(".block.selected:has(.block-name:text-is('return'))")
    page.keyboard.press("ArrowUp")
    page.wait_for_selector(".block.selected:has(.block-name:text-is('if_amount'))")
    assert marked(page) == ["if amount > 200:", 'return {"status": "denied"}']
    assert violations(page, f"version, {theme}") == []

    page.get_by_role("link", name="Changes since v1").click()
    page.wait_for_selector(".source-changes")
    lines = [line.split() for line in page.locator(".source-changes tr:is(.came, .went) td:last-child").all_inner_texts()]
    assert lines == [["-", "removed:", "if", "amount", ">", "100:"], ["+", "added:", "if", "amount", ">", "200:"]]
    assert page.locator(".changes .change h2 > span:first-of-type").all_inner_texts() == ["if_amount"]
    assert violations(page, f"changes, {theme}") == []

    page.go_back()
    page.wait_for_selector(".source-text .cm-line")
    page.get_by_role("button", name="Open a draft").click()
    page.wait_for_selector(".editor.readonly.with-source .source-text .cm-line")
    choose(page, "receipt")
    until(page, "() => document.querySelector('.source-at').textContent === 'lines 13–16'")
    assert page.locator("#name").is_disabled() and page.get_by_role("button", name="Publish…").count() == 0
    page.locator(".flow").focus()
    page.keyboard.press("Delete")
    assert block(page, "receipt").count() == 1
    assert violations(page, f"draft, {theme}") == []

    page.get_by_role("button", name="Edit as a graph…").click()
    page.get_by_role("dialog").get_by_role("button", name="Edit as a graph").click()
    page.wait_for_selector(".palette")
    page.wait_for_selector(".source-text", state="detached")
    choose(page, "receipt")
    page.locator(".flow").focus()
    page.keyboard.press("Delete")
    until(page, "() => !document.querySelector('.editor').textContent.includes('receipt')")
    saved(page)
    document = site.document("refund")
    assert "made_by" not in document and "receipt" not in document["nodes"] and "at" not in document["nodes"]["if_amount"]


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[DraftSite]:
    """A server over a workflow that awaits a part of its own file, and one of another."""
    (tmp_path / "stock.py").write_text(STOCK)
    (tmp_path / "sale.py").write_text(SALE)
    made = DraftSite(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_text_of_a_part_stands_below_the_source_and_shows_its_nodes_both_ways(
    windows: Windows, parts: DraftSite, theme: str
) -> None:
    admin = parts.administrator()
    script = f"localStorage.setItem('stepless.theme', '{theme}')"
    page = windows.open(admin, f"{admin.cable.url}/console/workflows/sale/versions/1", ".source-text .cm-line", script)
    place = "() => document.querySelector('.source-at').textContent"

    block(page, "found").click()
    until(page, f"{place} === 'stock.py, line 11'")
    assert marked(page) == ["many = await left(sku)", "found = await count(sku)"]
    page.locator(".source-text .cm-line", has_text="if found > 3").click()
    page.wait_for_selector(".block.selected:has(.block-name:text-is('if_found'))")
    assert marked(page) == ["many = await left(sku)", "if found > 3:", 'await count("more")']
    page.locator(".source-text .cm-line", has_text="return await count(sku)").click()
    page.wait_for_selector(".block.selected:has(.block-name:text-is('few'))")
    until(page, f"{place} === 'line 7'")
    page.locator(".source-text .cm-line", has_text="many = await left").click()
    page.wait_for_selector(".block.selected:has(.block-name:text-is('found'))")
    assert marked(page) == ["many = await left(sku)", "found = await count(sku)"]
    assert violations(page, f"parts, {theme}") == []
