"""A document as entities and back: the same canonical text, for valid and for faulty ones."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from invariants import faults

from stepless.compile.reading.read import parse
from stepless.drafts.rules.document import from_document, to_document
from stepless.drafts.rules.effects import Delete, Put, Set
from stepless.drafts.rules.requests import Operation
from stepless.drafts.rules.resolve import resolve
from stepless.drafts.rules.state import Entities, prefix_of
from stepless.model.json import JSON

ROOT = Path(__file__).parents[2]


def canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def documents(value: JSON) -> list[dict[str, JSON]]:
    """Every object with nodes in a JSON value."""
    found = [value] if isinstance(value, dict) and "nodes" in value else []
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return found + [one for held in inner for one in documents(held)]


def collected() -> list[dict[str, JSON]]:
    made = [
        one for file in sorted((ROOT / "tests" / "conformance" / "shared" / "cases").glob("*.json"))
        for one in documents(json.loads(file.read_text("utf-8")))
    ]
    texts = [file.read_text("utf-8") for file in sorted((ROOT / "examples").rglob("*.yaml"))]
    return made + [dict(parse(text)) for text in texts if "nodes:" in text]


DOCUMENTS = collected()


def again(document: dict[str, JSON]) -> dict[str, JSON]:
    entities = json.loads(canonical(from_document(document, "e")))
    assert list(faults(Entities(entities))) == []
    return to_document(Entities(entities))


def test_every_document_of_the_conformance_cases_and_examples_comes_back() -> None:
    assert len(DOCUMENTS) > 300
    for document in DOCUMENTS:
        assert canonical(again(document)) == canonical(document)


def damaged(rng: Random, value: JSON, depth: int = 0) -> JSON:
    """A value with some of its parts replaced, renamed, moved or wrapped."""
    odd: list[JSON] = [
        None, 5, 1.0, -0.0, 1e99, 2**80, True, "x.y", [], {}, [[]], ["a", 1], [{"from": "a"}], {"[]": {}}, {"#": "1.0"},
        {"\\#": 1},
    ]
    words = ("id", "parent", "order", "rest", "after", "type", "home", "form", "source", "handle", "[]", "#", "\\[]", "body")
    if rng.random() < 0.04:
        return rng.choice(odd)
    if isinstance(value, dict):
        items = [(key, damaged(rng, held, depth + 1)) for key, held in value.items()]
        if rng.random() < 0.1:
            items.append((rng.choice(words), rng.choice(odd)))
        if rng.random() < 0.2:
            rng.shuffle(items)
        return dict(items)
    if isinstance(value, list):
        made = [damaged(rng, item, depth + 1) for item in value]
        return [*made, rng.choice(odd)] if rng.random() < 0.05 else made
    return value


def test_damaged_documents_come_back_too() -> None:
    rng = Random(7)
    for seed in range(1_500):
        made = damaged(rng, rng.choice(DOCUMENTS))
        if isinstance(made, dict):
            assert canonical(again(made)) == canonical(made), seed


@pytest.mark.parametrize("after", [
    "a", ["a"], "a.source", ["a.error", "b"], {"from": "a"}, [{"from": "a", "param": "input"}], [], None, "missing",
])
def test_each_way_to_write_an_edge_is_kept(after: JSON) -> None:
    document = {"id": "w", "nodes": {"a": {"type": "manual"}, "b": {"type": "manual"}, "c": {"after": after, "type": "code"}}}
    assert canonical(again(document)) == canonical(document)


def test_keys_follow_from_the_epoch_and_the_place() -> None:
    document = DOCUMENTS[0]
    assert from_document(document, "e") == from_document(document, "e")
    assert not from_document(document, "e").keys() & (from_document(document, "f").keys() - {"doc"})


def test_the_body_of_a_request_is_no_container() -> None:
    document = {"id": "w", "nodes": {"a": {"type": "http", "with": {"body": {"nodes": {"x": {"type": "y"}}}}}}}
    assert not any(prefix_of(key) == "subflow" for key in from_document(document, "e", lambda type_: type_ == "loop"))
    assert any(prefix_of(key) == "subflow" for key in from_document(document, "e"))


def test_edits_are_written_where_they_belong() -> None:
    document: dict[str, JSON] = {
        "id": "w",
        "nodes": {
            "a": {"type": "manual"},
            "l": {"type": "loop", "after": "a", "with": {"times": 2, "body": {"nodes": {"x": {"type": "code"}}}}},
        },
    }
    state = Entities(from_document(document, "e"))
    loop = next(key for key in state if prefix_of(key) == "subflow").partition("/")[2]
    start = next(key for key in state if (state.get(key) or {}).get("id") == "a").partition("/")[2]
    made = resolve(state, [Operation((
        Put("block/n", {"id": "y", "type": "http", "parent": loop, "order": "k", "with": {"url": "u"}}),
        Put("block/m", {"id": "end", "type": "end", "parent": None, "order": "zz"}),
        Put("edge/e", {"source": start, "handle": "error", "target": "m", "order": "V", "home": "after"}),
        Set(f"subflow/{loop}", ("times",), 3),
    ))]).state
    assert canonical(to_document(made)) == canonical({
        "id": "w",
        "nodes": {
            "a": {"type": "manual"},
            "l": {"type": "loop", "after": "a", "with": {"times": 3, "body": {
                "nodes": {"x": {"type": "code"}, "y": {"type": "http", "with": {"url": "u"}}},
            }}},
            "end": {"type": "end", "after": {"from": "a.error"}},
        },
    })
    gone = resolve(made, [Operation((Delete(f"block/{start}"),))]).state
    assert "after" not in to_document(gone)["nodes"]["l"]
