"""Runs for the golden files: together they have every type of event, every field of a payload and every kind of wait.

A run is a document and the facts of each decision; its log depends on nothing else. `snapshot_after` is the number of decisions
after which its snapshot is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stepless.core.facts import (
    Answered,
    Begin,
    CancelRequested,
    ChildChanged,
    Completed,
    Continued,
    Expired,
    Fact,
    Failed,
    Failure,
    HoldChanged,
    Logged,
    Noticed,
    Received,
    Recovered,
    Streamed,
    Suspended,
    Tick,
)
from stepless.model.kind import Outcome, Pause

START_MS = 1_790_000_000_000
Step = tuple[int, Sequence[Fact]]  # milliseconds after the start, and the facts at that time
TOKENS = {"input_tokens": 7, "output_tokens": 3}


@dataclass(frozen=True)
class GoldenRun:
    name: str
    document: Mapping[str, Any]
    steps: Sequence[Step]
    snapshot_after: int
    entry: Sequence[str] | None = None
    bounds: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)  # of the decision with that number, from 0


def call(after: Any = None, **more: Any) -> dict[str, Any]:
    return {"type": "function", "with": {"call": "golden.work"}, **({"after": after} if after is not None else {}), **more}


def done(instance: str, value: Any = None, attempt: int = 1, usage: Mapping[str, int] | None = None, **more: Any) -> Completed:
    return Completed(instance, attempt, Outcome(value, **more), usage or {})


def document(name: str, nodes: Mapping[str, Any], **top: Any) -> dict[str, Any]:
    return {"id": f"golden-{name}", **top, "nodes": nodes}


LOOP_BODY = {"nodes": {"x": call(), "keep": {"type": "set", "after": "x", "with": {"variables": {"last": "<x>"}}}}}
TRIES = {"attempts": 3, "backoff_ms": 400, "retry_on": ["timeout", "provider_error", "rate_limit", "contract_violated"]}

CONTAINERS = GoldenRun(
    "containers",
    document(
        "containers",
        {
            "start": {"type": "manual"},
            "each": {
                "type": "loop", "after": "start",
                "with": {"items": "<start.rows>", "body": LOOP_BODY, "on_error": "continue"},
            },
            "side": {
                "type": "parallel", "after": "each",
                "with": {"branches": 3, "window": 2, "body": {"nodes": {"p": call(), "w": call("p")}}, "on_error": "drop"},
            },
            "until": {
                "type": "loop", "after": "side",
                "with": {"do_while": "<loop.index> < 2", "body": {"nodes": {
                    "y": call(), "out": {"type": "end", "after": "y", "with": {"break": True}}}}},
            },
            "choose": {
                "type": "condition", "after": "until",
                "with": {"cases": {"yes": "<workflow.last> == 'two'", "no": "else"}},
            },
            "never": call("choose.no"),
            "say": {
                "type": "respond", "after": "choose.yes",
                "with": {"status": 201, "headers": {"x-a": "1"}, "body": {"n": "<workflow.last>"}},
            },
        },
        variables={"last": "none"},
    ),
    (
        (0, [Begin({"rows": ["one", "two", {"deep": [1]}]}, {"trigger": "manual", "tags": ["a", "b"]})]),
        (5, [Logged("x@each[0]", 1, "a line"), Streamed("x@each[0]", 1, "pie"), Streamed("x@each[0]", 1, "ce")]),
        (9, [done("x@each[0]", "one", usage=TOKENS)]),
        (20, [done("x@each[1]", "two", variables={"last": "two"})]),
        (30, [Failed("x@each[2]", 1, Failure("http_error", "http_404", "not there"), 0.5, TOKENS)]),
        (40, [done("p@side[0]", 1), done("p@side[1]", 2)]),
        (50, [Failed("w@side[0]", 1, Failure("execution", "odd", "odd"))]),
        (60, [done("w@side[1]", 4)]),
        (70, [done("p@side[2]", 5)]),
        (80, [done("w@side[2]", 6)]),
        (90, [done("y@until[0]", "last turn")]),
    ),
    snapshot_after=7,
)

PEOPLE = GoldenRun(
    "people",
    document(
        "people",
        {
            "ask": {
                "type": "approval",
                "with": {
                    "message": "Pay?", "approvers": ["ada@example.com"], "timeout": "1h", "reminders": ["10m"],
                    "fields": {"amount": {"type": "integer"}}, "notify": "https://example.com/told",
                },
            },
            "late": {"type": "approval", "with": {"message": "Also?", "timeout": "30m"}},
            "too_late": call("late.timeout"),
            "back": {"type": "callback", "with": {"timeout": "2h"}},
            "nap": {"type": "wait", "with": {"for": "15m"}},
            "sub": {"type": "workflow", "with": {"workflow": "golden-child"}},
            "sub_fails": {"type": "workflow", "with": {"workflow": "golden-child"}},
            "mend": call("sub_fails.error"),
            "pay": call("ask.approved"),
            "end": call(["pay", "back", "nap", "sub", "mend", "too_late"]),
        },
    ),
    (
        (0, [Begin({}, {"parent": {"run": "r0", "instance": "sub"}})]),
        (10, [
            Suspended("sub", 1, Pause("subrun", exits=(), details={"run": "golden-child-1"})),
            Suspended("sub_fails", 1, Pause("subrun", exits=(), details={"run": "golden-child-2"})),
        ]),
        (20, [Noticed("ask", 0, "connection refused")]),
        (1_100, [Tick()]),
        (1_200, [Noticed("ask", 0)]),
        (2_000, [ChildChanged("sub", "paused")]),
        (3_000, [ChildChanged("sub", "running")]),
        (4_000, [ChildChanged("sub", "completed", {"child": True})]),
        (5_000, [ChildChanged("sub_fails", "failed", None, {"code": "odd", "class": "execution", "message": "m", "node": "n"})]),
        (6_000, [done("mend", "mended")]),
        (900_000, [Tick()]),
        (1_800_000, [Tick()]),
        (1_800_010, [Expired("late")]),
        (1_800_020, [done("too_late", None)]),
        (1_900_000, [Answered("back", "source", {"n": 2**70, "half": "\ud83d"}, "a system")]),
        (2_000_000, [Answered("ask", "approved", {"amount": 3}, "ada")]),
        (2_000_010, [done("pay", {"paid": 3})]),
        (2_000_020, [done("end", "all")]),
    ),
    snapshot_after=12,
)  # fmt: skip

CONTRACT = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
FAILURES = GoldenRun(
    "failures",
    document(
        "failures",
        {
            "good": call(),
            "wrong_in": call("good", input_contract={"type": "object", "properties": {"input": CONTRACT}}),
            "wrong_out": call("good", output_contract=CONTRACT, retry={**TRIES, "attempts": 2}),
            "blocked": call("good"),
            "slow": call("good", retry=TRIES),
            "bad_config": {"type": "transform", "after": "good", "with": {"value": "<good.n> / 0"}},
            "partner": call("good"),
            "join": call(["wrong_in", "wrong_out", "blocked", "slow"], join={"errors": "collect-all"}),
            "in_time": call(["partner", "slow"], join={"mode": "timeout", "timeout_ms": 50, "on_timeout": "proceed"}),
            "never_in_time": call(["partner", "slow"], join={"timeout_ms": 60}),
            "saved": call(["blocked", "good"], on_parent_failure="substitute_default", default="instead"),
            "after": call("join"),
        },
    ),
    (
        (0, [Begin({})]),
        (10, [done("good", {"n": "no number"})]),
        (20, [done("wrong_out", {"n": "x"})]),
        (30, [done("partner", "here")]),
        (40, [Failed("blocked", 1, Failure("moderation", "moderation_flagged", "not nice", "policy"))]),
        (50, [Failed("slow", 1, Failure("rate_limit", "", "later", retry_after_ms=5_000), 0.25)]),
        (70, [Tick()]),
        (100, [done("in_time", 1), done("saved", 2)]),
        (500, [Tick()]),
        (510, [done("wrong_out", {"n": "y"}, attempt=2)]),
        (6_000, [Tick()]),
        (7_000, [Failed("slow", 2, Failure("timeout", "timeout", "no answer", "timeout"), 1.0)]),
        (9_000, [Tick()]),
        (9_100, [Failed("slow", 3, Failure("timeout", "timeout", "no answer", "timeout"), 1.0)]),
    ),
    snapshot_after=8,
)

CANCELLED = GoldenRun(
    "cancelled",
    document("cancelled", {"a": call(), "b": call("a"), "c": call("a"), "ask": {"type": "approval", "with": {"message": "?"}}}),
    (
        (0, [Begin({}, {}, {}, (HoldChanged(1, True, "ada", "not yet"),))]),
        (1_000, [HoldChanged(2, False, "ada", "now")]),
        (1_010, [Recovered()]),
        (1_020, [Continued(1)]),
        (1_030, [done("a", None)]),
        (1_040, [done("c", None)]),
        (2_000, [CancelRequested("ada", "a mistake")]),
    ),
    snapshot_after=5,
    bounds={4: {"capacity": 1}},
)

TIMED_OUT = GoldenRun(
    "timed-out",
    document(
        "timed-out",
        {
            "once": call(delivery="at_most_once"),
            "ask": {"type": "approval", "after": "once.error", "with": {"message": "?"}},
            "w": call(),
        },
        timeout="10s",
    ),
    ((0, [Begin()]), (100, [Recovered()]), (10_000, [Tick()])),
    snapshot_after=2,
)

RERUN = GoldenRun(
    "rerun",
    document("rerun", {"a": call(), "b": call("a"), "c": call("b")}),
    (
        (0, [Begin({"n": 1.5}, {"rerun": {"run": "r0", "node": "b"}}, {"a": {"output": {"kept": None}, "usage": TOKENS}})]),
        (10, [done("b", [True, False, None, -0.25, 10**30, ""])]),
    ),
    snapshot_after=1,
)  # fmt: skip

RACES = GoldenRun(
    "races",
    document(
        "races",
        {
            "s": call(),
            "quick": call("s"),
            "slow": call("s"),
            "doomed": call("slow"),
            "first": call(["quick", "doomed"], join={"mode": "any", "losers": "cancel"}),
            "left": {"type": "set", "after": "first", "with": {"variables": {"v": "left"}}},
            "right": {"type": "set", "after": "first", "with": {"variables": {"v": "right"}}},
            "both": call(["left", "right"]),
            "tardy": call("s"),
            "early": call(["both", "tardy"], join={"mode": "any"}),
            "halt": {"type": "end", "after": "early", "with": {"halt": True}},
            "more": call("early"),
        },
        variables={"v": "none"},
    ),
    (
        (0, [Begin([])]),
        (10, [done("s")]),
        (20, [done("quick", "q")]),
        (30, [done("first", "f")]),
        (40, [done("both", "b")]),
        (50, [done("tardy", "t")]),
        (60, [done("early", "e"), done("more", "m")]),
    ),
    snapshot_after=4,
)  # fmt: skip

LARGE = GoldenRun(
    "large",
    document(
        "large",
        {"a": call(), "b": call("a"), "w": {"type": "callback", "after": "b", "with": {"timeout": "1h"}}, "c": call("w")},
        variables={"kept": None},
    ),
    (
        (0, [Begin({"text": "i" * 33_000}, {}, {"nothing": {"output": "r" * 33_000}})]),
        (10, [done("a", "o" * 33_000, variables={"kept": "v" * 33_000}, respond={"status": 200, "body": "p" * 33_000})]),
        (20, [done("b", ["the same words again"] * 60)]),
        (30, [Answered("w", "source", {"answer": "a" * 33_000}, None)]),
        (40, [done("c", "\U0001f600 \u2028")]),
    ),
    snapshot_after=3,
)

TOO_LONG = GoldenRun(
    "too-long",
    document("too-long", {"a": call(), "b": call("a")}, max_steps=1),
    ((0, [Begin()]), (10, [done("a")])),
    snapshot_after=1,
)

LONG = GoldenRun(
    "long",
    document(
        "long",
        {
            "a": call(),
            "l": {
                "type": "loop", "after": "a",
                "with": {"times": 340, "body": {"nodes": {"t": {"type": "transform", "with": {"value": "<loop.index>"}}}}},
            },
            "z": call("l"),
        },
        variables={"v": 0},
    ),
    ((0, [Begin({})]), (10, [done("a", "A", usage=TOKENS, variables={"v": "x" * 2_000})]), (20, [done("z", "Z")])),
    snapshot_after=2,
)

OPEN = GoldenRun(
    "open",
    document("open", {
        "a": call(), "ask": {"type": "approval", "after": "a", "with": {"message": "Go on?"}}, "b": call("ask.approved"),
        "l": {"type": "loop", "after": "b", "with": {"times": 2, "body": {"nodes": {"x": call()}}}},
    }),
    ((0, [Begin({"n": 1})]), (10, [done("a", "A")])),
    snapshot_after=1,
)  # fmt: skip

TALK = GoldenRun(
    "talk",
    document(
        "talk",
        {
            "a": {"type": "manual"},
            "b": {"type": "receive", "after": "a", "with": {"message": "paid", "where": "<message.amount> > 1", "timeout": "1h"}},
            "c": {"type": "receive", "after": "b", "with": {"message": "note", "key": "further"}},
            "d": {"type": "receive", "after": "c", "with": {"message": "note", "timeout": "1m"}},
            "e": {"type": "transform", "after": "d.timeout", "with": {"value": "<c.data>"}},
        },
        key="<input.id>", messages={"paid": {}, "note": {}},
    ),
    [
        (0, [Begin({"id": "A-1"}), Received("early", "note", "first", None, None, START_MS)]),
        (10, [Received("small", "paid", {"amount": 1}, "A-1", "shop", START_MS + 10)]),
        (20, [Received("large", "paid", {"amount": 2}, "A-1", "shop", START_MS + 20)]),
        (61_000, [Tick()]),
    ],
    snapshot_after=3,
)  # fmt: skip
RUNS: tuple[GoldenRun, ...] = (
    CONTAINERS, PEOPLE, FAILURES, CANCELLED, TIMED_OUT, RERUN, RACES, LARGE, TOO_LONG, LONG, OPEN, TALK,
)  # fmt: skip
