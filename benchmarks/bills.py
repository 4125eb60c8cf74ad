"""The bills of the workloads, as tables of docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.sample import Sample

TITLES: Mapping[str, str] = {
    "chain of 10": "ten nodes, one after the other",
    "fan-out of 50": "fifty nodes at once, and a join",
    "approval": "an approval, answered after two days, and a node",
    "approval and wait": "an approval, answered after two days, and a wait of an hour",
    "approval, wait and node": "the same, and a node behind the wait",
}
NOTE = """Made by `make cost` too, which needs no quiet machine: counts do not spread. Every node answers 0.5 KB. Requests are
counted at the clients of emulated services, as the API and the runner send them when they are functions; the emulator of the
table tells units as AWS documents them. Lambda's time is this machine's against the emulators, at 512 MB: it
stands for the size of that line, not for its last digit. The second figure of write units is what `stepless runs cost`
estimates for the same run in a local file, from its log alone.

Step Functions Standard bills each transition: one for the start, one per attempt of a node, pure ones included. Lambda durable
functions bill each durable operation: one for the execution, one per attempt of a step, one per wait or callback; and the bytes
that are stored. Pure nodes are plain code there, and free. Lambda's own lines are added to theirs, since they run the same code
in the same functions. Left out, in their favour: the HTTP requests that start them and bring answers, and the functions that
Step Functions would call."""
_PER = {1_000_000: " per million", 1_000_000_000: " per GB"}


def section(samples: Sequence[Sample]) -> Iterator[str]:
    """One table for all, then one with the arithmetic for each."""
    bills = {sample.variant: sample.facts for sample in samples if sample.case == "cost" and not sample.error}
    if not bills:
        yield "not measured"
        return
    prices = next(iter(bills.values()))["counted"]["prices"]
    yield f"{NOTE}\n\nPrices of {prices['region']}, {prices['date']}, on demand, without free tiers; USD per million runs.\n"
    yield "| a million runs of | write units | Stepless | Step Functions Standard | Lambda durable functions |"
    yield "|---|---|---|---|---|"
    for name, facts in bills.items():
        units = [one["lines"][0]["count"] for one in (facts["counted"], facts["estimated"])]
        own, beside = facts["counted"]["usd_per_million_runs"], facts["counted"]["beside"]
        others = " | ".join(f"{other['usd_per_million_runs']:,.2f} ({other['times']:.1f}x)" for other in beside)
        yield f"| {TITLES[name]} | {units[0]:g}, {units[1]:g} | **{own:,.2f}** | {others} |"
    for name, facts in bills.items():
        yield from _arithmetic(name, facts["counted"])


def _arithmetic(name: str, report: Mapping[str, Any]) -> Iterator[str]:
    yield f"\n### The bill of {name}\n\n| what | of one run | at | USD per million runs | |\n|---|---|---|---|---|"
    for sheet in (report, *report["beside"]):
        for line in sheet["lines"]:
            price = f"${line['usd']:.10g}{_PER[line['per']]}"
            yield f"| {line['what']} | {line['count']:,.6g} | {price} | {line['usd_per_million_runs']:,.2f} | {line['note']} |"
        yield f"| **{sheet['name']}** | | | **{sheet['usd_per_million_runs']:,.2f}** | |"
