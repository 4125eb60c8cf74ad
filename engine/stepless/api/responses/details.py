"""Declares the rows that are shown with a question, and fills them in."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import TypedDict

from stepless.model.texts.details import Detail
from stepless.model.texts.short_markdown import Block


class SpanOut(TypedDict):
    """A piece of a text. `style` is `b`, `i`, `code` or empty; `href` is the address of a link, or empty."""

    text: str
    style: str
    href: str


class BlockOut(TypedDict):
    """A paragraph, whose lines are broken, or the items of a list."""

    is_list: bool
    lines: list[list[SpanOut]]


class DetailOut(TypedDict):
    """A row that is shown with a question. `format` is `text`, `number`, `amount`, `time`, `date` or `markdown`; `value` is a
    decimal number, an instant, a day or a text. `text` is the same in English and UTC. `blocks` are those of Markdown."""

    label: str
    format: str
    value: str
    text: str
    currency: str | None
    link: str | None
    blocks: list[BlockOut]


def details_out(details: Sequence[Detail]) -> list[DetailOut]:
    return [
        {
            "label": row.label, "format": row.format, "value": row.value, "text": row.text, "currency": row.currency or None,
            "link": row.link or None, "blocks": [_block(block) for block in row.blocks],
        }
        for row in details
    ]  # fmt: skip


def _block(block: Block) -> BlockOut:
    lines: list[list[SpanOut]] = [
        [{"text": span.text, "style": span.style, "href": span.href} for span in line] for line in block.lines
    ]
    return {"is_list": block.is_list, "lines": lines}
