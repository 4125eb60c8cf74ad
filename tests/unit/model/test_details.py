"""What approvers are shown with a question: rows, their formats, and the subset of Markdown."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.limits import MAX_DETAIL_CHARACTERS, MAX_DETAILS
from stepless.model.texts.details import Detail, details_of, lines_of
from stepless.model.texts.short_markdown import Block, Span, blocks_of, plain


def shown(**row: Any) -> Detail:
    return details_of({"details": [{"label": "n", **row}]})[0]


@pytest.mark.parametrize(
    ("row", "format", "value", "text"),
    [
        ({"value": 1250.5, "currency": "EUR"}, "amount", "1250.5", "1,250.50 EUR"),
        ({"value": "1250", "currency": "JPY"}, "amount", "1250", "1,250 JPY"),
        ({"value": 10**18, "currency": "USD"}, "amount", "1000000000000000000", "1,000,000,000,000,000,000.00 USD"),
        ({"value": 0.1, "format": "number"}, "number", "0.1", "0.1"),
        ({"value": "2026-01-31T12:00:00+02:00", "format": "time"}, "time", "2026-01-31T10:00:00Z", "31 January 2026, 10:00 UTC"),
        ({"value": "2026-01-31", "format": "date"}, "date", "2026-01-31", "31 January 2026"),
        ({"value": "2026-01-31", "format": "time"}, "date", "2026-01-31", "31 January 2026"),
        ({"value": "tomorrow", "format": "time"}, "text", "tomorrow", "tomorrow"),
        ({"value": "many", "currency": "EUR"}, "text", "many", "many"),
        ({"value": "NaN", "format": "number"}, "text", "NaN", "NaN"),
        ({"value": 1e300, "format": "number"}, "text", "1e+300", "1e+300"),
        ({"value": True, "format": "number"}, "text", "Yes", "Yes"),
        ({"value": 7, "currency": "€"}, "number", "7", "7"),
        ({"value": {"a": [1]}}, "text", '{"a": [1]}', '{"a": [1]}'),
        ({"value": None}, "text", "", ""),
    ],
)
def test_a_value_is_formatted_and_one_that_does_not_fit_is_a_text(row: Any, format: str, value: str, text: str) -> None:
    made = shown(**row)
    assert (made.format, made.value, made.text) == (format, value, text)


@pytest.mark.parametrize("link", ["javascript:alert(1)", "data:text/html,x", "/runs", "https://a b", 'https://a"onload=', "", 7])
def test_a_link_is_an_address_that_a_page_may_lead_to(link: Any) -> None:
    assert shown(value="x", link=link).link == ""
    assert shown(value="x", link="https://shop.example.com/orders/17?a=b&c=d").link == "https://shop.example.com/orders/17?a=b&c=d"


def test_what_is_too_long_or_too_many_is_left_out() -> None:
    assert len(shown(value="x" * 100_000).text) == MAX_DETAIL_CHARACTERS
    assert len(details_of({"details": [{"value": 1}] * 200})) == MAX_DETAILS
    assert details_of({"details": "no rows"}) == details_of({}) == []


def test_markdown_has_paragraphs_lists_styles_and_links() -> None:
    text = "**Why** it is *so*:\n- `one`\n- [two](https://a.example/b)\n\nThe end."
    assert blocks_of(text) == [
        Block(False, [(Span("Why", "b"), Span(" it is "), Span("so", "i"), Span(":"))]),
        Block(True, [(Span("one", "code"),), (Span("two", "", "https://a.example/b"),)]),
        Block(False, [(Span("The end."),)]),
    ]
    assert plain(blocks_of(text)) == "Why it is so:\n- one\n- two (https://a.example/b)\nThe end."


@pytest.mark.parametrize(
    "text",
    ["<b>no</b>", "[x](javascript:alert(1))", "![i](https://a.example/i.png", "# no heading", "2 * 3 * 4", "a_b", "`open", "**"],
)
def test_everything_else_is_text(text: str) -> None:
    assert "".join(span.text for block in blocks_of(text) for line in block.lines for span in line) == text
    assert not any(span.href for block in blocks_of(text) for line in block.lines for span in line if "javascript" in span.href)


def test_rows_are_lines_for_readers_of_text() -> None:
    rows = [{"label": "Order", "value": "A-17", "link": "https://shop.example/A-17"}, {"value": "**Now**", "format": "markdown"}]
    assert lines_of(details_of({"details": rows})) == ["Order: A-17 (https://shop.example/A-17)", "Now"]
