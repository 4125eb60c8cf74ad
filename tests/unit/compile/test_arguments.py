"""The arguments of a registered function, checked against its signature before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge
from pydantic import BaseModel, ConfigDict, Field, model_validator

from stepless.compile import check_document
from stepless.model.findings import Finding, Severity
from stepless.nodes import KINDS
from stepless.nodes.function import FunctionCall, function, replacing_registrations, signatures


class Item(BaseModel):
    model_config = ConfigDict(extra="forbid")
    sku: str
    count: int = 1


class Card(BaseModel):
    last4: str


class Cash(BaseModel):
    received: float


class Span(BaseModel):
    first: int
    last: int

    @model_validator(mode="after")
    def _ordered(self) -> Span:
        if self.first > self.last:
            raise ValueError("first comes after last")
        return self


def refund(order_id: str, amount: float, note: str = "", *, call: FunctionCall) -> None: ...
def charge(item: Item, by: Card | Cash, count: Annotated[int, Ge(1)] = 1, speed: Literal["slow", "fast"] = "slow") -> None: ...
def loose(anything: Any, several: int | str | None = None, **more: Any) -> None: ...
def spans(spans: list[Span], sizes: dict[str, int] | None = None) -> None: ...
def nothing() -> None: ...
def by_place(a: int, /) -> None: ...
def noted(at: Annotated[str | None, Field(max_length=3)] = None) -> None: ...


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    with replacing_registrations([]):
        for name, callable in {"refund": refund, "charge": charge, "loose": loose, "spans": spans, "nothing": nothing,
                               "by_place": by_place, "noted": noted}.items():
            function(name)(callable)
        yield


def judged(call: str, args: Any = None) -> tuple[Finding, ...]:
    settings = {"call": call} if args is None else {"call": call, "args": args}
    nodes = {"start": {"type": "manual"}, "x": {"type": "function", "after": "start", "with": settings}}
    return check_document({"id": "d", "nodes": nodes}, KINDS, functions=signatures())


def told(call: str, args: Any = None) -> list[tuple[str, str, str]]:
    return [(finding.path.removeprefix("nodes.x.with."), finding.message, finding.mend) for finding in judged(call, args)]


@pytest.mark.parametrize(("call", "args"), [
    ("refund", {"order_id": "o", "amount": 3}),
    ("refund", {"order_id": "<start.id>", "amount": "<start.amount>", "note": "for <start.name>"}),
    ("refund", {"order_id": "o", "amount": "12.50"}),  # a call takes it too
    ("refund", "<start>"),
    ("charge", {"item": {"sku": "a"}, "by": {"last4": "1234"}, "speed": "fast"}),
    ("charge", {"item": "<start.item>", "by": "<start.by>", "speed": "<start.speed>", "count": "{{ <start.n> + 1 }}"}),
    ("charge", {"item": {"sku": "<start.sku>", "count": "<start.count>"}, "by": {"last4": "<start.card>"}}),
    ("charge", {"item": {"sku": "a"}, "by": {"received": "<start.sum>"}}),
    ("loose", {"anything": None, "several": "x", "other": [1]}),
    ("spans", {"spans": [{"first": 1, "last": 2}, "<start>"], "sizes": {"a": 1, "b": "<start.b>"}}),
    ("spans", {"spans": [{"first": 3, "last": "<start.last>"}]}),
    ("nothing", None),
    ("nothing", {}),
    ("noted", {"at": None}),
])  # fmt: skip
def test_arguments_that_fit_or_may_fit_are_no_finding(call: str, args: Any) -> None:
    assert told(call, args) == []


REFUND = "It takes `order_id`, `amount`, `note`; `note` may be left out."


@pytest.mark.parametrize(("call", "args", "expected"), [
    ("refund", {"order_id": "o"}, [("args", "`refund` needs `amount`, which is not given", f"Add `amount`. {REFUND}")]),
    ("refund", None, [("args", "`refund` needs `order_id`, which is not given", f"Add `order_id`. {REFUND}"),
                      ("args", "`refund` needs `amount`, which is not given", f"Add `amount`. {REFUND}")]),
    ("refund", {"order_id": "o", "amount": 1, "notes": "x"},
     [("args.notes", "`refund` has no parameter `notes`", f"Did you mean `note`? {REFUND}")]),
    ("refund", {"order_id": "o", "amount": 1, "colour": "x"},
     [("args.colour", "`refund` has no parameter `colour`", REFUND)]),
    ("refund", {"order_id": "o", "amount": 1, "call": {}},
     [("args.call", "`call` of `refund` is filled in by the engine", "Leave it out.")]),
    ("refund", {"order_id": 17, "amount": 1},
     [("args.order_id", "`order_id` of `refund` should be text, not 17", 'Put it in quotes: `"17"`.')]),
    ("refund", {"order_id": "o", "amount": "much"},
     [("args.amount", "`amount` of `refund` should be a number, not `much`", "Give a number.")]),
    ("charge", {"item": {"sku": "a", "count": "two", "color": 1}, "by": {"last4": "1"}},
     [("args.item.count", "`item.count` of `charge` should be an integer, not `two`", "Give an integer."),
      ("args.item.color", "`item.color` of `charge` is not known here", "Leave it out.")]),
    ("charge", {"item": {"sku": "<start.sku>", "count": "two"}, "by": {"last4": "1"}},
     [("args.item.count", "`item.count` of `charge` should be an integer, not `two`", "Give an integer.")]),
    ("charge", {"item": {"sku": "a"}, "by": 3},
     [("args.by", "`by` of `charge` should be an object, not 3", "Give an object.")]),
    ("charge", {"item": {"sku": "a"}, "by": {"last4": "1"}, "count": 0},
     [("args.count", "`count` of `charge` should be greater than or equal to 1, not 0", "Give 1 or more.")]),
    ("charge", {"item": {"sku": "a"}, "by": {"last4": "1"}, "speed": "fats"},
     [("args.speed", "`speed` of `charge` should be 'slow' or 'fast', not `fats`", "Write 'slow' or 'fast'.")]),
    ("charge", {"item": {"sku": "a"}, "by": {"scheme": "<start.x>"}},
     [("args.by.last4", "`by.last4` of `charge` is missing", "Add it.")]),
    ("charge", {"item": {"sku": "<start.sku>", "colour": "<start.c>"}, "by": {"received": "much", "at": "<start.at>"}},
     [("args.item.colour", "`item.colour` of `charge` is not known here", "Leave it out."),
      ("args.by.received", "`by.received` of `charge` should be a number, not `much`", "Give a number.")]),
    ("loose", {"anything": 1, "several": ["<start.n>"]},
     [("args.several", "`several` of `loose` should be an integer or text, not a list", "Give an integer or text.")]),
    ("loose", {"anything": 1, "several": [1]},
     [("args.several", "`several` of `loose` should be an integer or text, not a list", "Give an integer or text.")]),
    ("spans", {"spans": [{"first": 3, "last": 2}]},
     [("args.spans.0", "`spans.0` of `spans` does not fit: first comes after last", "See the type hint of `spans`.")]),
    ("spans", {"spans": ["<start>", 7], "sizes": {"a": "many"}},
     [("args.spans.1", "`spans.1` of `spans` should be an object, not 7", "Give an object."),
      ("args.sizes.a", "`sizes.a` of `spans` should be an integer, not `many`", "Give an integer.")]),
    ("nothing", {"a": 1}, [("args.a", "`nothing` has no parameter `a`", "It takes no arguments.")]),
])  # fmt: skip
def test_what_does_not_fit_is_told_with_the_parameters(call: str, args: Any, expected: list[tuple[str, str, str]]) -> None:
    assert told(call, args) == expected
    assert {(finding.code, finding.node, finding.severity) for finding in judged(call, args)} == {
        ("invalid_arguments", "x", Severity.ERROR)
    }


def test_a_function_that_no_node_can_call_is_a_finding_of_its_own() -> None:
    (finding,) = judged("by_place", {"a": 1})
    assert (finding.code, finding.path) == ("invalid_function", "nodes.x.with.call")
    assert "`a` cannot be passed by name" in finding.message
    assert finding.mend == "Remove the `/`, or wrap it."


def test_names_alone_say_nothing_of_arguments() -> None:
    nodes: Mapping[str, Any] = {"x": {"type": "function", "with": {"call": "refund", "args": {"no": 1}}}}
    assert check_document({"id": "d", "nodes": nodes}, KINDS, functions=["refund"]) == ()
