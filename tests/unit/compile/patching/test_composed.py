"""A document without a text of its author is written as a person would, and reads back."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from stepless.compile.patching import composed, patched
from stepless.compile.reading.read_yaml import read_yaml

ROOT = Path(__file__).parents[4]
EXAMPLES = sorted((ROOT / "examples").glob("*/*.yaml"))
WRITTEN = """\
id: refund-approval
name: Refund approval
env: [REFUND_WEBHOOK_SECRET]

nodes:
  order:
    type: webhook
    with:
      path: /refunds
      auth: {hmac: "${REFUND_WEBHOOK_SECRET}"}
      schema:
        type: object
        required: [order_id, amount]
        properties:
          order_id: {type: string, minLength: 1}
          past_refunds: {type: integer, minimum: 0, description: yearly}

  each:
    type: loop
    after: [order, order.error]
    with:
      items: <order.lines>
      body:
        nodes:
          tick:
            type: wait
            with:
              for: 1s

  say:
    type: llm
    with:
      messages:
        - role: system
          content: |-
            Be brief.
            Be kind.
        - {role: user, content: "Is it so: <order.body>?"}
"""


def exactly(document: Any) -> str:
    """With the order of its keys, and with numbers as they are."""
    return json.dumps(document)


def test_short_values_are_in_one_line_and_nodes_apart() -> None:
    assert composed(read_yaml(WRITTEN)) == WRITTEN


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_an_example_reads_back(path: Path) -> None:
    document = read_yaml(path.read_text("utf-8"))
    text = composed(document)
    assert exactly(read_yaml(text)) == exactly(document)
    assert patched(text, document) == text


@pytest.mark.parametrize("seed", range(300))
def test_any_document_reads_back(seed: int) -> None:
    dice = Random(seed)
    document = {dice.choice(["id", "nodes", "edges", "name"]): value(dice, 5) for _ in range(4)}
    text = composed(document)
    assert exactly(read_yaml(text)) == exactly(document)
    assert patched(text, document) == text


TEXTS = [
    "", " ", "a", "a: b", "- a", "# no", "a #b", "yes", "~", "1", "1.0", "0x1f", "2d", "a\nb", "a\n", "\n", "a\n\n", " a", "a ",
    "<x.y>", "{{ a }}", "[", "{", "'", '"', "&a", "*a", "!t", "|", "> x", "%", "@", "`", "é", "\x85", "\u2028", "\t", "a, b",
    "a" * 200, "b " * 90,
    "${X}", "?", "null",
]  # fmt: skip
NUMBERS: list[Any] = [0, -1, 1.5, 1e300, True, False, None]


def value(dice: Random, depth: int) -> Any:
    kind = dice.randrange(2 if depth == 0 else 5)
    if kind == 0:
        return dice.choice(TEXTS)
    if kind == 1:
        return dice.choice(NUMBERS)
    if kind == 2:
        return [value(dice, depth - 1) for _ in range(dice.randrange(4))]
    names = [*TEXTS, "nodes", "with", "body", "type", "nodes", "with", "body"]
    return {dice.choice(names): value(dice, depth - 1) for _ in range(dice.randrange(5))}


ODD = [
    "<<", "=", "~", "null", "yes", "y", "0x1F", "0o7", "1_000", "1:30", "2020-01-01", ".inf", ".nan", "? x", ": x",
    "@x", "%x", "!x", "&x", "*x", "| x", "> x", "---", "...", "# x", " #", "x #y", "\\", "\r", "a\rb", "\x85",
    "\u2028", "\u2029", "\ufeff", "\0", "\x07", "\u202e", "k" * 101, "k" * 2_000, "\x80" * 120, "a " * 600,
]  # fmt: skip


@pytest.mark.parametrize("odd", ODD, ids=[ascii(odd[:12]) for odd in ODD])
def test_a_text_that_yaml_could_read_as_something_else_reads_back_as_key_and_as_value(odd: str) -> None:
    document = {"id": "w", "q": {odd: odd, "b": [odd, {odd: {odd: [odd]}}]}, "nodes": {odd: {"type": odd, "with": {odd: odd}}}}
    assert exactly(read_yaml(composed(document))) == exactly(document)
    assert exactly(read_yaml(patched("id: w # mine\nq: 1\nnodes: {a: {type: x}}\n", document))) == exactly(document)
    as_json = patched('{\n  "id": "w",\n  "q": 1\n}\n', document)
    assert exactly(json.loads(as_json)) == exactly(document)
    if len(odd) < 1_000:
        assert exactly(read_yaml(as_json)) == exactly(document)
