"""Random programs with awaits that Python may skip, in expressions and comprehensions, and with the names of asyncio."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Mapping
from typing import Any

import racing
from comparing import Program, flow_of
from racing import Racing

NAMES: Mapping[str, Any] = {**racing.NAMES, "asyncio": asyncio, "functools": functools}


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
        if k < 0.37:
            return r.choice([self.tasked, self.settled, self.dispatched, self.guarded, self.grown])(vs)
        if k < 0.39:
            return [f"await asyncio.sleep({r.choice(['0', '0.5', f'({self.num(vs, 0)}) % 7 * 1.31'])})"]
        return super().simple(vs, loop)

    def raced_branch(self, vs: list[str]) -> str:
        """Without a message whose model takes a node of its own: at one instant, a branch with fewer nodes is first."""
        chosen = super().raced_branch(vs)
        while "'checked'" in chosen:
            chosen = super().raced_branch(vs)
        return chosen

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

    def tasked(self, vs: list[str]) -> list[str]:
        """Tasks of a group, beside the workflow, or of which the first is waited for."""
        r, k, self.forks = self.r, self.r.random(), True
        one, other, target = self.fresh("t"), self.fresh("t"), r.choice([v for v in vs if v[0] == "v"])
        if k < 0.35:
            group = self.fresh("g")
            lines = [f"async with asyncio.TaskGroup() as {group}:", f"    {one} = {group}.create_task({self.call(vs)})",
                     f"    {other} = {group}.create_task({self.call(vs)})", f"{target} = {one}.result() + {other}.result()"]
            return lines if r.random() < 0.5 else [
                "try:", *(f"    {line}" for line in lines), f"except {r.choice(['ExceptionGroup', 'Exception', 'NodeError'])}:",
                f"    {target} += 1",
            ]
        if k < 0.65:
            return [f"{one} = asyncio.create_task({self.call(vs)})", f"{target} = await {self.call(vs)}",
                    f"{target} = {target} + await {one}"]
        done, pending = self.fresh("d"), self.fresh("p")
        waited = f"asyncio.wait([{self.call(vs)}, sleep({self.ms()})], return_when=asyncio.FIRST_COMPLETED)"
        return [f"{done}, {pending} = await {waited}", f"for {one} in {pending}:", f"    {one}.cancel()",
                f"words.append(str({done}.pop().result()))"]  # fmt: skip

    def guarded(self, vs: list[str]) -> list[str]:
        """Calls of which a semaphore lets some in at once."""
        self.forks = True
        r, gate, one = self.r, self.fresh("gate"), self.fresh("one")
        made = r.choice(["asyncio.Semaphore(2)", "asyncio.BoundedSemaphore(value=3)", "asyncio.Lock()", "asyncio.Semaphore(1)"])
        wait = r.choice([[], [f"        await sleep({self.ms()})"]])
        calls = r.choice([f"*[{one}(x) for x in xs]", f"{one}(v0), {one}(v1), {one}(2)", f"*({one}(x) for x in [4, 5, 3])"])
        kept = r.choice(["", "", ", return_exceptions=True"])
        return [f"{gate} = {made}", f"async def {one}(n):", f"    async with {gate}:", *wait,
                f"        return await {r.choice(['inc(n)', 'inc(n * 3)', 'mul(n)'])}",
                f"words.append(str(len(await asyncio.gather({calls}{kept}))))"]  # fmt: skip

    def grown(self, vs: list[str]) -> list[str]:
        """Calls in a list that grows, and that are gathered."""
        self.forks = True
        r, calls, one = self.r, self.fresh("calls"), self.fresh("i")
        first = r.choice([f"{calls} = []", f"{calls} = [inc({self.num(vs, 0)})]", f"{calls} = [inc({one}) for {one} in xs]"])
        task = r.choice([lambda call: call, lambda call: call, lambda call: f"asyncio.create_task({call})"])
        lines = [first, f"for {one} in {r.choice(['xs', '[4, 5, 3]'])}:", f"    if {one} > {r.choice(['3', 'v0'])}:",
                 f"        {calls}.append({task(f'inc({one} + v0)')})"]  # fmt: skip
        other = ["    else:", f"        {calls}.append({task(f'mul({one})')})"]
        lines += r.choice([[], other, [f"    {calls} += [{task(f'mul(v1, {one})')}]"]])
        lines += r.choice([[], [f"if len({calls}) > 2:", f"    {calls}.append({task('say(sv0)')})"]])
        return [*lines, f"words.append(str(await gather(*{calls}{r.choice(['', '', ', return_exceptions=True'])}))[:40])"]

    def settled(self, vs: list[str]) -> list[str]:
        """Failures among results."""
        self.forks = True
        got, one = self.fresh("k"), self.fresh("e")
        calls = self.r.choice([f"{self.call(vs)}, {self.call(vs)}", f"*[{self.call([*vs, 'i0'])} for i0 in ys[0:3]]"])
        kind = self.r.choice(["Exception", "Odd", "ValueError", "Third"])
        return [f"{got} = await gather({calls}, return_exceptions=True)", f"for {one} in {got}:",
                f"    words.append('failed' if isinstance({one}, {kind}) else 'other')"]

    def dispatched(self, vs: list[str]) -> list[str]:
        """Values that name functions."""
        r, got = self.r, self.fresh("h")
        target = r.choice([v for v in vs if v[0] == "v"])
        functions = r.sample(["inc", "mul", "doubled"], r.randint(1, 3))
        given = self.num(vs, 1)
        k = r.random()
        if k < 0.3:
            named = ", ".join(f"{name!r}: {one}" for name, one in zip(["a", "b", "Abc"], functions, strict=False))
            return [f"{got} = {{{named}}}", f"{target} = await {got}[{r.choice([repr('a'), 'order.id'])}]({given})"]
        if k < 0.5:
            one = self.fresh("f")
            return [f"for {one} in [{', '.join(functions)}]:", f"    {target} = await {one}({r.choice([given, target])})"]
        if k < 0.7:
            return [f"{target} = await ({functions[0]} if {self.test(vs, 1)} else {functions[-1]})({given})"]
        one, item = self.fresh("f"), self.fresh("i")
        bound = [f"functools.partial({name}, {self.num(vs, 0)})" for name in functions]
        return [f"{got} = []", f"for {item} in ys[0:2]:", f"    {got}.append(({r.choice(functions)}, {item}))",
                f"    {got}.append(({r.choice(functions)}, {self.num(vs, 0)}))", f"for {one}, {item} in reversed({got}):",
                f"    {target} = await {one}({item})", f"for {one}b in [{', '.join(bound)}]:",
                f"    {target} = await {one}b()"]  # fmt: skip

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
