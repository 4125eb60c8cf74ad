"""The routes that evaluate an expression of a draft over a former run, and say what a node may read."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.limits import MAX_EVALUATED_CHARACTERS, MAX_EVALUATED_SOURCE

pytestmark = pytest.mark.anyio

ORDER = {"id": "o-12", "total": 120, "lines": [{"sku": "a", "price": 40}, {"sku": "b", "price": 80}], "note": None}
EACH = {"nodes": {"price": {"type": "transform", "with": {"value": "{{ <loop.item.price> * 2 }}"}},
                  "twice": {"type": "transform", "after": "price", "with": {"value": "<price>"}}}}  # fmt: skip
DOCUMENT: dict[str, Any] = {
    "id": "w", "env": ["HOOK_SECRET"], "variables": {"status": "new"},
    "nodes": {
        "order": {"type": "manual"},
        "score": {"type": "transform", "after": "order", "with": {"value": {"risk": 0.9, "for": "<order.id>"}}},
        "mark": {"type": "set", "after": "score", "with": {"variables": {"status": "scored"}}},
        "each": {"type": "loop", "after": "mark", "with": {"items": "<order.lines>", "body": EACH}},
        "broken": {"type": "transform", "after": "order", "with": {"value": "{{ 1 / 0 }}"}},
        "alert": {"type": "transform", "after": "broken.error", "with": {"value": "<input.message>"}},
        "aside": {"type": "transform", "after": "order", "with": {"value": "<order.total>"}},
        "last": {"type": "transform", "after": ["each", "aside"], "merge": "array", "with": {"value": "<input>"}},
    },
}  # fmt: skip


@pytest.fixture
async def site(door: Any) -> Any:
    """A draft of a workflow that has run once."""
    run = await door.finish(DOCUMENT, ORDER)
    return await Site(door, run["run_id"]).open(DOCUMENT)


class Site:
    def __init__(self, door: Any, run_id: str) -> None:
        self.door = door
        self.run_id = run_id

    async def open(self, document: Any) -> Site:
        draft = (await self.door.ask.post("/drafts/w", json={"from": "document", "document": document})).json()
        self.entities = draft["entities"]
        return self

    def key(self, name: str) -> str:
        return next(str(key) for key, one in self.entities.items() if key.startswith("block/") and one["id"] == name)

    async def ask(self, name: str, status: int = 200, **body: Any) -> Any:
        answer = await self.door.ask.post("/drafts/w/evaluate", json={"node": self.key(name), **body})
        assert answer.status_code == status, answer.text
        return answer.json()

    async def value(self, node: str, source: str) -> Any:
        """The value of a text, or of an expression that begins with `=`."""
        asked: dict[str, Any] = {"expression": source[1:]} if source.startswith("=") else {"text": source}
        answer = await self.ask(node, **asked)
        assert answer["run"]["run_id"] == self.run_id, answer
        return answer["value"]

    async def scope(self, node: str, **query: str) -> Any:
        answer = await self.door.ask.get("/drafts/w/scope", params={"node": self.key(node), **query})
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def root(self, node: str, name: str) -> Any:
        return next((root for root in (await self.scope(node))["roots"] if root["name"] == name), None)


@pytest.mark.parametrize(
    ("node", "source", "value"),
    [
        ("score", "<order.total>", 120),
        ("score", "Order <order.id> of <order.total>", "Order o-12 of 120"),
        ("score", "{{ sum([line.price for line in <order.lines>]) }}", None),
        ("score", "{{ len(<order.lines>) + 1 }}", 3),
        ("last", "=<score.risk> > 0.5 and <order.total> < 200", True),
        ("score", "<input.id>", "o-12"),
        ("mark", "<workflow.status>", "new"),
        ("each", "<workflow.status>", "scored"),
        ("price", "<loop.item.price>", 40),
        ("price", "<each.items[1].sku>", "b"),
        ("twice", "<price>", 80),
        ("twice", "<input>", 80),
        ("price", "<input>", {"sku": "a", "price": 40}),
        ("alert", "<input.code>", "expression_error"),
        ("alert", "<broken.error.code>", "expression_error"),
        ("last", "<input>", [[80, 160], 120]),
        ("last", "<each>", [80, 160]),
        ("last", "<run.workflow>", "w"),
        ("last", "nothing to read", "nothing to read"),
    ],
)
async def test_a_source_has_the_value_that_its_node_would_read(site: Any, node: str, source: str, value: Any) -> None:
    if value is None:
        answer = await site.ask(node, text=source)
        assert answer["error"]["code"] == "expression_forbidden" and "value" not in answer
    else:
        assert await site.value(node, source) == value


async def test_a_fault_says_what_is_wrong_and_where(site: Any) -> None:
    for source, code, at, length in (
        ("{{ 1 + }}", "expression_syntax", 5, 0), ("a <scor.x>", "unknown_reference", 2, 0),
        ("a <each.x>", "not_upstream", 2, 8), ("${OTHER}", "unlisted_env", 0, 8), ("<workflow.x>", "unknown_variable", 0, 12),
        ("{{ <order.id> + 1 }}", "expression_error", 3, 0), ("<price>", "inner_node_read", 0, 7),
    ):  # fmt: skip
        answer = await site.ask("score", text=source)
        fault = answer["error"]
        assert (fault["code"], fault["offset"], fault["length"]) == (code, at, length), source
        assert fault["message"] and "value" not in answer


async def test_a_fault_far_behind_in_a_long_text_is_at_its_place(site: Any) -> None:
    text = "x" * 5_000 + "{{ len(1) }}" + "y" * 5_000
    assert (await site.ask("score", text=text))["error"]["offset"] == 5_003


async def test_secrets_and_what_is_computed_from_them_are_hidden(site: Any) -> None:
    for source, value in (
        ("${HOOK_SECRET}", "***"), ("Bearer ${HOOK_SECRET}", "Bearer ***"), ("{{ len(${HOOK_SECRET}) }}", "***"),
        ("=${HOOK_SECRET} == 'a-shared-secret'", "***"), ("={'a': [${HOOK_SECRET}]}", "***"),
    ):  # fmt: skip
        assert await site.value("score", source) == value


async def test_a_draft_is_read_as_it_is_now(site: Any) -> None:
    nodes = {**DOCUMENT["nodes"], "score": {"type": "transform", "after": "order", "with": {"value": 1}},
             "fresh": {"type": "transform", "after": "mark", "with": {"value": 1}}}  # fmt: skip
    del nodes["aside"]
    await site.open({**DOCUMENT, "nodes": nodes})
    assert await site.value("fresh", "<workflow.status> <order.id>") == "scored o-12"
    answer = await site.ask("last", text="<each[0]> <order.gone.x>")
    assert (answer["value"], answer["nulls"], answer["unread"]) == ("80 ", ["<order.gone.x>"], [])
    await site.open({**DOCUMENT, "nodes": {**nodes, "last": {"type": "transform", "after": "fresh", "with": {"value": 1}}}})
    assert (await site.ask("last", text="<fresh>"))["unread"] == ["<fresh>"]
    strict = await site.ask("last", text="<order.gone!>")
    assert strict["error"]["code"] == "missing_value"


async def test_pins_stand_for_what_a_run_has(site: Any) -> None:
    key = site.key("score")
    output = {"risk": {"#": "1.0"}, "of": {"[]": {"a": {"order": "V", "is": "x"}}}}
    write = ["put", key.replace("block/", "pin/"), {"output": output}]
    request = {"epoch": 1, "client": "c", "n": 1, "tag": "t", "base": 0, "gestures": [{"writes": [write]}]}
    assert "item" in (await site.door.ask.put("/drafts/w/ops", json=request)).json()
    assert await site.value("mark", "<score>") == {"risk": 1.0, "of": ["x"]}
    assert await site.value("mark", "<input.of[0]>") == "x"
    assert (await site.root("mark", "score"))["shape"]["properties"]["of"]["items"]["examples"] == ["x"]


async def test_the_scope_lists_what_a_node_may_read_with_its_shape(site: Any) -> None:
    scope = await site.scope("each")
    roots = {root["name"]: root for root in scope["roots"]}
    assert list(roots) == ["mark", "score", "order", "input", "inputs", "workflow", "run"]
    assert all(roots[name]["certain"] for name in ("mark", "score", "order"))
    assert (roots["score"]["key"], roots["score"]["detail"]) == (site.key("score"), "transform")
    lines = roots["order"]["shape"]["properties"]["lines"]
    assert (lines["description"], lines["items"]["properties"]["price"]) == ("2 items", {"type": "integer", "examples": [40]})
    assert roots["workflow"]["shape"]["properties"] == {"status": {"type": "string", "examples": ["scored"]}}
    assert scope["env"] == ["HOOK_SECRET"] and scope["run"]["run_id"] == site.run_id
    calls = {one["name"]: one["calls"] for one in scope["functions"]}
    assert calls["round"] == ["round(x)", "round(x, digits)"] and calls["now"] == ["now()"]
    inner = {root["name"]: root for root in (await site.scope("twice"))["roots"]}
    assert [name for name, root in inner.items() if root["what"] == "turn"] == ["loop", "each"]
    assert inner["loop"]["shape"]["properties"]["item"]["properties"]["sku"] == {"type": "string", "examples": ["a"]}
    assert {"price", "mark", "order"} <= inner.keys() and "each" in inner and "last" not in inner
    last = {root["name"]: root["certain"] for root in (await site.scope("last"))["roots"] if root["what"] == "node"}
    assert last == {"each": False, "aside": False, "mark": False, "score": False, "order": True}


async def test_without_a_run_contracts_give_the_shapes(door: Any) -> None:
    nodes = {**DOCUMENT["nodes"], "score": {**DOCUMENT["nodes"]["score"], "output_contract": {"type": "object"}}}
    site = await Site(door, "").open({**DOCUMENT, "nodes": nodes})
    scope = await site.scope("mark")
    roots = {root["name"]: root for root in scope["roots"]}
    assert scope["run"] is None and roots["score"]["shape"] == {"type": "object"} and roots["order"]["shape"] is None
    answer = await site.ask("mark", text="<order.id> {{ 1 + 1 }}")
    assert (answer["value"], answer["unread"], answer["run"]) == (" 2", ["<order.id>"], None)


async def test_a_document_with_faults_is_read_all_the_same(site: Any) -> None:
    nodes = {**DOCUMENT["nodes"], "score": {"type": "transform", "after": ["order", "gone"], "retry": 3},
             "unknown": {"type": "nobody_knows", "after": "score"}}  # fmt: skip
    await site.open({**DOCUMENT, "nodes": nodes})
    assert await site.value("unknown", "<order.id>") == "o-12"
    assert await site.value("each", "<order.id>") == "o-12"
    cycle = {**nodes, "mark": {**nodes["mark"], "after": ["score", "each"]}}
    await site.open({**DOCUMENT, "nodes": cycle})
    assert await site.value("each", "<mark.status>") == "scored"


async def test_answers_are_bounded(site: Any) -> None:
    long = await site.ask("score", text="{{ repeat('x', 100000) }}")
    assert long["preview"].startswith('"xxx') and len(long["preview"]) < MAX_EVALUATED_CHARACTERS and "value" not in long
    slow = await site.ask("score", expression="len(repeat(repeat('x', 900000), 1)) + " * 40 + "1")
    assert slow["error"]["code"] in ("too_large", "expression_too_large", "expression_error")
    too_long = await site.ask("score", 422, text="x" * (MAX_EVALUATED_SOURCE + 1))
    assert too_long["code"] == "invalid_request"


async def test_what_does_not_exist_is_refused(site: Any) -> None:
    other = (await site.door.finish(site.door.ECHO, 1))["run_id"]
    for body, code in (
        ({"run": "run_none"}, "unknown_run"), ({"run": other}, "unknown_run"), ({"node": "block/none"}, "unknown_node"),
    ):  # fmt: skip
        assert (await site.ask("score", 404, **{"text": "x", **body}))["code"] == code
    for body in ({}, {"text": "x", "expression": "1"}, {"text": "x", "node": "doc"}, {"text": "x", "place": "../x"}):
        assert (await site.ask("score", 422, **body))["code"] == "invalid_request"
    unknown = await site.door.ask.get("/drafts/none/scope", params={"node": "block/x"})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_draft")


async def test_a_reader_may_evaluate_and_a_stranger_may_not(site: Any) -> None:
    made = (await site.door.ask.post("/keys", json={"name": "reader", "roles": ["read"]})).json()
    bearer = {"authorization": f"Bearer {made['secret']}"}
    body = {"node": site.key("score"), "text": "<order.id>"}
    assert (await site.door.stranger.post("/drafts/w/evaluate", json=body, headers=bearer)).json()["value"] == "o-12"
    assert (await site.door.stranger.post("/drafts/w/evaluate", json=body)).status_code == 401
    entries = (await site.door.ask.get("/audit?target=w")).json()["entries"]
    assert "evaluate_draft" not in [entry["verb"] for entry in entries]


async def test_a_node_that_receives_reads_the_message_in_its_condition(door: Any) -> None:
    data = {"type": "object", "properties": {"amount": {"type": "number"}}}
    nodes = {
        "order": {"type": "manual"}, "paid": {"type": "receive", "after": "order", "with": {"message": "payment"}},
        "other": {"type": "receive", "after": "paid", "with": {"message": "unknown"}},
        "out": {"type": "transform", "after": "other", "with": {"value": 1}},
    }  # fmt: skip
    site = await Site(door, "").open({"id": "w", "messages": {"payment": {"data": data}}, "nodes": nodes})
    roots = {root["name"]: root for root in (await site.scope("paid"))["roots"]}
    assert (roots["message"]["what"], roots["message"]["shape"]) == ("message", data)
    assert {root["name"]: root for root in (await site.scope("other"))["roots"]}["message"]["shape"] == {}
    assert "message" not in [root["name"] for root in (await site.scope("out"))["roots"]]
    asked = await site.ask("paid", expression="<message.amount> > 1", place="with.where")
    assert ("error" in asked, "value" in asked, asked["unread"]) == (False, False, ["<message.amount>"])
    assert (await site.ask("paid", text="<message.amount>", place="with.key"))["error"]["code"] == "unknown_reference"
