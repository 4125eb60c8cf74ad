"""The text of the author beside each version, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from draft_client import op

from stepless.compile import parse
from stepless.model.stored.version_metadata import decode_attached
from stepless.ports import Draft

pytestmark = pytest.mark.anyio

YAML = """\
# Says hello. Owner: the greeters
id: hello
nodes:
  begin: {type: manual}     # by hand
"""


async def text_of(door: Any, number: int, workflow: str = "hello") -> tuple[str, str]:
    answer = await door.ask.get(f"/workflows/{workflow}/versions/{number}?format=yaml")
    assert answer.status_code == 200, answer.text
    return answer.text, answer.headers["content-type"].partition(";")[0]


async def put_text(door: Any, text: str, kind: str = "application/yaml") -> int:
    answer = await door.ask.put("/workflows/hello", content=text.encode(), headers={"content-type": kind})
    assert answer.status_code in (200, 201), answer.text
    return int(answer.json()["version"])


async def test_the_text_of_the_author_is_kept_with_each_version(door: Any) -> None:
    assert await put_text(door, YAML) == 1
    assert await text_of(door, 1) == (YAML, "application/yaml")
    later = YAML.replace("id: hello", "id: hello\nname: Hello  # shown")
    assert await put_text(door, later) == 2
    assert [(await text_of(door, number))[0] for number in (1, 2)] == [YAML, later]


async def test_a_changed_comment_replaces_the_text_without_a_new_version(door: Any) -> None:
    await put_text(door, YAML)
    assert await put_text(door, YAML.replace("by hand", "by a person")) == 1
    assert "by a person" in (await text_of(door, 1))[0]


async def test_a_version_without_a_text_is_written_in_yaml(door: Any) -> None:
    await door.publish(door.ECHO)
    text, kind = await text_of(door, 1, "echo")
    assert kind == "application/yaml" and dict(parse(text, syntax="yaml")) == door.ECHO


async def test_json_of_several_lines_is_a_text_and_in_one_line_is_not(door: Any) -> None:
    lines = '{\n  "id": "hello",\n  "nodes": {"begin": {"type": "manual"}}\n}\n'
    await put_text(door, lines, "application/json")
    assert await text_of(door, 1) == (lines, "application/yaml")
    await put_text(door, '{"id": "hello", "nodes": {"begin": {"type": "manual"}}}', "application/json")
    assert await text_of(door, 1) == (lines, "application/yaml")


async def test_an_unknown_format_is_refused(door: Any) -> None:
    await door.publish(door.ECHO)
    assert (await door.ask.get("/workflows/echo/versions/1?format=toml")).status_code == 400


class Layout:
    """A draft of the newest version, opened anew: its notes and the places of its nodes."""

    def __init__(self, door: Any, opened: Any) -> None:
        self.door = door
        self.opened = opened
        self.blocks, self.keys = (
            [key for key in opened["entities"] if key.partition("/")[0] in rooms] for rooms in (("block",), ("note", "place"))
        )

    async def publish(self, writes: list[Any]) -> None:
        sent = await self.door.ask.put("/drafts/hello/ops", json=op(self.opened["epoch"], 1, writes))
        assert "item" in sent.json(), sent.text
        made = await self.door.ask.post("/drafts/hello/publish", json={"seq": 1})
        assert (made.status_code, made.json()["version"]) == (200, 1)


async def layout(door: Any) -> Layout:
    await door.ask.delete("/drafts/hello")
    return Layout(door, (await door.ask.post("/drafts/hello")).json())


async def test_notes_and_places_are_those_of_the_last_draft_that_published_the_content(door: Any) -> None:
    await put_text(door, YAML)
    first = await layout(door)
    place = first.blocks[0].replace("block/", "place/")
    await first.publish([["put", "note/n", {"x": 1, "y": 2, "text": "ask Bo"}], ["put", place, {"x": 5, "y": 6}]])
    second = await layout(door)
    assert len(second.keys) == 2
    await put_text(door, YAML)
    assert len((await layout(door)).keys) == 2, "a text says nothing of them"
    third = await layout(door)
    await third.publish([["del", key] for key in third.keys])
    assert (await layout(door)).keys == []

async def test_a_version_from_a_draft_says_who_what_and_which_items_and_the_state_there_is_kept(door: Any) -> None:
    await put_text(door, YAML)
    draft = await layout(door)
    for n in (1, 2, 3):
        named = op(draft.opened["epoch"], n, [["set", "doc", ["name"], f"name {n}"]], base=n - 1)
        assert "item" in (await door.ask.put("/drafts/hello/ops", json=named)).json()
    for seq, after in ((1, 0), (3, 1)):
        made = await door.ask.post("/drafts/hello/publish", json={"seq": seq, "message": f"item {seq}"})
        assert made.status_code == 200, made.text
        store = door.local.world.store
        told = decode_attached(store.get_attached("hello", made.json()["version"]))
        assert (told.message, told.by) == (f"item {seq}", draft.opened["created_by"])
        assert told.ops == {"epoch": draft.opened["epoch"], "after": after, "seq": seq}
        kept = door.local.world.drafts.nearest_state(Draft("hello", draft.opened["epoch"]), 3)
        assert kept is not None and kept.seq == seq
