"""Random programs that wait for messages and race: as plain Python on the virtual clock, and as documents on the pure core."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from comparing import Program, differ, flow_of, plainly
from programs import Gen, inputs
from pydantic import BaseModel
from simulating import begun, reached, simulated

from stepless.flow import Flow, FlowRefused, acting, race, receive, send, start, workflow

LOADED = ("log", "snapshot")
LONGEST_MS = 1_000_000  # of a sleep or a timeout: so long that no two end at one instant


class Paid(BaseModel):
    n: int
    text: str
    share: float


class Checked(BaseModel):
    """A model that says more than its schema."""

    n: int
    text: str = "none"
    message: str = ""


MESSAGES: Mapping[str, Any] = {"paid": Paid, "checked": Checked, "loose": {}, "gone": {"data": {"type": "object"}}}


@workflow("racing-other", messages=MESSAGES)
async def other(n: int, text: str = "", share: float = 0.0) -> int:
    return n


@workflow("racing-whole")
async def whole(paid: Paid) -> int:
    return paid.n


NAMES: Mapping[str, Any] = {
    "race": race, "receive": receive, "send": send, "start": start, "other": other, "whole": whole, "Paid": Paid,
}
ACTING: Mapping[str, Any] = {"send": reached, "start": begun}


class Racing(Gen):
    """Writes such programs. Parts wait and race too."""

    def simple(self, vs: list[str], loop: bool) -> list[str]:
        k = self.r.random()
        if k < 0.12:
            return self.received(vs)
        if k < 0.26:
            return self.raced(vs)
        if k < 0.30:
            return [f"await sleep({self.pause(vs)})"]
        if k < 0.40:
            got = self.fresh("p")
            call, is_run = self.passed_on(vs)
            return [f"{got} = await {call}", f"words.append({got}{'' if is_run else '[0]'})"]
        return super().simple(vs, loop)

    def ms(self) -> str:
        return f"'{self.r.randint(1, LONGEST_MS)}ms'"

    def pause(self, vs: list[str]) -> str:
        computed = f"({self.num(vs, 0)}) % 30 * 7.91 + 1 / 3"
        return self.r.choice([self.ms(), self.ms(), str(self.r.randint(1, LONGEST_MS) / 1000), computed])

    def message(self, vs: list[str], *, timeout: bool) -> tuple[str, str]:
        """A call of `receive`, and the name of its message."""
        r, name = self.r, self.r.choice([*MESSAGES])
        given = [f"'{name}'"]
        if r.random() < 0.5:
            known = ["==", "!="] if name == "paid" else []
            tests = [f"m.n {r.choice(['>', '<=', *known])} {self.num(vs, 0)}", f"m.n > 3 and {self.test(vs, 0)}", "m.n % 2"]
            tests += ["len(m.text) > 1", "m.text.startswith('a') or m.n == 4", "m.share > 2.5"] if name == "paid" else []
            tests += ["m.n > 2 and m.message"] if name == "loose" else []
            given.append(f"where=lambda m: {r.choice(tests)}")
        if r.random() < 0.15:
            given.append(f"key={r.choice([repr('k'), 'order.id', 'v0'])}")
        if timeout or r.random() < 0.5:
            given.append(f"timeout={self.ms()}")
        return f"receive({', '.join(given)})", name

    def received(self, vs: list[str]) -> list[str]:
        call, name = self.message(vs, timeout=True)
        got, r = self.fresh("q"), self.r
        return [f"{got} = await {call}", f"words.append(f\"{{{got}.n}}\")", *self.read(got, name),
                *([f"await say(str({got}.n))"] if r.random() < 0.3 else [])]

    def read(self, got: str, name: str) -> list[str]:
        texts = {"paid": [f"{got}.share", f"{got}.text"], "checked": [f"{got}.text", f"{got}.message"],
                 "loose": [f"{got}.message.name"], "gone": [f"{got}.message.at", f"{got}.message.key"]}[name]
        return [f"words.append(f\"{{{self.r.choice(texts)}}}\")"] if self.r.random() < 0.6 else []

    def raced(self, vs: list[str]) -> list[str]:
        r, got = self.r, self.fresh("r")
        branches = [self.raced_branch(vs) for _ in range(r.randint(1, 3))]
        if r.random() < 0.5:  # a part may complete at once: then the one with fewer nodes is first
            branches.append(f"inc({self.num(vs, 1)})")
        elif self.parts and not self.inner and r.random() < 0.5:
            branches = [one for one in branches if one.startswith("sleep")]
            branches.append(f"{r.choice(self.parts)}({self.num(vs, 1)}, {self.text(vs, 0)})")
        if any("receive(" in one and "timeout" not in one for one in branches):  # else it may wait for ever
            branches.append(f"sleep({self.ms()})")
        r.shuffle(branches)
        named = ", ".join(f"b{place}={one}" for place, one in enumerate(branches))
        out = [f"{got} = await race({named})", f"words.append({got}.name)"]
        target = r.choice([v for v in vs if v[0] == "v"])
        return [*out, f"if {got}.name == 'b0':", f"    {target} += 1",
                *([f"obj['won'] = {got}.value if {got}.name == 'b1' else None"] if r.random() < 0.3 else [])]

    def passed_on(self, vs: list[str]) -> tuple[str, bool]:
        """A call of `send` or `start`, and whether its value is the id of a run."""
        r = self.r
        key = r.choice(["'k'", "order.id", "a", f"f\"{{v0}}-{{v1}}\"", "words[0]"])
        if r.random() < 0.5:
            if r.random() < 0.3:
                return f"send('gone', {{'n': {self.num(vs, 1)}}}, to=f\"run {{{self.num(vs, 0)}}}\")", False
            more = r.choice(["", "", ", keep='1h'", f", start=True, inputs=[{self.num(vs, 0)}]"])
            data = r.choice([f"{{'n': {self.num(vs, 1)}, 'text': {self.text(vs, 0)}}}", "ys", self.num(vs, 1), "order"])
            return f"send('{r.choice(['loose', 'checked']) if data[0] == '{' else 'loose'}', {data}, workflow=other, key={key}{more})", False
        more = r.choice(["", "", f", key={key}"]) + r.choice(["", "", ", delay='5m'", ", at=9"])
        inputs = r.choice([
            f"other, {self.num(vs, 1)}", f"other, {self.num(vs, 0)}, share=order.amount", f"other, text={self.text(vs, 0)}, n=a",
            f"whole, Paid(n={self.num(vs, 0)}, text={self.text(vs, 0)}, share=1.5)", f"'racing-other', n={self.num(vs, 1)}",
            f"'racing-other', [{self.num(vs, 0)}, order.id]",
        ])
        return f"start({inputs}{more})", True

    def raced_branch(self, vs: list[str]) -> str:
        k = self.r.random()
        if k < 0.1:
            return self.passed_on(vs)[0]
        return self.message(vs, timeout=False)[0] if k < 0.6 else f"sleep({self.pause(vs)})"


def sent(seed: object, number: int) -> Sequence[Mapping[str, Any]]:
    """The messages of one run of a program."""
    r = random.Random(f"{seed}/{number}/sent")
    found = []
    for _ in range(r.randint(0, 9)):
        name = r.choice([*MESSAGES])
        data: dict[str, Any] = {"n": r.randint(-2, 9)}
        if name == "paid":
            data |= {"text": r.choice(["", "a", "abc"]), "share": r.choice([1, 2.5, 3])}
        elif name != "gone" and r.random() < 0.5:
            data |= {"text": "given"} if r.random() < 0.5 else {"message": r.choice(["own", ""])}
        found.append({"name": name, "data": data, "at": r.randint(1, r.choice([9, 4 * LONGEST_MS]))})
    return found


def racing_program(seed: object) -> Program:
    gen = Racing(seed)
    source = gen.program()
    flow = flow_of(source, f"racing_{seed}", "function", names=NAMES, options={"messages": MESSAGES})
    return Program(seed, source, flow, gen.forks or "race(" in source)


def compare_racing(program: Program, times: int = 3) -> str:
    """Runs a program with several inputs and messages. The first difference, with all that it takes to see it again."""
    return compare_sent(program.flow, ((inputs(program.seed, n), sent(program.seed, n)) for n in range(times)), program.forks)


def compare_sent(
    flow: Flow[..., Any], given: Iterable[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]], forks: bool = True
) -> str:
    """`compare_racing` for inputs and messages that are given."""
    document = flow.compile().document
    for values, messages in given:
        with acting(messages=messages, **ACTING):
            plain, effects = plainly(flow, values)
        for reload in LOADED:
            outcome, others = simulated(document, values, reload, messages)
            if found := differ(plain, outcome, effects, others, forks=forks):
                return f"inputs {values}\nmessages {messages}\nreload {reload}\n{found}\neffects {effects}\n     vs {others}"
    return ""


def compare_seeds(made: Callable[[int], Program], seeds: Iterable[int], refusals: Collection[str]) -> tuple[list[str], int]:
    """Compares random programs: the differences, and how many of the programs were not refused. Fails for another refusal."""
    different, ran = [], 0
    for seed in seeds:
        try:
            found = compare_racing(made(seed), 2)
            ran += 1
        except FlowRefused as refused:
            assert {one.code for one in refused.findings} <= {*refusals}, seed
            continue
        different += [f"seed {seed}: {found}"] if found else []
    return different, ran
