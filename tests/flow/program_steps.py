"""What random programs call: steps that fail for some arguments, helpers, a model. Each call of a step is noted in LOG."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from stepless.flow import Answer, NodeError, approval, gather, now, part, sleep, step

LOG: list[tuple[Any, ...]] = []
LIMIT = 7
__all__ = ["Answer", "approval", "gather", "now", "part", "sleep"]


class Odd(NodeError): ...


class Third(Odd): ...


class Line(BaseModel):
    sku: str
    qty: int
    price: float = 1.5


class Order(BaseModel):
    id: str
    amount: float
    vip: bool = False
    note: str | None = None
    lines: list[Line] = []

    def total(self) -> int:
        return sum(line.qty for line in self.lines)


@step("programs.inc")
async def inc(n: int) -> int:
    LOG.append(("inc", n))
    if n % 11 == 3:
        raise Third("third") if n % 2 else Odd("odd")
    return n % 97 + 1


@step("programs.mul")
async def mul(n: int, m: int = 2) -> int:
    LOG.append(("mul", n, m))
    if (n + m) % 9 == 4:
        raise ValueError("nine")
    return (n * m) % 101


@step("programs.say")
def say(text: str) -> str:
    LOG.append(("say", text))
    if len(text) % 13 == 12:
        raise KeyError(text[:3])
    return (text * 2)[:9]


@step("programs.pack")
async def pack(items: list[int], name: str) -> dict[str, int]:
    LOG.append(("pack", list(items), name))
    return {name[:2]: len(items), "n": sum(items) % 50}


@step("programs.line")
async def line_of(sku: str, qty: int) -> Line:
    LOG.append(("line", sku, qty))
    if qty % 7 == 6:
        raise Odd("no line")
    return Line(sku=sku[:5], qty=qty % 20, price=qty)


@step("programs.share")
async def share(n: int) -> float:
    """A whole number, or one with a fraction: both are a `float` to a type checker."""
    LOG.append(("share", n))
    return n if n % 3 else n / 2


@step("programs.shares")
async def shares(n: int) -> list[float]:
    LOG.append(("shares", n))
    return [n, n / 4]


@step("programs.exact")
async def exact(x: float, xs: list[float] = []) -> str:  # noqa: B006  # never changed
    return f"{x} {xs}"


@step("programs.raw")
async def raw(n: int):  # type: ignore[no-untyped-def]  # nothing is known of what it returns
    LOG.append(("raw", n))
    return [{"a": n % 5, "b": [n, None]}, True, None, n, str(n), 1.0][n % 6]


@step("programs.untyped")
async def untyped(x):  # type: ignore[no-untyped-def]  # nothing is known of what it is given
    return f"{x}"


@part
async def doubled(n: int) -> int:
    """Of a file that most of its callers are not in."""
    first = await mul(n)
    return await mul(first, 3)


def helper(n: int, text: str) -> int:
    if n % 8 == 5:
        raise ZeroDivisionError("helper")
    if n % 8 == 6:
        raise Odd("helped")
    return n + len(text)
