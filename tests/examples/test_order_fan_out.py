from __future__ import annotations

from typing import Any


def test_fifty_lines_are_reserved_at_once_and_come_back_in_their_order(example: Any) -> None:
    stock, run = example("order-fan-out", "stock")
    lines = [{"sku": f"s{n}", "quantity": 900 if n in (7, 31) else n} for n in range(50)]
    result = run({"id": "A-1", "lines": lines})
    assert (result.status, stock.busiest) == ("completed", 50)
    summary = result.outputs["summary"]
    assert (summary["order"], summary["missing"]) == ("A-1", [7, 31])
    assert summary["reserved"] == [f"line@reserve[{n}]" for n in range(50) if n not in (7, 31)]
