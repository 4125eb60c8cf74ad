"""Event patterns: each matcher, what it matches and what not, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.model.triggers.event_pattern import faults, matches

EVENT = {
    "source": "shop.orders", "detail-type": "Order Placed", "resources": ["arn:a", "arn:b"],
    "detail": {"total": 25, "state": "NEW", "file": "in/2026/a.csv", "items": [{"sku": "x"}, {"sku": "y"}], "gone": None},
}  # fmt: skip


@pytest.mark.parametrize(("pattern", "fits"), [
    ({"source": ["shop.orders"]}, True),
    ({"source": ["shop.other", "shop.orders"]}, True),
    ({"source": ["shop.other"]}, False),
    ({"account": ["1"]}, False),
    ({"resources": ["arn:b"]}, True),
    ({"detail": {"total": [25], "state": ["NEW"]}}, True),
    ({"detail": {"total": ["25"]}}, False),
    ({"detail": {"gone": [None]}}, True),
    ({"detail": {"missing": [None]}}, False),
    ({"detail": {"items": {"sku": ["y"]}}}, True),
    ({"source": [{"prefix": "shop."}]}, True),
    ({"source": [{"suffix": ".orders"}]}, True),
    ({"source": [{"equals-ignore-case": "SHOP.Orders"}]}, True),
    ({"detail": {"file": [{"wildcard": "in/*/*.csv"}]}}, True),
    ({"detail": {"file": [{"wildcard": "in/*csv/*.csv"}]}}, False),
    ({"detail": {"file": [{"wildcard": "in/2026/a.csv"}]}}, True),
    ({"detail": {"state": [{"anything-but": "OLD"}]}}, True),
    ({"detail": {"state": [{"anything-but": ["OLD", "NEW"]}]}}, False),
    ({"detail": {"state": [{"anything-but": {"prefix": "N"}}]}}, False),
    ({"detail": {"missing": [{"anything-but": "OLD"}]}}, False),
    ({"detail": {"total": [{"numeric": [">", 20, "<=", 25]}]}}, True),
    ({"detail": {"total": [{"numeric": ["<", 25]}]}}, False),
    ({"detail": {"state": [{"numeric": ["=", 1]}]}}, False),
    ({"detail": {"state": [{"exists": True}], "missing": [{"exists": False}]}}, True),
    ({"detail": {"state": [{"exists": False}]}}, False),
    ({"$or": [{"source": ["none"]}, {"detail": {"total": [25]}}]}, True),
    ({"source": ["shop.orders"], "$or": [{"source": ["none"]}, {"detail": {"total": [1]}}]}, False),
])
def test_what_fits_a_pattern(pattern: dict[str, Any], fits: bool) -> None:
    assert list(faults(pattern)) == []
    assert matches(pattern, EVENT) is fits


@pytest.mark.parametrize(("pattern", "path"), [
    ({"source": "shop"}, "source"), ({"source": []}, "source"), ({"detail": {}}, "detail"), ({"a": [["x"]]}, "a.0"),
    ({"a": [{"prefix": "x", "suffix": "y"}]}, "a.0"), ({"a": [{"cidr": "10.0.0.0/8"}]}, "a.0"), ({"a": [{"prefix": 1}]}, "a.0"),
    ({"a": [{"numeric": ["!", 1]}]}, "a.0"), ({"a": [{"exists": "yes"}]}, "a.0"), ({"$or": [["x"]]}, "$or.0"),
])
def test_what_is_not_of_the_language_is_refused_with_its_place(pattern: dict[str, Any], path: str) -> None:
    assert path in [where for where, _ in faults(pattern)]


def test_a_pattern_has_a_bound() -> None:
    assert list(faults({f"f{n}": {"x": ["a"]} for n in range(600)}))
