"""Renders the rows of an approval as HTML, with every text escaped: for the page of a signed link, and for mail."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from stepless.model.texts.details import Detail
from stepless.model.texts.short_markdown import Block, Span


def value_html(row: Detail) -> str:
    """Returns the value of a row. Amounts, numbers and instants are marked, so that a script can format them for the reader."""
    match row.format:
        case "markdown":
            return "".join(map(_block, row.blocks))
        case "amount" | "number":
            currency = f' data-currency="{escape(row.currency)}"' if row.currency else ""
            shown = f'<data class="shown" value="{escape(row.value)}"{currency}>{escape(row.text)}</data>'
        case "time" | "date":
            day = " day" if row.format == "date" else ""
            shown = f'<time class="shown{day}" datetime="{escape(row.value)}">{escape(row.text)}</time>'
        case _:
            shown = escape(row.text)
    return _link(row.link, shown) if row.link else shown


def _block(block: Block) -> str:
    lines = ["".join(map(_span, line)) for line in block.lines]
    return f"<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>" if block.is_list else f"<p>{'<br>'.join(lines)}</p>"


def _span(span: Span) -> str:
    text = escape(span.text)
    if span.href:
        return _link(span.href, text)
    return f"<{span.style}>{text}</{span.style}>" if span.style else text


def _link(href: str, html: str) -> str:
    return f'<a href="{escape(href)}" target="_blank" rel="noopener noreferrer">{html}</a>'


def rows_html(details: Sequence[Detail]) -> str:
    """Returns rows with a label as terms and descriptions, and those without one as they are, in their order."""
    parts, terms = list[str](), list[str]()

    def close() -> None:
        if terms:
            parts.append(f'<dl class="details">{"".join(terms)}</dl>')
            terms.clear()

    for row in details:
        if row.label:
            terms.append(f"<dt>{escape(row.label)}</dt><dd>{value_html(row)}</dd>")
        else:
            close()
            parts.append(f'<div class="prose">{value_html(row)}</div>')
    close()
    return "".join(parts)
