"""Trace context: what is accepted from a request, what is handed on, and the ids, which never change."""

from __future__ import annotations

import pytest

from stepless.limits import MAX_TRACESTATE_CHARACTERS
from stepless.model.runs.traceparent import (
    Parent,
    RunTrace,
    attempt_span_id,
    node_span_id,
    parent_of,
    run_span_id,
    stored_former,
    stored_parent,
    trace_id,
    trace_of,
)

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
GOOD = f"00-{TRACE}-{SPAN}-01"


@pytest.mark.parametrize(
    "text",
    [
        "", "00", GOOD[:-1], GOOD + "0", GOOD + "-", GOOD + "-00", GOOD.upper(), f"ff-{TRACE}-{SPAN}-01", f"0-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01", f"00-{TRACE}-{'0' * 16}-01", f"00-{TRACE[1:]}-{SPAN}-01", f"00-{TRACE}-{SPAN}-0g",
        f"00_{TRACE}_{SPAN}_01", f"{GOOD}, {GOOD}", f"cc-{TRACE}-{SPAN}-01.more", "x" * 100_000,
        f"00-{TRACE}-{SPAN}-٠١", GOOD + "\n",
    ],
)  # fmt: skip
def test_an_invalid_traceparent_is_ignored(text: str) -> None:
    assert parent_of({"traceparent": text, "tracestate": "a=b"}) is None
    assert stored_parent({"traceparent": text}) == {}


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (GOOD, 1), (f" {GOOD}\t", 1), (f"00-{TRACE}-{SPAN}-00", 0), (f"00-{TRACE}-{SPAN}-03", 3), (f"00-{TRACE}-{SPAN}-ff", 3),
        (f"cc-{TRACE}-{SPAN}-01", 1), (f"cc-{TRACE}-{SPAN}-01-what-the-future-brings", 1),
    ],
)  # fmt: skip
def test_a_valid_traceparent_is_read(text: str, flags: int) -> None:
    assert parent_of({"traceparent": text}) == Parent(TRACE, SPAN, flags)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a=1,b=2", "a=1,b=2"), (" a=1 ,\tb=2 ", "a=1,b=2"), ("a=1,,b=2,", "a=1,b=2"), ("a=1,a=2", "a=1"), ("", ""),
        ("t61rcwkgmze@vendor=x y", "t61rcwkgmze@vendor=x y"), ("a", ""), ("A=1", ""), ("a=1;b=2", ""), ("a=1;b", "a=1;b"),
        ("a=b=c", ""),
        ("a=é", ""), ("a=", ""), ("=1", ""), ("a=1,b", ""), ("a=" + "x" * 257, ""), (",".join(f"k{n}=1" for n in range(32)),) * 2,
        (",".join(f"k{n}=1" for n in range(33)), ""), ("a=1," * 1_000_000, ""),
    ],
)  # fmt: skip
def test_a_tracestate_is_passed_on_or_dropped_alone(text: str, kept: str) -> None:
    assert parent_of({"traceparent": GOOD, "tracestate": text}) == Parent(TRACE, SPAN, 1, kept)


def test_a_long_tracestate_loses_its_long_members_first_and_then_its_last() -> None:
    long, short = "long=" + "x" * 200, [f"k{number}={'y' * 40}" for number in range(11)]
    kept = parent_of({"traceparent": GOOD, "tracestate": ",".join([short[0], long, *short[1:]])})
    assert kept is not None
    assert kept.state == ",".join(short)
    cut = parent_of({"traceparent": GOOD, "tracestate": ",".join([*short, *(one.replace("k", "m") for one in short)])})
    assert cut is not None
    assert cut.state == ",".join(short)
    assert len(cut.state) <= MAX_TRACESTATE_CHARACTERS


def test_the_ids_of_a_run_never_change() -> None:
    """Golden: a span that is sent again by a later release must have the same ids."""
    assert trace_id("run_1") == "d4574c44557c3ac5b01a01a6f54f222f"
    assert run_span_id("run_1") == "4a04cde16e1c7488"
    assert node_span_id("run_1", "a@l[2]") == "57d4595706b1f6a4"
    assert attempt_span_id("run_1", "a@l[2]", 1) == "b81108b81b03e2eb"


def test_a_run_keeps_its_parent_and_hands_itself_on() -> None:
    meta = stored_parent({"traceparent": f"00-{TRACE}-{SPAN}-01", "tracestate": "a=1"})
    trace = trace_of("run_1", meta)
    assert trace == RunTrace("run_1", TRACE, SPAN, 1, "a=1")
    own = attempt_span_id("run_1", "n", 2)
    assert trace.headers("n", 2) == {"traceparent": f"00-{TRACE}-{own}-01", "tracestate": "a=1"}
    child = trace_of("run_2", {"trace": trace.stored(own)})
    assert child == RunTrace("run_2", TRACE, own, 1, "a=1")


@pytest.mark.parametrize(
    "stored", [None, 3, "x", {}, {"parent": None}, {"parent": 5}, {"parent": "x", "state": 9}, {"former": "x"}]
)
def test_a_run_without_a_usable_parent_begins_a_trace(stored: object) -> None:
    trace = trace_of("run_1", {"trace": stored})
    assert trace == RunTrace("run_1", trace_id("run_1"), "", 1, "")
    assert trace.sampled
    assert set(trace.headers("n", 1)) == {"traceparent"}


def test_an_unsampled_parent_stays_unsampled() -> None:
    trace = trace_of("run_1", stored_parent({"traceparent": f"00-{TRACE}-{SPAN}-00"}))
    assert not trace.sampled
    assert trace.headers("n", 1)["traceparent"].endswith("-00")


def test_a_rerun_remembers_the_trace_of_the_former_run_only_if_it_does_not_follow_from_its_id() -> None:
    assert stored_former("run_1", {}) == {}
    assert stored_former("run_1", stored_parent({"traceparent": GOOD})) == {"trace": {"former": TRACE}}
    assert trace_of("run_2", {"trace": {"former": TRACE}}).trace_id == trace_id("run_2")
