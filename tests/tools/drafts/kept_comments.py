"""Texts of workflows as people write them, comments put into them, edits of what they say, and the comments that must be kept."""

from __future__ import annotations

import copy
import difflib
import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from odd_edits import TEXTS as NAMES

from stepless.compile.patching import patched
from stepless.compile.patching.comments import comments_above
from stepless.compile.patching.edits import renames
from stepless.compile.patching.tree import Node, column, line_start, tree_of
from stepless.compile.reading.read_yaml import read_yaml
from stepless.compile.reading.syntax import SyntaxFault
from stepless.model.json import JSON

ROOT = Path(__file__).parents[3]
HAND = """\
# Refunds. Owner: payments team
id: refund-approval        # never change
name: "Refund approval"
variables: {status: pending}              # workflow variables

env: [PAYMENTS_API_KEY,  REFUND_WEBHOOK_SECRET]
nodes:
    # --- in ---
    order:
        type: webhook
        with: {path: /refunds, method: POST, auth: {hmac: "${REFUND_WEBHOOK_SECRET}"},
               schema: {type: object, required: [order_id, amount]}}

    score:
        type: http    # risk
        after: order
        with:
            url: 'https://risk.example.com/score'
            body: {order: <order.body.order_id>, amount: <order.body.amount>}
        retry:
            attempts: 4
            retry_on:
            - timeout
            # the provider's own limit
            - rate_limit
        timeout_ms: 10000
    # before triage
    triage:
        type: condition
        after: score
        with:
            cases:
                auto:   <score.body.risk> < 0.2 and <order.body.amount> < 100   # fast lane
                review: else
    note:
        type: transform
        after: [triage.auto, triage.review]
        with:
            value: >-
                folded text that is long enough to be wrapped somewhere else than where the author
                wrapped it, which a writer must not touch
            other: |
                line one
                  line two
"""
ANCHORS = """\
id: a
nodes:
  one:
    type: http
    retry: &twice {attempts: 2, backoff_ms: 10}
  two: # the second
    type: http
    retry: *twice
  three: {type: http, retry: *twice}
"""
BLOCKS = """\
id: a
variables: &vars
  a: 1
  b: &inner
    x: 1
    y: [1, 2]
nodes:
  one:
    type: http
    retry: &twice
      attempts: 2
      backoff_ms: 10
    with:
      list: &l
        - a
        - &it {k: v}
        - last: 1
          more: 2
  two: # the second
    type: http
    retry: *twice
    with: {list: *l, v: *vars, item: *it}
  three: {type: http, retry: *twice}
  four: &four
    type: http
    with: *inner
  five: *four
"""


def canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def texts() -> dict[str, str]:
    made = {"hand": HAND, "anchors": ANCHORS, "blocks": BLOCKS, "json": json.dumps(read_yaml(HAND), indent=2)}
    made["crlf"] = "\ufeff" + HAND.replace("\n", "\r\n")
    for file in sorted((ROOT / "examples").rglob("*.yaml")):
        text = file.read_text("utf-8")
        if "nodes:" in text:
            made[file.parent.name] = text
    return made


TEXTS = texts()
VALUES: list[JSON] = [
    "x", "", "a: b # c", "two\nlines", "  lead", 3, 2.5, True, None, "yes", "<a.b> < 2", [1, "a"], {"k": {"d": "e"}}, {}, [],
    "\u00e9\N{GRINNING FACE}", "- item", "{x", "'q'", '"', "\ttab", "line\n\n", "\n", "1e3", "null", [{"a": 1, "b": "x\ny"}, "t"],
    "x" * 150, "word " * 40, 2**70, -0.0, 1.0,
]


def paths(value: JSON, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in parts:
        yield (*path, step)
        yield from paths(inner, (*path, step))


def edited(rng: Random, document: JSON) -> tuple[JSON, str]:
    """The document after one edit, and what the edit was."""
    made = copy.deepcopy(document)
    path = rng.choice(list(paths(made)))
    inner = made
    for step in path[:-1]:
        inner = inner[step]
    what = rng.choice(("set", "set", "add", "drop", "rename", "move"))
    value = copy.deepcopy(rng.choice(VALUES))
    if what == "set":
        inner[path[-1]] = value
    elif what == "drop":
        del inner[path[-1]]
    elif isinstance(inner, list):
        inner.insert(rng.randrange(len(inner) + 1), value)
    else:
        items = list(inner.items())
        if what == "add":
            items.insert(rng.randrange(len(items) + 1), (f"new{rng.randrange(999)}", value))
        elif what == "rename":
            items = [(f"{key}_2" if key == path[-1] else key, held) for key, held in items]
        else:
            items.append(items.pop(rng.randrange(len(items))))
        inner.clear()
        inner.update(items)
    return made, what


# -- comments ----------------------------------------------------------------------------------------------------------

Place = tuple[str | int, ...]
MARK = re.compile(r"# said [0-9]+\b")


class Entry(NamedTuple):
    """A key or an item of a block. `start` is where it begins, `end` is behind its value."""

    path: Place
    start: int
    end: int


def entries(text: str, node: Node, value: JSON, path: Place = ()) -> Iterator[Entry]:
    if node.flow or node.shape not in ("mapping", "sequence"):
        return
    parts = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    for place, (step, held) in enumerate(parts):
        item = node.items[place]
        start = node.keys[place].start if node.shape == "mapping" else text.rindex("-", 0, item.start + 1)
        yield Entry((*path, step), start, max(item.end, start + 1))
        yield from entries(text, item, held, (*path, step))


def owners(text: str, document: JSON) -> dict[str, tuple[Place, bool]]:
    """For each comment that is marked: the path of what it is about, and whether it stands on lines of its own above it."""
    tree = tree_of(text)
    assert tree is not None
    found = list(entries(text, tree, document))
    made: dict[str, tuple[Place, bool]] = {}
    for comment in MARK.finditer(text):
        begin = line_start(text, comment.start())
        line = text[begin:comment.end()]
        place = begin + len(line) - len(line.lstrip(" ")) if line.lstrip(" ").startswith("#") else comment.start()
        inside = [one.path for one in found if line_start(text, one.start) <= begin <= one.end or one.start <= place <= one.end]
        about, above = max(inside, key=len, default=()), False
        if not text[begin:place].strip():
            about = max((one.path for one in found if line_start(text, one.start) < begin < one.end), key=len, default=())
            following = begin
            while text[following:].startswith(text[begin:place] + "#"):
                following = text.find("\n", following) + 1 or len(text)
            for one in found:
                if line_start(text, one.start) == following and column(text, one.start) == place - begin:
                    about, above = one.path, True
                    break
        made[comment[0]] = (about, above)
    return made


def changed(old: JSON, new: JSON, path: Place = ()) -> Iterator[tuple[Place, bool]]:
    """The paths in the old document of what has another value, and of what is gone, which is said. What only moved has not
    changed."""
    if canonical(old) == canonical(new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        named = renames(old, new)
        for key, held in old.items():
            name = named.get(key, key)
            if name in new:
                yield from changed(held, new[name], (*path, key))
            else:
                yield (*path, key), True
    elif isinstance(old, list) and isinstance(new, list):
        was, now = list(map(canonical, old)), list(map(canonical, new))
        for tag, a, b, c, d in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
            for place in range(a, b) if tag != "equal" else ():
                if place - a < d - c:
                    yield from changed(old[place], new[c + place - a], (*path, place))
                else:
                    yield (*path, place), True
    else:
        yield path, False


def outside(text: str, old: JSON, new: JSON) -> set[str]:
    """The comments that an edit of the document must keep."""
    paths = list(changed(old, new))
    kept: set[str] = set()
    for comment, (about, above) in owners(text, old).items():
        if not any(about[:len(path)] == path and (gone or not above or about != path) for path, gone in paths):
            kept.add(comment)
    return kept


# -- seeds -------------------------------------------------------------------------------------------------------------

_COMMENTED = [name for name in TEXTS if name not in ("json", "crlf")] + ["anchors", "blocks", "hand"] * 3


def commented(rng: Random, text: str, count: int) -> str:
    """The text with comments of its own, behind lines and above them."""
    for _ in range(count):
        lines = text.split("\n")
        place = rng.randrange(len(lines))
        mark, indent = f"# said {rng.randrange(10**6)}", len(lines[place]) - len(lines[place].lstrip())
        behind = [f"{lines[place]}   {mark}"]
        lines[place:place + 1] = behind if rng.random() < 0.5 else [" " * indent + mark, lines[place]]
        made = "\n".join(lines)
        try:
            if canonical(read_yaml(made)) == canonical(read_yaml(text)):
                text = made
        except SyntaxFault:
            continue
    return text


def oddly_named(rng: Random, text: str) -> str:
    """The text with keys that mean something elsewhere, or take more than a line."""
    document: Any = copy.deepcopy(read_yaml(text))
    for _ in range(rng.randrange(3)):
        nodes = [node for node in document["nodes"].values() if isinstance(node, dict)]
        within = [node["with"] for node in nodes if isinstance(node.get("with"), dict)]
        held = rng.choice([document["nodes"], *nodes, *within])
        held.setdefault(rng.choice(NAMES), {"type": "http"} if held is document["nodes"] else rng.choice(NAMES))
    return patched(text, document)


def keeps(seed: int) -> None:
    """One text, one or two edits of it: it reads back, keeps every comment that is outside of what changed, and touches no more
    lines than the nodes that changed have, and two."""
    rng = Random(seed)
    text = commented(rng, oddly_named(rng, TEXTS[rng.choice(_COMMENTED)]), 8)
    document = read_yaml(text)
    after, made_by = edited(rng, document)
    if rng.random() < 0.3 and after and isinstance(after, dict):
        after, also = edited(rng, after)
        made_by = f"{made_by}, {also}"
    if not after or not isinstance(after, dict):
        return
    if rng.random() < 0.5:  # a value behind an alias changes without the others
        after = json.loads(canonical(after))
    made = patched(text, after)
    assert canonical(read_yaml(made)) == canonical(after), seed
    lost = outside(text, document, after) - set(MARK.findall(made))
    assert not lost, (seed, made_by, lost)
    places = [*(path for path, _ in changed(document, after)), *behind_aliases(text, document, after)]
    nodes = {path[:2] if path[:1] == ("nodes",) else path[:1] for path in places}
    if "move" not in made_by and () not in nodes and ("nodes",) not in nodes:
        assert len(gone(text, made)) <= sum(lines_of(text, document, node) for node in nodes) + 2, (seed, made_by)


def behind_aliases(text: str, document: Any, after: Any) -> Iterator[Place]:
    """The nodes that have an alias and another value afterwards: an addition behind an alias takes the line of the alias."""
    tree = tree_of(text)
    assert tree is not None
    nodes = dict(zip(document, tree.items, strict=True)).get("nodes")
    if nodes is None or nodes.shape != "mapping" or not isinstance(after.get("nodes"), dict):
        return
    for (name, held), node in zip(document["nodes"].items(), nodes.items, strict=True):
        if has_alias(node) and name in after["nodes"] and canonical(held) != canonical(after["nodes"][name]):
            yield "nodes", name


def has_alias(node: Node) -> bool:
    return node.shape == "alias" or any(map(has_alias, node.items))


def lines_of(text: str, document: JSON, path: Place) -> int:
    """How many lines an entry has, with the comments right above it."""
    tree = tree_of(text)
    assert tree is not None
    found = next((one for one in entries(text, tree, document) if one.path == path), None)
    if found is None:  # in braces, or behind an alias
        return len(text.splitlines())
    begin = comments_above(text, line_start(text, found.start), found.start)
    return text.count("\n", begin, found.end) + 1


def gone(before: str, after: str) -> list[str]:
    """The lines that an edit touched."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in list(lines)[2:] if line.startswith("-")]
