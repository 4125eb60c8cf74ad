"""No response is larger than a page: a value that is too large is replaced by its hash, and can be read by it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stepless.api.bounded_values import bounded
from stepless.api.replies import encode
from stepless.limits import MAX_PAGE_BYTES
from stepless.runtime.verbs.reads.values import hash_of, value_bytes

pytestmark = pytest.mark.anyio

BIG = {
    "id": "big",
    "nodes": {
        "begin": {"type": "manual"},
        **{
            f"n{i}": {"type": "transform", "after": "begin", "with": {"value": [f"<begin.word> {i}", "<begin.text>"] * 5}}
            for i in range(5)
        },
        "small": {"type": "transform", "after": "begin", "with": {"value": "small"}},
    },
}


def test_what_fits_is_the_answer_itself() -> None:
    answer = {"inputs": {"a": 1}, "outputs": "x" * 100_000}
    assert bounded(answer, ("inputs", "outputs"), "/runs/r") is answer


@pytest.mark.parametrize("outputs", [
    {"a": "x" * 5_000_000, "b": 1}, {f"n{i}": "é" * 500_000 for i in range(9)}, {f"number {i:09}": i for i in range(180_000)},
    ["x" * 100] * 50_000, "x" * 9_000_000, {"a": {"b": "\ud83d" * 2_000_000}},
], ids=["one", "several", "many small", "a list", "a text", "halves"])  # fmt: skip
def test_the_largest_make_way_and_say_what_they_are(outputs: Any) -> None:
    answer = {"inputs": {"kept": 1}, "outputs": outputs, "other": "o" * 1_000}
    told = bounded(answer, ("inputs", "outputs"), "/runs/r")
    assert len(encode(told)) < MAX_PAGE_BYTES
    assert (told["inputs"], told["other"]) == (answer["inputs"], answer["other"])
    assert answer["outputs"] is outputs, "the run's own value stays as it was"
    places = [(outputs, told["outputs"])]
    if "large_value" not in told["outputs"]:
        places = [(outputs[key], value) for key, value in told["outputs"].items() if value != outputs[key]]
    assert places
    for value, shown in places:
        data = value_bytes(value)
        large = shown["large_value"]
        assert (large["size"], large["hash"], large["url"]) == (len(data), hash_of(data), f"/runs/r/values/{hash_of(data)}")
        assert len(large["preview"]) == 200


async def test_a_run_is_told_below_4_mb_and_its_values_by_their_hash(door: Any) -> None:
    inputs = {"word": "w", "text": "t" * 200_000}
    run_id = await door.start(BIG, inputs)
    await door.end(run_id)
    for path in ("", "/nodes", "/nodes?limit=2"):
        assert len((await door.ask.get(f"/runs/{run_id}{path}")).content) < MAX_PAGE_BYTES
    outputs = (await door.run(run_id))["outputs"]
    assert outputs["small"] == "small"
    large = [name for name in outputs if "large_value" in outputs[name]]
    assert 0 < len(large) < 5, "those that fit are told"
    for name in large:
        answer = await door.ask.get(outputs[name]["large_value"]["url"])
        assert answer.json() == [f"w {name[1:]}", inputs["text"]] * 5
        assert answer.headers["content-type"] == "application/json"
    url = outputs[large[0]]["large_value"]["url"]
    assert (await door.stranger.get(url)).status_code == 401
    other = await door.start(door.ECHO, {})
    foreign = await door.ask.get(url.replace(run_id, other))
    assert (foreign.status_code, foreign.json()["code"]) == (404, "unknown_value")


async def test_a_start_that_waits_is_told_no_more_either(door: Any) -> None:
    outcome = (await door.finish(BIG, {"word": "w", "text": "t" * 200_000}))["outcome"]
    assert len(json.dumps(outcome)) < MAX_PAGE_BYTES
    assert outcome["outputs"]["small"] == "small"


async def test_a_value_above_a_page_is_read_in_pieces(door: Any) -> None:
    twice = {**BIG, "id": "twice", "nodes": {
        "begin": {"type": "manual"},
        "all": {"type": "transform", "after": "begin", "with": {"value": ["<begin.text>"] * 24}},
    }}  # fmt: skip
    run_id = await door.start(twice, {"text": "é" * 90_000})
    run = await door.end(run_id)
    large = run["outputs"]["all"]["large_value"]
    whole = await door.ask.get(large["url"])
    assert (whole.status_code, whole.json()["code"]) == (413, "value_too_large")
    read = b""
    while len(read) < large["size"]:
        piece = await door.ask.get(large["url"], headers={"range": f"bytes={len(read)}-"})
        assert piece.status_code == 206
        assert len(piece.content) <= MAX_PAGE_BYTES
        assert piece.headers["content-range"] == f"bytes {len(read)}-{len(read) + len(piece.content) - 1}/{large['size']}"
        read += piece.content
    assert json.loads(read) == ["é" * 90_000] * 24
    beyond = await door.ask.get(large["url"], headers={"range": f"bytes={large['size']}-"})
    assert (beyond.status_code, beyond.json()["code"]) == (416, "invalid_range")
