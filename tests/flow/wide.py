"""Random programs that also call other workflows, ask people and services that may not answer in time, repeat failed attempts,
and take a model that its entry validates."""

from __future__ import annotations

from typing import Any

from program_steps import LOG, Odd, Order, inc
from programs import Gen
from pydantic import Field, field_validator

from stepless.flow import Answer, NodeError, callback, step, workflow

TRIES: dict[int, int] = {}
PLAIN = [False]  # whether the program runs as plain Python, where an attempt is not repeated
ATTEMPTS = 3
ANSWERS = ("approved", "rejected", "timeout")


class Checked(Order):
    tags: list[str] = Field(default_factory=lambda: ["new"])

    @field_validator("id")
    @classmethod
    def _upper(cls, value: str) -> str:
        return value.upper() or "NONE"


@workflow("programs-child")
async def child(n: int, text: str = "child") -> int:
    m = await inc(n)
    if m % 5 == 1:
        raise Odd(text)
    return m + len(text)


@step("programs.flaky")
async def flaky(n: int) -> int:
    """Fails for n % 4 attempts: the third is the last."""
    if PLAIN[0]:
        if n % 4 >= ATTEMPTS:
            raise ValueError("flaky")
        return n
    TRIES[n] = TRIES.get(n, 0) + 1
    done = TRIES[n] > n % 4
    if done or TRIES[n] == ATTEMPTS:
        TRIES[n] = 0
    if not done:
        raise ValueError("flaky")
    return n


@step("programs.once")
async def once(n: int) -> int:
    LOG.append(("once", n))
    if n % 7 == 2:
        raise Odd("once")
    return n + 1


def decision(message: str) -> str:
    """What a person or a service answers to a message."""
    return ANSWERS[sum(map(ord, message)) % 3]


def patience(message: str) -> str:
    """The timeout of a question: short where no answer comes."""
    return "20ms" if decision(message) == "timeout" else "10m"


def approved(message: str) -> Answer:
    chosen = decision(message)
    return Answer(decision=chosen, approved=chosen == "approved")


def called(message: str) -> Any:
    if decision(message) == "timeout":
        raise NodeError("no answer in time", code="wait_timeout")
    return {"said": decision(message)}


def answered(pause: Any) -> Any:
    """The same, for a pause of a run: (exit, fields), or None to leave it open."""
    chosen = decision(pause.details["message"])
    if chosen == "timeout":
        return None
    return (chosen, {}) if chosen in pause.exits else (pause.exits[0], {"said": chosen})


class Wide(Gen):
    """Writes such programs."""

    def simple(self, vs: list[str], loop: bool) -> list[str]:
        r, k = self.r, self.r.random()
        if self.inner or k > 0.3:
            return super().simple(vs, loop)
        target, name = r.choice([v for v in vs if v[0] == "v"]), self.fresh("u")
        if k < 0.09:
            return [f"{target} = await child({self.num(vs, 1)}{r.choice(['', ', ' + self.text(vs, 0)])})"]
        if k < 0.16:
            repeated = f"{{'attempts': {ATTEMPTS}, 'backoff_ms': 1, 'retry_on': ['execution', 'provider_error']}}"
            return [f"{target} = await flaky.with_(retry={repeated})({self.num(vs, 1)})"]
        if k < 0.20:
            return [f"{target} = await once.with_(delivery='at_most_once')({self.num(vs, 1)})"]
        if k < 0.26:
            test = r.choice([f"{name}.approved", f"{name}.decision == 'timeout'", f"not {name}.approved"])
            return [f"{name}m = f\"ok {{{self.num(vs, 0)}}}?\"", f"{name} = await approval({name}m, timeout=patience({name}m))",
                    f"if {test}:", f"    {target} = {self.num(vs, 1)}", f"words.append({name}.decision)"]
        return [f"{name}m = f\"call {{{self.num(vs, 0)}}}\"", f"{name} = await callback({name}m, timeout=patience({name}m))",
                f"words.append({name}['said'])"]

    def program(self) -> str:
        source = super().program()
        return source.replace("order: Order,", "order: Checked,") if self.r.random() < 0.4 else source


NAMES = {"Checked": Checked, "callback": callback, "child": child, "flaky": flaky, "once": once, "patience": patience}
