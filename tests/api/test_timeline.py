"""Summaries and timelines of runs, single instances, and events by filter."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytestmark = pytest.mark.anyio

TURNS = {
    "id": "turns",
    "nodes": {
        "begin": {"type": "manual"},
        "each": {"type": "parallel", "after": "begin", "with": {
            "items": "<begin.items>", "on_error": "continue", "body": {"nodes": {
                "price": {"type": "transform", "with": {"value": "{{ <parallel.item> * 2 }}"}},
                "share": {"type": "transform", "after": "price", "with": {"value": "{{ 100 / (<parallel.item> - 7) }}"}},
            }},
        }},
        "last": {"type": "transform", "after": "each", "with": {"value": "done"}},
    },
}  # fmt: skip


async def finished(door: Any, count: int = 40) -> str:
    return str((await door.finish(TURNS, {"items": list(range(count))}))["run_id"])


async def got(door: Any, path: str) -> Any:
    answer = await door.ask.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


# -- the summary ---------------------------------------------------------------------------------------------------------


async def test_one_failure_among_many_turns_is_counted_as_one(door: Any) -> None:
    run_id = await finished(door)
    summary = await got(door, f"/runs/{run_id}/summary")
    nodes = {node["path"]: node for node in summary["nodes"]}
    assert nodes["share@each"]["counts"] == {"completed": 39, "failed": 1}
    assert nodes["share@each"]["failed"] == ["share@each[7]"]
    assert nodes["price@each"]["counts"] == {"completed": 40}
    assert (nodes["each"]["turns"], nodes["each"]["failed_turns"], nodes["each"]["counts"]) == (40, 1, {"completed": 1})
    assert (summary["instances"], summary["left_out"], summary["ended"], summary["status"]) == (83, 0, True, "completed")
    assert summary["sequence"] == (await door.run(run_id))["sequence"]


async def test_a_summary_agrees_with_the_records_of_the_nodes(door: Any) -> None:
    run_id = await finished(door)
    records = (await got(door, f"/runs/{run_id}/nodes?limit=1000"))["nodes"]
    counted: dict[str, dict[str, int]] = {}
    for record in records:
        path = "@".join(part.partition("[")[0] for part in record["instance"].split("@"))
        counts = counted.setdefault(path, {})
        counts[record["status"]] = counts.get(record["status"], 0) + 1
    summary = await got(door, f"/runs/{run_id}/summary")
    assert {node["path"]: node["counts"] for node in summary["nodes"]} == counted
    rows = (await got(door, f"/runs/{run_id}/timeline?limit=1000"))["rows"]
    assert [(row["instance"], row["status"], row["attempts"]) for row in rows] == [
        (record["instance"], record["status"], record["attempts"]) for record in records
    ]


async def test_a_later_summary_has_only_what_changed(door: Any) -> None:
    run_id, _ = await door.question()
    first = await got(door, f"/runs/{run_id}/summary")
    assert {node["path"]: node["counts"] for node in first["nodes"]}["question"] == {"waiting": 1}
    assert (await got(door, f"/runs/{run_id}/summary?after={first['sequence']}"))["nodes"] == []
    await door.ask.post(f"/runs/{run_id}/cancel", json={})
    later = await got(door, f"/runs/{run_id}/summary?after={first['sequence']}&wait_s=15")
    assert later["sequence"] > first["sequence"]
    await door.end(run_id)
    end = await got(door, f"/runs/{run_id}/summary?after={first['sequence']}")
    paths = {node["path"] for node in end["nodes"]}
    assert "question" in paths and "begin" not in paths
    assert (end["status"], end["ended"]) == ("cancelled", True)


async def test_a_summary_tells_which_exits_and_which_conditions_led_on(door: Any) -> None:
    """All targets run, by other ways: what runs says nothing about the edges."""
    value = {"type": "transform", "with": {"value": {"size": "big"}}}
    edges = [
        {"source": "a", "target": "both", "key": "size", "condition": {"equals": "big"}},
        {"source": "a", "target": "other", "key": "size", "condition": {"equals": "small"}},
        {"source": "c", "handle": "yes", "target": "both"}, {"source": "c", "handle": "no", "target": "other"},
        {"source": "f", "handle": "error", "target": "both"}, {"source": "c", "handle": "yes", "target": "other"},
    ]  # fmt: skip
    nodes = {
        "a": value, "c": {"type": "condition", "with": {"cases": {"yes": "true", "no": "else"}}},
        "f": {"type": "transform", "with": {"value": "{{ 1 / 0 }}"}}, "both": value, "other": value,
    }  # fmt: skip
    run_id = str((await door.finish({"id": "ways", "nodes": nodes, "edges": edges}, {}))["run_id"])
    summary = {node["path"]: node for node in (await got(door, f"/runs/{run_id}/summary"))["nodes"]}
    assert summary["both"]["counts"] == summary["other"]["counts"] == {"completed": 1}
    assert [summary[name]["exits"] for name in "acf"] == [{"source": 1}, {"yes": 1}, {"error": 1}]
    told = {one["target"]: (one["handle"], one["held"], one["missed"]) for one in summary["a"]["conditions"]}
    assert told == {"both": ("source", 1, 0), "other": ("source", 0, 1)} and summary["c"]["conditions"] == []
    (record,) = (await got(door, f"/runs/{run_id}/nodes?instance=a"))["nodes"]
    assert [(one["target"], one["test"], one["operand"], one["value"], one["held"]) for one in record["tested"]] == [
        ("both", "equals", "big", "big", True), ("other", "equals", "small", "big", False),
    ]  # fmt: skip
    run_id = await finished(door)
    (record,) = (await got(door, f"/runs/{run_id}/nodes?instance=each"))["nodes"]
    assert record["looped"] == {"mode": "items", "value": list(range(40)), "preview": None, "turn": None}


# -- the timeline --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 83), ("node=each", 81), ("node=share@each", 40), ("status=failed", 1), ("instance=each[7]", 2),
        ("instance=each", 81), ("instance=each[70]", 0), ("instance=share@each[7]", 1),
        ("node=nobody", 0), ("node=share@each&status=completed", 39),
        ("from_ms=0", 83), ("from_ms=99999999", 0),
    ],
)  # fmt: skip
async def test_a_timeline_is_filtered_and_paged_by_the_server(door: Any, query: str, count: int) -> None:
    run_id = await finished(door)
    found: list[str] = []
    after: int | None = 0
    while after is not None:
        page = await got(door, f"/runs/{run_id}/timeline?limit=25&after={after}&{query}")
        assert page["total"] == count
        found += [row["instance"] for row in page["rows"]]
        after = page["cursor"]
    assert len(set(found)) == len(found) == count


async def test_work_and_waiting_are_parts_of_a_row(door: Any) -> None:
    run_id, _ = await door.question()
    page = await got(door, f"/runs/{run_id}/timeline?instance=question")
    (row,) = page["rows"]
    assert row["status"] == "waiting" and row["parts"][-1][0] == "wait" and row["parts"][-1][2] is None and row["end_ms"] is None


@pytest.mark.parametrize("query", ["status=broken", "from_ms=-1", "limit=0", "limit=1001", "node=", "after=-1", "more=1"])
async def test_a_view_that_cannot_be_meant_is_refused(door: Any, query: str) -> None:
    run_id = await finished(door, 1)
    assert (await door.ask.get(f"/runs/{run_id}/timeline?{query}")).status_code == 400


async def test_views_of_a_run_that_is_not_there_are_refused(door: Any) -> None:
    for path in ("summary", "timeline"):
        answer = await door.ask.get(f"/runs/run_none/{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_run")
        assert (await door.stranger.get(f"/runs/run_none/{path}")).status_code == 401


# -- one instance, and events by filter ------------------------------------------------------------------------------------


async def test_one_instance_is_read_with_its_values(door: Any) -> None:
    run_id = await finished(door)
    (record,) = (await got(door, f"/runs/{run_id}/nodes?instance=share@each[7]"))["nodes"]
    whole = (await got(door, f"/runs/{run_id}/nodes?limit=1000"))["nodes"]
    same = next(one for one in whole if one["instance"] == "share@each[7]")
    assert {**record, "path": None} == {**same, "path": None}, "all but the instances before it, which are not on the page"
    assert record["error"]["code"] == "expression_error"
    assert (await got(door, f"/runs/{run_id}/nodes?instance=share@each[99]"))["nodes"] == []


@pytest.mark.parametrize(
    "query",
    ["instance=share@each[7]", "node=share@each", "type=node.failed", "type=loop.", "text=DIVIDES BY", "type=node.&text=each[7]"],
)
async def test_filtered_events_are_those_of_the_log_that_fit(door: Any, query: str) -> None:
    run_id = await finished(door)
    everything, after = [], 0
    while not (page := await got(door, f"/runs/{run_id}/events?afterEventId={after}"))["ended"] or page["events"]:
        everything += page["events"]
        after = page["cursor"]
    wanted = dict(part.split("=", 1) for part in query.split("&"))
    expected = [event["eventId"] for event in everything if _fits(event, wanted)]
    found, after = [], 0
    while True:
        page = await got(door, f"/runs/{run_id}/events?limit=7&afterEventId={after}&{query}")
        found += [event["eventId"] for event in page["events"]]
        if page["ended"]:
            break
        assert page["cursor"] > after
        after = page["cursor"]
    assert found == expected and expected


def _fits(event: dict[str, Any], wanted: dict[str, str]) -> bool:
    instance = event["payload"].get("instance", "")
    path = "@".join(part.partition("[")[0] for part in instance.split("@"))
    return (
        wanted.get("instance", instance) == instance
        and wanted.get("node", path) == path
        and event["type"].startswith(wanted.get("type", ""))
        and wanted.get("text", "").casefold() in json.dumps(event, ensure_ascii=False).casefold()
    )


async def test_filtered_events_are_no_stream(door: Any) -> None:
    run_id = await finished(door, 1)
    assert (await door.ask.get(f"/runs/{run_id}/events?type=node.&inputs=true")).status_code == 400
    answer = await door.ask.get(f"/runs/{run_id}/events?type=node.", headers={"accept": "text/event-stream"})
    assert answer.status_code == 400
