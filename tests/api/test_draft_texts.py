"""The text of a draft over HTTP: read, typed, compared, published, restored."""

from __future__ import annotations

from typing import Any

import pytest
from draft_client import op, renames
from room_steps import ADA, socket

from stepless.compile import parse

pytestmark = pytest.mark.anyio

TEXT = """\
# Greets. Owner: the greeters
id: w
nodes:
  begin: {type: manual}     # by hand

  # the answer
  said:
    type: transform
    after: begin
    with:
      value: <begin>   # all of it
"""


async def published(door: Any, text: str = TEXT) -> int:
    answer = await door.ask.put("/workflows/w", content=text.encode(), headers={"content-type": "application/yaml"})
    assert answer.status_code in (200, 201), answer.text
    return int(answer.json()["version"])


async def opened(door: Any, text: str = TEXT) -> dict[str, Any]:
    await published(door, text)
    answer = await door.ask.post("/drafts/w")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


class Person:
    """A client of the draft that is at the end of its log when it sends."""

    def __init__(self, door: Any, name: str = "p", epoch: int = 1) -> None:
        self.door, self.name, self.epoch, self.n = door, name, epoch, 0

    async def send(self, *operations: Any, base: int | None = None) -> dict[str, Any]:
        self.n += 1
        head = (await self.door.ask.get(f"/drafts/w/ops?epoch={self.epoch}")).json()["head"] if base is None else base
        message = op(self.epoch, self.n, client=self.name, base=head) | {"gestures": list(operations)}
        answer = await self.door.ask.put("/drafts/w/ops", json=message)
        assert answer.status_code == 200 and "item" in answer.json(), answer.text
        return dict(answer.json()["item"])

    async def type(self, text: str, seq: int | None = None) -> dict[str, Any]:
        seq = (await self.door.ask.get("/drafts/w")).json()["seq"] if seq is None else seq
        made = await self.door.ask.post("/drafts/w/yaml", json={"seq": seq, "text": text})
        assert made.status_code == 200, made.text
        assert len(made.json()["gestures"]) <= 1
        return await self.send(*made.json()["gestures"], base=seq)


async def text_of(door: Any, seq: int | None = None) -> str:
    answer = await door.ask.get("/drafts/w/yaml" + ("" if seq is None else f"?seq={seq}"))
    assert answer.status_code == 200, answer.text
    return str(answer.json()["text"])


def key_of(draft: Any, id_: str) -> str:
    return next(key for key, entity in draft["entities"].items() if key.startswith("block/") and entity["id"] == id_)


async def test_a_draft_of_a_version_has_the_text_of_its_author(door: Any) -> None:
    draft = await opened(door)
    assert draft["entities"]["text"] == {"yaml": TEXT}
    assert (await door.ask.get("/drafts/w/yaml")).json() == {"epoch": 1, "seq": 0, "format": "yaml", "text": TEXT}


async def test_a_change_in_the_canvas_touches_only_its_line_of_the_text(door: Any) -> None:
    draft = await opened(door)
    await Person(door).send({"writes": [["set", key_of(draft, "said"), ["with", "value"], "<begin.name>"]]})
    assert await text_of(door) == TEXT.replace("<begin> ", "<begin.name> ")
    assert await text_of(door, 0) == TEXT


async def test_a_draft_without_a_text_is_written_in_yaml(door: Any) -> None:
    await door.ask.post("/drafts/w", json={"from": "document", "document": dict(parse(TEXT))})
    text = await text_of(door)
    assert dict(parse(text)) == dict(parse(TEXT)) and "#" not in text
    person = Person(door)
    item = await person.type("# mine\n" + text)
    assert [effect[:2] for effect in item["effects"]] == [["put", "text"]]
    assert await text_of(door) == "# mine\n" + text


async def test_json_stays_json(door: Any) -> None:
    text = '{\n  "id": "w",\n  "nodes": {"begin": {"type": "manual"}}\n}\n'
    await door.ask.post("/drafts/w", json={"from": "document", "document": dict(parse(text)), "text": text})
    await Person(door).send(*[{"writes": renames("N")}])
    got = (await door.ask.get("/drafts/w/yaml")).json()
    assert got["format"] == "json" and dict(parse(got["text"], syntax="json"))["name"] == "N"


async def test_what_is_typed_is_what_the_draft_says_then_comments_included(door: Any) -> None:
    draft = await opened(door)
    person = Person(door)
    typed = TEXT.replace("# by hand", "# by a person").replace("value: <begin>", "value: <begin.name>")
    typed = typed.replace("  # the answer\n  said:", "  # the answer, of course\n  answered:")
    item = await person.type(typed)
    assert await text_of(door) == typed
    assert (await door.ask.get("/drafts/w/document")).json()["document"] == dict(parse(typed))
    block = key_of(draft, "said")
    assert ["set", block, ["id"], "answered"] in item["effects"], "a node under another name is the same node"
    assert not any(effect[0] in ("del", "put") for effect in item["effects"])
    made = await door.ask.post("/drafts/w/yaml", json={"seq": 1, "text": typed})
    assert made.json() == {"epoch": 1, "seq": 1, "gestures": []}


async def test_two_people_who_type_at_once_keep_both_and_their_comments(door: Any) -> None:
    draft = await opened(door)
    await Person(door, "canvas").send({"writes": [["set", key_of(draft, "said"), ["with", "value"], "<begin.name>"]]})
    shown = await text_of(door)
    one, two = Person(door, "one"), Person(door, "two")
    await one.type(shown.replace("# by hand", "# by one"), seq=1)
    await two.type(shown.replace("# all of it", "# by two"), seq=1)
    assert await text_of(door) == shown.replace("# by hand", "# by one").replace("# all of it", "# by two")


@pytest.mark.parametrize(
    ("text", "place"),
    [("id: w\nnodes: {", "line 3"), ("id: w\nid: w\n", "line 2"), ("- a\n", "line 1"), ("id: w\nnodes: &a {<<: *b}", "line 2")],
)
async def test_a_text_that_does_not_parse_is_refused_with_its_place(door: Any, text: str, place: str) -> None:
    await opened(door)
    answer = await door.ask.post("/drafts/w/yaml", json={"seq": 0, "text": text})
    assert answer.status_code == 422
    finding = answer.json()["findings"][0]
    assert finding["code"] == "document_syntax" and finding["path"].startswith(place) and finding["mend"]
    assert await text_of(door) == TEXT


@pytest.mark.parametrize("text", [TEXT.replace("id: w", "id: other"), TEXT.replace("id: w\n", "")])
async def test_the_id_is_not_changed_by_a_text(door: Any, text: str) -> None:
    await opened(door)
    answer = await door.ask.post("/drafts/w/yaml", json={"seq": 0, "text": text})
    assert (answer.status_code, answer.json()["code"]) == (422, "id_mismatch")


async def test_an_item_that_is_not_there_is_refused(door: Any) -> None:
    await opened(door)
    for path in ("yaml", "document", "findings", "diff"):
        answer = await door.ask.get(f"/drafts/w/{path}?seq=5")
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_item"), path
    assert (await door.ask.post("/drafts/w/yaml", json={"seq": 1, "text": TEXT})).json()["code"] == "unknown_item"


# -- comparing ---------------------------------------------------------------------------------------------------------


async def test_a_draft_is_compared_with_its_base_by_node_and_by_line(door: Any) -> None:
    draft = await opened(door)
    person = Person(door)
    assert (await door.ask.get("/drafts/w/diff")).json() == {
        "epoch": 1, "seq": 0, "against": {"version": 1}, "nodes": [], "document": [], "lines": [],
    }  # fmt: skip
    said = key_of(draft, "said")
    await person.send({"writes": [["rename", said, "told"], ["set", said, ["with", "value"], 5], *renames("Hello")]})
    late = "  late:\n    type: fail\n    after: told\n    with: {message: no}\n"
    await person.type((await text_of(door)).replace("name: Hello", late + "name: Hello"))
    found = (await door.ask.get("/drafts/w/diff")).json()
    assert [(node["change"], node["path"], node.get("former_id")) for node in found["nodes"]] == [
        ("added", ["late"], None), ("changed", ["told"], "said"),
    ]  # fmt: skip
    assert found["nodes"][1] | {"fields": found["nodes"][1]["fields"]} == {
        "change": "changed", "path": ["told"], "key": said, "former_id": "said",
        "fields": [{"path": ["with", "value"], "before": "<begin>", "after": 5}],
    }  # fmt: skip
    assert found["document"] == [{"path": ["name"], "after": "Hello"}]
    assert [line["text"] for line in found["lines"] if line["op"] == "-"] == ["  said:", "      value: <begin>   # all of it"]
    assert all(line["text"] == TEXT.splitlines()[line["before"] - 1] for line in found["lines"] if "before" in line)
    now = (await text_of(door)).splitlines()
    assert all(line["text"] == now[line["after"] - 1] for line in found["lines"] if "after" in line)
    again = (await door.ask.get("/drafts/w/diff?against=1")).json()
    assert again["lines"] == found["lines"] and [node["change"] for node in again["nodes"]] == ["added", "changed"]
    assert (await door.ask.get("/drafts/w/diff?seq=0")).json()["nodes"] == []
    assert (await door.ask.get("/drafts/w/diff?against=7")).status_code == 404
    assert (await door.ask.get("/drafts/w/diff?against=me")).status_code == 400


async def test_the_history_says_who_did_what(door: Any) -> None:
    draft = await opened(door)
    said = key_of(draft, "said")
    person = Person(door)
    await person.send({"writes": [["rename", said, "told"]]})
    await person.send({"writes": [["set", said, ["with", "value"], 5]]}, {"writes": [["rename", said, "begin"]]})
    found = (await door.ask.get("/drafts/w/history")).json()
    (entry,) = found["entries"]
    assert (entry["from"], entry["to"], entry["refused"], found["next_before"]) == (1, 2, 1, None)
    assert entry["by"].startswith("configured key") and entry["at"] <= entry["until"]
    assert entry["changes"] == [
        {"what": "renamed", "key": said, "id": "told", "former_id": "said"},
        {"what": "changed", "key": said, "id": "told", "fields": [["with", "value"]]},
    ]
    await person.send({"writes": [["del", said]]})
    page = (await door.ask.get("/drafts/w/history?before=3&limit=1")).json()
    assert page["entries"] == [entry]


async def test_a_former_state_comes_back_in_one_operation(door: Any) -> None:
    draft = await opened(door)
    person = Person(door)
    await person.send({"writes": [["rename", key_of(draft, "said"), "told"]]})
    await person.send({"writes": [["del", key_of(draft, "said")], *renames("Hello")]})
    made = (await door.ask.post("/drafts/w/restore", json={"seq": 1})).json()
    assert (made["seq"], len(made["gestures"])) == (2, 1)
    await person.send(*made["gestures"])
    assert (await door.ask.get("/drafts/w/document")).json()["document"] == (
        await door.ask.get("/drafts/w/document?seq=1")
    ).json()["document"]
    made = (await door.ask.post("/drafts/w/restore", json={"version": 1})).json()
    await person.send(*made["gestures"])
    assert await text_of(door) == TEXT
    for body in ({}, {"seq": 1, "version": 1}):
        assert (await door.ask.post("/drafts/w/restore", json=body)).status_code == 400
    assert (await door.ask.post("/drafts/w/restore", json={"version": 9})).status_code == 404


# -- publishing --------------------------------------------------------------------------------------------------------


async def publish(door: Any, seq: int, status: int = 200, **body: Any) -> dict[str, Any]:
    answer = await door.ask.post("/drafts/w/publish", json={"seq": seq, **body})
    assert answer.status_code == status, answer.text
    return dict(answer.json())


async def test_a_draft_is_published_as_of_an_item_with_its_text_and_message(door: Any) -> None:
    draft = await opened(door)
    person, said = Person(door), key_of(draft, "said")
    tail = said.partition("/")[2]
    writes = [["set", said, ["with", "value"], 5], ["put", f"place/{tail}", {"x": 3, "y": 4}]]
    await person.send({"writes": [*writes, ["put", "note/n1", {"x": 1, "y": 2, "text": "look"}]]})
    await person.send({"writes": [["set", said, ["with", "value"], 6]]})
    made = await publish(door, 1, message="Five")
    assert (made["version"], made["seq"], made["warnings"]) == (2, 1, [])
    version = (await door.ask.get("/workflows/w/versions/2")).json()
    assert version["document"]["nodes"]["said"]["with"] == {"value": 5} and version["hash"] == made["hash"]
    text = (await door.ask.get("/workflows/w/versions/2?format=yaml")).text
    assert text == TEXT.replace("<begin> ", "5 ")
    now = (await door.ask.get("/drafts/w")).json()
    assert (now["epoch"], now["seq"], now["base"]["version"]) == (1, 2, 2)
    found = (await door.ask.get("/drafts/w/diff")).json()
    assert found["against"] == {"version": 2}
    assert [node["fields"] for node in found["nodes"]] == [[{"path": ["with", "value"], "before": 5, "after": 6}]]
    again = (await door.ask.post("/drafts/w")).json()
    places = {key.partition("/")[0]: entity for key, entity in again["entities"].items()}
    assert places["place"] == {"x": 3, "y": 4} and places["note"] == {"x": 1, "y": 2, "text": "look"}
    entries = (await door.ask.get("/audit")).json()["entries"]
    assert any(entry["verb"] == "publish_draft" and entry["details"] == {"seq": 1, "message": "Five"} for entry in entries)


async def test_a_version_that_was_published_meanwhile_is_not_passed_over(door: Any) -> None:
    draft = await opened(door)
    person = Person(door)
    await person.send({"writes": [["set", key_of(draft, "said"), ["with", "value"], 5]]})
    await published(door, TEXT.replace("id: w", "id: w\nname: Other"))
    problem = await publish(door, 1, status=409)
    assert problem["code"] == "version_moved" and problem["mend"]
    assert (await door.ask.get("/workflows/w")).json()["version"] == 2


async def test_a_draft_with_errors_is_not_published_and_says_where(door: Any) -> None:
    draft = await opened(door)
    said = key_of(draft, "said")
    await Person(door).send({"writes": [["set", said, ["type"], "nonsense"]]})
    problem = await publish(door, 1, status=422)
    assert {finding["key"] for finding in problem["findings"]} == {said}
    assert (await publish(door, 0))["version"] == 1, "an earlier item can be published"


async def test_publishing_twice_is_one_version(door: Any) -> None:
    draft = await opened(door)
    await Person(door).send({"writes": [["set", key_of(draft, "said"), ["with", "value"], 5]]})
    assert [(await publish(door, 1))["version"] for _ in range(2)] == [2, 2]


async def test_a_draft_from_nothing_makes_the_first_version(door: Any) -> None:
    await door.ask.post("/drafts/w", json={"from": "empty"})
    await Person(door).type("id: w\nnodes:\n  begin: {type: manual}  # by hand\n")
    assert (await publish(door, 1))["version"] == 1
    assert "# by hand" in (await door.ask.get("/workflows/w/versions/1?format=yaml")).text


# -- what was published elsewhere ---------------------------------------------------------------------------------------


async def test_a_version_from_elsewhere_comes_in_where_the_draft_has_not_changed(door: Any) -> None:
    draft = await opened(door)
    person, said = Person(door), key_of(draft, "said")
    await person.send({"writes": [["set", said, ["with", "value"], 5]]})
    other = TEXT.replace("# by hand", "# by them").replace("id: w\n", "id: w\nname: Theirs\n")
    other += "  more:\n    type: transform\n    after: begin\n    with: {value: 1}\n"
    assert await published(door, other) == 2
    now = (await door.ask.get("/drafts/w")).json()
    assert (now["seq"], now["base"]["version"], now["newest"], now["conflicts"]) == (2, 2, 2, 0)
    assert await text_of(door) == other.replace("<begin> ", "5 ")
    items = (await door.ask.get("/drafts/w/ops?epoch=1&after=1")).json()["items"]
    assert [item["by"] for item in items] == ["version 2"] and items[0]["client"].startswith("file")
    assert (await publish(door, 2))["version"] == 3


async def conflicted(door: Any) -> tuple[Person, str]:
    """The draft and the version have changed the same value."""
    draft = await opened(door)
    person, said = Person(door), key_of(draft, "said")
    await person.send({"writes": [["set", said, ["with", "value"], 5]]})
    await published(door, TEXT.replace("value: <begin>", "value: 9").replace("# the answer", "# their answer"))
    return person, said


async def test_what_both_have_changed_is_a_conflict_with_three_values(door: Any) -> None:
    _, said = await conflicted(door)
    found = (await door.ask.get("/drafts/w/conflicts")).json()
    assert found["conflicts"] == [
        {"key": said, "id": "said", "path": ["with", "value"], "base": "<begin>", "draft": 5, "file": 9, "from": "version 2"},
    ]
    assert (await door.ask.get("/drafts/w")).json()["conflicts"] == 1
    text = await text_of(door)
    assert "value: 5" in text and "# their answer" in text


async def test_a_conflict_alone_is_heard_in_the_room_and_so_is_its_end(make_door: Any) -> None:
    door = await make_door(development=True)
    draft = await opened(door)
    person, said = Person(door), key_of(draft, "said")
    await person.send({"writes": [["set", said, ["with", "value"], 5]]})
    async with await socket(door) as ada:
        await ada.enter(ADA, after=1)
        await published(door, TEXT.replace("value: <begin>", "value: 9"))
        assert await ada.hear("base") == {"v": 1, "t": "base"}
        assert (await door.ask.get("/drafts/w")).json()["conflicts"] == 1
        await door.ask.post("/drafts/w/conflicts", json={"key": said, "path": ["with", "value"], "take": "draft"})
        await ada.hear("base")
        assert (await door.ask.get("/drafts/w")).json()["conflicts"] == 0
    await door.app.state.draft_editing.close()


@pytest.mark.parametrize(("take", "value"), [("draft", 5), ("file", 9)])
async def test_a_conflict_is_closed_by_a_choice(door: Any, take: str, value: int) -> None:
    person, said = await conflicted(door)
    body = {"key": said, "path": ["with", "value"], "take": take}
    made = await door.ask.post("/drafts/w/conflicts", json=body)
    assert made.status_code == 200, made.text
    if made.json()["gestures"]:
        await person.send(*made.json()["gestures"])
    assert (await door.ask.get("/drafts/w/conflicts")).json()["conflicts"] == []
    document = (await door.ask.get("/drafts/w/document")).json()["document"]
    assert document["nodes"]["said"]["with"] == {"value": value}
    again = await door.ask.post("/drafts/w/conflicts", json=body)
    assert (again.status_code, again.json()["code"]) == (404, "unknown_conflict")


async def test_what_the_draft_has_already_is_no_conflict(door: Any) -> None:
    draft = await opened(door)
    await Person(door).send({"writes": [["set", key_of(draft, "said"), ["with", "value"], 9]]})
    await published(door, TEXT.replace("value: <begin>", "value: 9"))
    assert (await door.ask.get("/drafts/w/conflicts")).json()["conflicts"] == []


async def test_a_node_that_the_draft_deleted_and_the_version_changed_is_a_conflict(door: Any) -> None:
    draft = await opened(door)
    person, said = Person(door), key_of(draft, "said")
    await person.send({"writes": [["del", said]]})
    await published(door, TEXT.replace("value: <begin>", "value: 9"))
    (found,) = (await door.ask.get("/drafts/w/conflicts")).json()["conflicts"]
    assert (found["key"], found["draft"], found["file"]) == (said, None, 9)
    made = (await door.ask.post("/drafts/w/conflicts", json={"key": said, "path": found["path"], "take": "file"})).json()
    await person.send(*made["gestures"])
    assert (await door.ask.get("/drafts/w/document")).json()["document"]["nodes"]["said"]["with"] == {"value": 9}


async def test_a_person_may_edit_and_not_publish(door: Any) -> None:
    await opened(door)
    kept = (await door.ask.post("/keys", json={"name": "editor", "roles": ["read", "edit"]})).json()
    headers = {"authorization": f"Bearer {kept['secret']}"}
    typed = await door.stranger.post("/drafts/w/yaml", json={"seq": 0, "text": TEXT}, headers=headers)
    assert typed.status_code == 200
    refused = await door.stranger.post("/drafts/w/publish", json={"seq": 0}, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "role_missing")
    reader = (await door.ask.post("/keys", json={"name": "reader", "roles": ["read"]})).json()
    headers = {"authorization": f"Bearer {reader['secret']}"}
    assert (await door.stranger.get("/drafts/w/yaml", headers=headers)).status_code == 200
    for path, body in (("yaml", {"seq": 0, "text": TEXT}), ("restore", {"seq": 0})):
        assert (await door.stranger.post(f"/drafts/w/{path}", json=body, headers=headers)).status_code == 403
