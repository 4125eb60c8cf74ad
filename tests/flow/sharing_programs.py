"""Random programs in which one list has several names, or several lists hold one: what changes under one name shows under another.
Each is compiled exactly, or refused."""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from comparing import Program, flow_of
from program_steps import LOG

from stepless.flow import step

NAMES = ("xs", "ys", "zs")
_HEAD = ["    xs = [a, 1]", "    ys = [b]", "    zs = [a]", "    rows = [[a], [b]]", "    more = [[0]]", "    box = {'p': [a], 'q': [b]}",
         "    row = [a]", "    kept = []", "    got = 0"]


@step("programs.pair")
async def pair(values: list[int]) -> list[int]:
    LOG.append(("pair", list(values)))
    return [*values[:2], 1]


def same(value: Any) -> Any:
    return value


def first(values: list[list[int]]) -> list[int]:
    return values[0] if values else []


def link(values: list[Any], one: Any) -> None:
    values.append(one)


USED: Mapping[str, Any] = {"same": same, "first": first, "link": link, "pair": pair, "suppress": suppress}


class Sharings:
    """Writes such a program."""

    def __init__(self, seed: object) -> None:
        self.r = random.Random(f"sharing {seed}")
        self.count = 0

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def flat(self) -> str:
        return self.r.choice([*NAMES, "row"])

    def nested(self) -> str:
        return self.r.choice(["rows", "more", "kept"])

    def value(self) -> str:
        """A list of numbers, which may have other names."""
        r = self.r
        return r.choice([self.flat(), self.flat(), f"list({self.flat()})", f"{self.flat()}[:]", "[1, 2]", f"same({self.flat()})", "first(rows)",
                         f"box[{r.choice(['chr(112)', repr('p'), repr('q')])}]", "(xs if got else ys)", "rows[-1]", "[v for v in xs]", "xs + ys",
                         "box.get('p', xs)", "await pair(xs)"])  # fmt: skip

    def values(self) -> str:
        """A list of lists."""
        one, other = self.flat(), self.flat()
        return self.r.choice([f"[{one}, {other}]", f"[{one}]", "list(rows)", "rows[:]", "[list(v) for v in rows]", "[v for v in rows]", f"[{one}] * 2",
                              "rows", "more", f"[{one} for _ in range(2)]", "rows + more", "[[0] for _ in range(2)]", "[*rows, row]"])  # fmt: skip

    def changed(self) -> str:
        """A statement that changes something in place."""
        r, flat, nested = self.r, self.flat(), self.nested()
        return r.choice([
            f"{flat}.append({r.randint(2, 9)})", f"{flat} += [{r.randint(2, 9)}]", f"{flat}[0:1] = [7]", f"{flat}.extend({self.flat()})", f"{flat}.sort()",
            f"{nested}.append({self.flat()})", f"{nested}.append([{r.randint(2, 9)}])", f"first({nested}).append(5)", f"box['p'] = {self.flat()}",
            "box['p'].append(6)", "box['q'] += [8]", f"link({nested}, {self.flat()})", f"link({flat}, 4)", f"{nested}[0:1] = [{self.flat()}]",
            f"{nested} += [{self.flat()}]", f"box.setdefault('r', {self.flat()}).append(2)", f"box.update(p={self.flat()})", f"{flat}.insert(0, 3)",
            f"same({flat}).append(9)", f"{nested}.extend({self.nested()})",
        ])  # fmt: skip

    def simple(self) -> str:
        r, k = self.r, self.r.random()
        if k < 0.35:
            return self.changed()
        if k < 0.55:
            return f"{self.flat()} = {self.value()}"
        if k < 0.7:
            return f"{self.nested()} = {self.values()}"
        if k < 0.85:
            return "got = await inc(len(xs) + 5)"
        return r.choice([f"{self.flat()}, {self.flat()} = {self.flat()}, {self.value()}", "box = {'p': xs, 'q': list(ys)}", "box = {**box}", "box = dict(box)",
                         f"got = await mul(sum({self.flat()}) % 9 + 2)", f"got += len(str({self.nested()}))"])  # fmt: skip

    def block(self, depth: int, pad: str, loop: bool = False) -> list[str]:
        return [line for _ in range(self.r.randint(1, 3)) for line in self.statement(depth, pad, loop)]

    def statement(self, depth: int, pad: str, loop: bool) -> list[str]:
        r, k, inner = self.r, self.r.random(), pad + "    "
        if depth <= 0 or k < 0.6:
            return [f"{pad}{r.choice(['break', 'continue'])}"] if loop and k < 0.04 else [f"{pad}{self.simple()}"]
        if k < 0.7:
            rest = [f"{pad}else:", *self.block(depth - 1, inner, loop)] if r.random() < 0.5 else []
            return [f"{pad}if {r.choice(['got > 6', 'len(xs) > 2', 'a > b', 'rows'])}:", *self.block(depth - 1, inner, loop), *rest]
        if k < 0.85:
            one = self.fresh("v")
            over = r.choice([("range(2)", []), ("list(rows)", [f"{inner}{one}.append(1)"]), ("rows[:2]", [f"{inner}kept.append({one})"]),
                             ("[1, 2]", [f"{inner}xs.append({one})"]), ("range(3)", [f"{inner}row = [{one}]", f"{inner}kept.append(row)"]),
                             ("rows[:2]", [f"{inner}xs = {one}"]), ("list(box.values())", [f"{inner}{one} += [1]"])])
            return [f"{pad}for {one} in {over[0]}:", *over[1], *self.block(depth - 1, inner, True), f"{inner}got = await mul(6)"]
        if k < 0.93:
            caught = [f"{pad}except NodeError:", *self.block(depth - 1, inner, loop)] if r.random() < 0.6 else []
            last = [f"{pad}finally:", *self.block(depth - 1, inner)] if r.random() < 0.5 or not caught else []
            left = [f"{inner}{r.choice(['return xs', 'got = await inc(len(ys))', 'return [rows, got]'])}"] if r.random() < 0.4 else []
            return [f"{pad}try:", *self.block(depth - 1, inner, loop), *left, *caught, *last]
        return [f"{pad}with suppress(ValueError):", f"{inner}{self.changed()}", f"{inner}{self.flat()} = {self.flat()}", f"{inner}{self.changed()}"]

    def program(self) -> str:
        body = self.block(2, "    ") + self.block(2, "    ") + self.block(2, "    ") + self.block(1, "    ")
        left = sorted(self.r.sample([*NAMES, "rows", "more", "box", "row", "kept"], self.r.randint(2, 6)))
        return "\n".join(["async def program(a: int, b: int, xs: list[int], order: Order, sa: str, u: Any):", *_HEAD, *body, f"    return [got, {', '.join(left)}]"]) + "\n"


def sharing_program(seed: object) -> Program:
    source = Sharings(seed).program()
    return Program(seed, source, flow_of(source, f"sharing_{seed}", names=USED), False)
