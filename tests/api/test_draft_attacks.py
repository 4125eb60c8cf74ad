"""Requests that no client of ours sends: none makes a draft that cannot be read, and one that is refused changes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from draft_client import op
from invariants import faults
from odd_edits import DOCUMENTS, Odd
from sweeps import at_most

from stepless.drafts.rules.state import Entities
from stepless.drafts.sessions.bounds import Bounds
from stepless.limits import MAX_DRAFT_DEPTH, MAX_INTENT_WRITES

pytestmark = [pytest.mark.check, pytest.mark.anyio]

WORLDS = at_most(8, 24)


@pytest.fixture
async def door(make_door: Any) -> Any:
    return await make_door(session_bounds=Bounds(ops_per_s=1e9, session_ops_per_s=1e9))


async def opened(door: Any, document: Any, text: str | None = None) -> dict[str, Any]:
    answer = await door.ask.post("/drafts/w", json={"from": "document", "document": document, "text": text})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def put(door: Any, message: Any) -> Any:
    return await door.ask.put("/drafts/w/ops", content=json.dumps(message), headers={"content-type": "application/json"})


async def reads_well(door: Any, seq: int, sent: Any = None) -> None:
    """Every route answers for what the draft says now."""
    for path in ("", "/document", "/findings", "/yaml", "/diff", "/history", "/conflicts"):
        answer = await door.ask.get(f"/drafts/w{path}")
        assert answer.status_code == 200, (path, answer.text, sent)
    for path, body in (
        ("/restore", {"seq": 0}), ("/yaml", {"seq": seq, "text": "id: w\nnodes:\n  a: {type: x}\n  b: {type: x, after: a}\n"}),
        ("/runs", {"inputs": {}}), ("/publish", {"seq": seq}),
    ):  # fmt: skip
        answer = await door.ask.post(f"/drafts/w{path}", json=body)
        assert answer.status_code < 500, (path, answer.text, sent)


@pytest.mark.parametrize("seed", range(WORLDS))
async def test_odd_requests_leave_a_draft_that_every_route_reads(door: Any, seed: int) -> None:
    odd = Odd(seed)
    document = odd.dice.choice(DOCUMENTS)
    await opened(door, document, yaml.safe_dump(document) if seed % 2 else None)
    n = 1
    for _ in range(8):
        draft = (await door.ask.get("/drafts/w")).json()
        sent = odd.request(draft["epoch"], n, odd.dice.choice([draft["seq"], 0]), list(draft["entities"]))
        answer = await put(door, sent)
        assert answer.status_code in (200, 400), (answer.text, sent)
        after = (await door.ask.get("/drafts/w")).json()
        if answer.status_code == 200 and "item" in answer.json():
            n += sent["client"] == "c"
        else:
            assert (after["seq"], json.dumps(after["entities"])) == (draft["seq"], json.dumps(draft["entities"])), sent
        assert list(faults(Entities(after["entities"]))) == [], sent
        await reads_well(door, after["seq"], sent)


NUMBERS = ["1.0", "-0", "-0.0", "1e400", "-1e400", "NaN", "Infinity", str(2**63), "9" * 30, "1e-400", "9" * 400]


@pytest.mark.parametrize("number", NUMBERS)
async def test_a_number_is_kept_to_the_digit_or_refused(door: Any, number: str) -> None:
    await opened(door, {"id": "w", "nodes": {}})
    message = json.dumps(op(1, 1, [["set", "doc", ["q"], "HERE"]])).replace('"HERE"', number)
    answer = await door.ask.put("/drafts/w/ops", content=message, headers={"content-type": "application/json"})
    if answer.status_code == 200:
        text = (await door.ask.get("/drafts/w/document")).text
        assert repr(json.loads(text)["document"]["q"]) == repr(json.loads(number))
    else:
        assert (answer.status_code, answer.json()["code"]) in ((400, "invalid_json"), (400, "malformed_intent")), answer.text
        assert (await door.ask.get("/drafts/w")).json()["seq"] == 0
    await reads_well(door, 0)


@pytest.mark.parametrize("digits", ["1e400", "nan", "-inf", "x", "1_0", " 1", "²", "9" * 5_000, "9" * 400, "", "1e", "01"])
async def test_digits_that_are_no_number_are_kept_as_they_are(door: Any, digits: str) -> None:
    await opened(door, {"id": "w", "nodes": {}})
    assert (await put(door, op(1, 1, [["set", "doc", ["q"], {"#": digits}]]))).status_code == 200
    assert (await door.ask.get("/drafts/w/document")).json()["document"]["q"] == {"#": digits}
    await reads_well(door, 1)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["rest"], "x"), (["rest"], ["x"]), (["rest"], None), (["rest", "edges"], 5),
        (["rest", "edges"], {"k": {"is": {"from": "b"}}}),
    ],
)
async def test_what_fits_nowhere_stays_readable_whatever_is_written_there(door: Any, path: list[str], value: Any) -> None:
    draft = await opened(door, DOCUMENTS[0])
    subflow = next(key for key in draft["entities"] if key.startswith("subflow/"))
    answer = await put(door, op(1, 1, [["set", "doc", path, value]], [["set", subflow, path, value]]))
    refused = [outcome["code"] for outcome in answer.json()["item"].get("outcomes", [])]
    assert refused == ([] if len(path) > 1 else ["not_allowed"] * 2)
    await reads_well(door, 1)


async def test_blocks_inside_of_what_was_no_container_are_in_the_document(door: Any) -> None:
    draft = await opened(door, {"id": "w", "nodes": {"a": None, "b": {"type": "http"}}})
    a, b = (next(key for key, entity in draft["entities"].items() if entity.get("id") == name)[6:] for name in "ab")
    puts = [["put", f"block/in{name}", {"id": "inner", "type": "end", "parent": name, "order": "V"}] for name in (a, b)]
    assert "outcomes" not in (await put(door, op(1, 1, puts))).json()["item"]
    nodes = (await door.ask.get("/drafts/w/document")).json()["document"]["nodes"]
    assert all(nodes[name]["with"]["body"]["nodes"] == {"inner": {"type": "end"}} for name in "ab")
    assert {"added"} <= {node["change"] for node in (await door.ask.get("/drafts/w/diff")).json()["nodes"]}
    await put(door, op(1, 2, [["set", f"block/in{a}", ["type"], "http"]], base=1))
    await reads_well(door, 2)


async def test_containers_inside_of_containers_end_somewhere(door: Any) -> None:
    await opened(door, {"id": "w", "nodes": {}})
    for depth, code in ((2_000, "too_deep"), (MAX_DRAFT_DEPTH + 2, "too_deep"), (MAX_DRAFT_DEPTH + 1, None)):
        writes = []
        for level in range(depth):
            parent = f"x{level - 1}" if level else None
            writes.append(["put", f"block/x{level}", {"id": f"n{level}", "type": "loop", "parent": parent, "order": "V"}])
            writes.append(["put", f"subflow/x{level}", {"times": 2, "q": {"[]": {}}}])
        seq = (await door.ask.get("/drafts/w")).json()["seq"]
        item = (await put(door, op(1, seq + 1, writes, base=seq))).json()["item"]
        assert [outcome["code"] for outcome in item.get("outcomes", [])] == ([code] if code else [])
    await put(door, op(1, 4, [["set", f"block/x{MAX_DRAFT_DEPTH}", ["with", *"a" * 94], "deep"]], base=3))
    await reads_well(door, 4)


async def test_twenty_thousand_writes_are_taken_and_one_more_is_refused(door: Any) -> None:
    await opened(door, {"id": "w", "nodes": {}, "description": "x"})
    splices = [["splice", "doc", ["description"], 0, 0, "y"]] * MAX_INTENT_WRITES
    lost = [["splice", "doc", ["nowhere"], 2**53, 2**53, ""]] * MAX_INTENT_WRITES
    assert len((await put(door, op(1, 1, splices))).json()["item"]["effects"]) == MAX_INTENT_WRITES
    outcomes = (await put(door, op(1, 2, lost, base=1))).json()["item"]["outcomes"]
    assert [(one["code"], one["refused"]) for one in outcomes] == [("gesture_too_large", True)]
    together = await put(door, op(1, 3, *([write] for write in lost), base=2))
    assert together.json() == {"answer": {"n": 3, "tag": "c-3", "code": "too_large"}}
    beyond = await put(door, op(1, 3, [*splices, splices[0]], base=2))
    assert (beyond.status_code, beyond.json()["code"]) == (400, "malformed_intent")
    assert (await door.ask.get("/drafts/w")).json()["seq"] == 2


async def test_who_types_into_what_was_typed_very_often_reads_first(door: Any) -> None:
    await opened(door, {"id": "w", "nodes": {}, "description": "x"})
    theirs = [["splice", "doc", ["description"], 0, 0, "y"]] * 1_000
    mine = [["splice", "doc", ["description"], 0, 0, "z"]] * 1_000
    assert "item" in (await put(door, op(1, 1, theirs, client="bo"))).json()
    assert (await put(door, op(1, 1, mine))).json()["answer"]["code"] == "stale"
    assert "item" in (await put(door, op(1, 1, mine, base=1))).json()


async def test_texts_that_utf8_cannot_hold_are_refused_at_every_place(door: Any) -> None:
    await opened(door, {"id": "w", "nodes": {}, "description": "x"})
    half = "\ud800"
    for write in (
        ["set", "doc", ["q"], half], ["set", "doc", [half], 1], ["set", "doc", ["q"], {half: 1}], ["set", "doc", ["q"], 1, half],
        ["splice", "doc", ["description"], 0, 0, half], ["put", f"note/{half}", {"x": 1, "y": 1}],
        ["put", "note/n", {"x": 1, "y": 1, "text": half}], ["rename", "block/a", half], ["unset", "doc", [half]], ["del", half],
    ):  # fmt: skip
        answer = await put(door, op(1, 1, [write]))
        assert answer.status_code == 400, write
    for field in ("client", "tag"):
        assert (await put(door, {**op(1, 1, [["del", "block/a"]]), field: half})).status_code == 400
    assert (await door.ask.get("/drafts/w")).json()["seq"] == 0
