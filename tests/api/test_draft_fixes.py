"""The fixes that come with the findings of a draft: operations that a client sends as they are."""

from __future__ import annotations

from typing import Any

import pytest
from draft_client import op

from stepless.limits import MAX_FIXES

pytestmark = pytest.mark.anyio


def document(text: str) -> dict[str, Any]:
    nodes = {"order": {"type": "manual"}, "said": {"type": "transform", "after": "order", "with": {"value": text}}}
    return {"id": "w", "nodes": nodes}


async def opened(door: Any, made: dict[str, Any]) -> dict[str, str]:
    """The keys of the blocks by their names."""
    answer = await door.ask.post("/drafts/w", json={"from": "document", "document": made})
    assert answer.status_code == 200, answer.text
    blocks = {key: entity for key, entity in answer.json()["entities"].items() if key.startswith("block/")}
    return {entity["id"]: key for key, entity in blocks.items()}


async def put(door: Any, *sent: Any, **more: Any) -> dict[str, Any]:
    answer = await door.ask.put("/drafts/w/ops", json=op(*sent, **more))
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["item"])


async def findings(door: Any) -> list[dict[str, Any]]:
    return list((await door.ask.get("/drafts/w/findings")).json()["findings"])


async def value(door: Any) -> str:
    return str((await door.ask.get("/drafts/w/document")).json()["document"]["nodes"]["said"]["with"]["value"])


def request(fix: dict[str, Any], n: int, base: int) -> dict[str, Any]:
    made = op(1, n, base=base)
    return {**made, "gestures": [{name: fix[name] for name in ("writes", "guards") if name in fix}]}


async def test_a_fix_is_sent_as_it_is(door: Any) -> None:
    await opened(door, document("<ordr.id>"))
    (finding,) = await findings(door)
    assert finding["fix"]["label"] == "Use `order`"
    assert (await door.ask.put("/drafts/w/ops", json=request(finding["fix"], 1, 0))).json()["item"]["effects"]
    assert (await findings(door), await value(door)) == ([], "<order.id>")


async def test_a_fix_is_refused_once_its_value_has_changed(door: Any) -> None:
    said = (await opened(door, document("<ordr.id>")))["said"]
    (finding,) = await findings(door)
    await put(door, 1, 1, [["set", said, ["with", "value"], "none"]], client="b")
    item = (await door.ask.put("/drafts/w/ops", json=request(finding["fix"], 1, 1))).json()["item"]
    assert [(one["code"], one["refused"]) for one in item["outcomes"]] == [("changed_since", True)]
    assert await value(door) == "none"


async def test_a_reference_that_was_typed_while_its_node_was_renamed_is_mended(door: Any) -> None:
    keys = await opened(door, document("none"))
    await put(door, 1, 1, [["rename", keys["order"], "purchase"]], client="b")
    await put(door, 1, 1, [["set", keys["said"], ["with", "value"], "<order.id>"]], client="a", base=0)
    await put(door, 1, 2, [["rename", keys["order"], "sale"]], client="b", base=2)
    (finding,) = await findings(door)
    assert "`order` was renamed to `sale` by" in finding["mend"] and finding["fix"]["label"] == "Use `sale`"
    answer = await door.ask.put("/drafts/w/ops", json=request(finding["fix"], 2, 3) | {"client": "a"})
    assert answer.json()["item"]["effects"] and await value(door) == "<sale.id>"


async def test_a_name_that_no_node_ever_had_has_no_fix(door: Any) -> None:
    keys = await opened(door, document("<somewhere.id>"))
    await put(door, 1, 1, [["rename", keys["order"], "purchase"]])
    (finding,) = await findings(door)
    assert finding["code"] == "unknown_reference" and "fix" not in finding


async def test_fixes_are_bounded(door: Any) -> None:
    nodes = {f"n{number}": {"type": "htpp", "with": {"url": "https://x.test"}} for number in range(MAX_FIXES + 5)}
    await opened(door, {"id": "w", "nodes": nodes})
    found = await findings(door)
    assert sum("fix" in one for one in found) == MAX_FIXES < len(found)
