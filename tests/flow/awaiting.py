"""Random programs with awaits that Python may skip, in expressions and comprehensions, and with the names of asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import racing
from comparing import Program, flow_of
from racing import Racing

NAMES: Mapping[str, Any] = {**racing.NAMES, "asyncio": asyncio}


class Awaiting(Racing):
    """Writes such programs."""

    def simple(self, vs: list[str], loop: bool) -> list[str]:
        r, k = self.r, self.r.random()
        target = r.choice([v for v in vs if v[0] == "v"])
        if k < 0.12:
            return [f"{target} = {self.awaited(vs)}"]
        if k < 0.16:
            return [f"ys = {self.collected(vs)}"]
        if k < 0.20:
            return [r.choice([f"{self.test(vs, 1)} {r.choice(['and', 'or'])} await {self.call(vs)}", self.awaited(vs)])]
        if k < 0.23:
            return [f"words.append(f\"{{{self.quoted(vs)}}} {{await inc({self.num(vs, 0)})}}\")"]
        if k < 0.28 and not self.inner:
            return self.limited(vs, loop)
        if k < 0.31:
            self.forks = True
            one, other = self.fresh("t"), self.fresh("t")
            vs += [one, other]
            return [f"{one}, {other} = await asyncio.gather({self.call(vs[:-2])}, {self.call(vs[:-2])})"]
        if k < 0.33:
            return [f"await asyncio.sleep({r.choice(['0', '0.5', f'({self.num(vs, 0)}) % 7 * 1.31'])})"]
        return super().simple(vs, loop)

    def awaited(self, vs: list[str]) -> str:
        """A whole number with an await in it that may be skipped."""
        return f"int({self.skipped(vs, 2)})"

    def skipped(self, vs: list[str], d: int) -> str:
        r, k = self.r, self.r.random()
        call = f"await {self.call(vs)}"
        if d and k < 0.2:
            return f"({self.skipped(vs, d - 1)} {r.choice(['and', 'or'])} {self.skipped(vs, d - 1)})"
        if d and k < 0.35:
            return f"({self.skipped(vs, d - 1)} if {r.choice([self.test(vs, 0), self.skipped(vs, 0)])} else {self.num(vs, 1)})"
        if k < 0.5:
            return f"({self.num(vs, 0)} {r.choice(['<', '<=', '!='])} {r.choice([self.num(vs, 0), call])} < {call})"
        if k < 0.7:
            return f"({call} if {self.test(vs, 1)} else {r.choice([call, self.num(vs, 1)])})"
        return f"({self.test(vs, 1)} {r.choice(['and', 'or'])} {call})"

    def quoted(self, vs: list[str]) -> str:
        """One that can stand in double quotes."""
        return f"await inc({self.num(vs, 0)}) if v0 > 3 else 'none'"

    def collected(self, vs: list[str]) -> str:
        r, x = self.r, self.r.choice(["x", "x", "v0"])
        over = r.choice(["ys[0:3]", "xs", "[4, 5, 6]", "range(3)"])
        number = r.choice([f"await inc({x})", f"await inc({x}) + {x}", f"(await mul({x})) % 7", x])
        test = r.choice([f" if await inc({x} + 4) > 5", f" if {x} % 2 and await inc({x})", f" if {x} > 1", ""])
        more = r.choice(["", "", f" for y in [{x}, await inc({x})] if y != 3"])
        return f"[{number} for {x} in {over}{test}{more}]"

    def limited(self, vs: list[str], loop: bool) -> list[str]:
        """A time limit, which may be over."""
        r, got, late = self.r, self.fresh("z"), self.fresh("l")
        limit = r.randint(1, racing.LONGEST_MS) / 1000
        if r.random() < 0.5:
            what = r.choice([self.call(vs), f"sleep({self.ms()})", f"sleep({self.ms()})"])
            body = [f"    {got} = await asyncio.wait_for({what}, {limit})"]
        else:
            body = [f"    async with asyncio.timeout({limit}):", f"        {got} = await {self.call(vs)}",
                    f"        await sleep({self.ms()})", f"        {late} = await {self.call(vs)}"]
            body += [f"        {r.choice(['continue', 'break', 'pass'])}"] if loop else []
        handler = r.choice(["TimeoutError", "NodeError", "Exception", "(TimeoutError)"])
        target = r.choice([v for v in vs if v[0] == "v"])
        return ["try:", *body, f"except {handler}:", f"    {target} += 1"]


def awaiting_program(seed: object) -> Program:
    gen = Awaiting(seed)
    source = gen.program()
    flow = flow_of(source, f"awaiting_{seed}", "function", names=NAMES, options={"messages": racing.MESSAGES})
    return Program(seed, source, flow, gen.forks or "race(" in source)
