"""Every reader of a filter of runs consumes every row of RUN_FILTERS."""

from __future__ import annotations

import argparse
from typing import Any, Final

import pytest

from stepless.api.requests import BulkFilter, RunFilters, RunsQuery
from stepless.api.routes.runs.listing import Selection, selection
from stepless.cli.command.schedule_verbs import add_filter
from stepless.cli.verbs.bulk import query_of
from stepless.model.runs.filters import RUN_FILTERS, Filter, Form
from stepless.runtime.verbs.reads.searching import FITS

# A value in the form of the API, and as a person types it.
SAMPLES: Final[dict[Form, tuple[Any, str]]] = {
    Form.TEXT: ("refund", "refund"),
    Form.STATUS: ("failed", "failed"),
    Form.WAITING: ("answer", "answer"),
    Form.INSTANT: ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
    Form.DURATION: (10_000, "10s"),
    Form.KEYWORDS: (["urgent"], "urgent"),
    Form.WORDS: ("tea", "tea"),
}
rows = pytest.mark.parametrize("row", RUN_FILTERS, ids=lambda row: row.name)


@rows
def test_the_list_and_the_bulk_change_of_the_api_select_by_it(row: Filter) -> None:
    value, _ = SAMPLES[row.form]
    asked = selection(RunsQuery(**{row.name: value}))
    assert asked != selection(RunsQuery()), "`selection` leaves it out"
    changed = selection(BulkFilter(**{"keywords" if row.form is Form.KEYWORDS else row.name: value}))
    assert changed == asked


@rows
def test_the_store_or_the_search_applies_it(row: Filter) -> None:
    value, _ = SAMPLES[row.form]
    found = selection(RunsQuery(**{row.name: value}))
    if row.indexed:
        assert found.filter != selection(RunsQuery()).filter and row.name not in FITS
    else:
        assert found == Selection(selection(RunsQuery()).filter, found.keywords, found.wanted) and row.name in FITS


@rows
def test_the_command_line_sends_it(row: Filter) -> None:
    value, typed = SAMPLES[row.form]
    command = argparse.ArgumentParser()
    add_filter(command)
    query = query_of(command.parse_args([f"--{row.option}", typed]))
    given = {name: sent for name, sent in query.items() if sent not in (None, [])}
    assert given == {"tag" if row.name == "keyword" else row.name: value}


def test_no_reader_has_a_filter_of_its_own() -> None:
    names = {row.name for row in RUN_FILTERS}
    assert set(RunFilters.model_fields) | {"keyword"} == names
    assert set(RunsQuery.model_fields) - names == {"limit", "cursor", "tag"}, "`tag` is the former name of `keyword`"
    assert set(FITS) <= names
