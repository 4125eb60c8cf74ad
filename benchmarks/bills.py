"""The bills of the workloads, as tables of docs/understand/measurements/benchmarks.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.sample import Sample

TITLES: Mapping[str, str] = {
    "chain of 10": "ten nodes, one after the other",
    "fan-out of 50": "fifty nodes at once, and a join",
    "approval": "an approval, answered after two days, and a node",
    "approval with deadline": "an approval with a deadline, answered after two days, and a node",
    "approval and wait": "an approval, answered after two days, and a wait of an hour",
    "approval, wait and node": "the same, and a node after the wait",
    "deadline, wait and node": "the same, and the approval has a deadline",
}
NOTE = """`make cost` also prints this section. Requests are counted at the clients of emulated services, as the API and the
runner send them when they run as functions; every node returns 0.5 KB. The emulator of the table reports its units. Lambda's time
is measured on this machine and billed at 512 MB: it is an estimate. The second figure of write units is the estimate of
`stepless runs cost` from the log of the same run in a local file.

Step Functions Standard bills each state transition: one for the start, one per attempt of a node. Lambda durable functions bill
each durable operation (the execution, each attempt of a step, each wait or callback) and the stored bytes; pure nodes are plain
code there. Their total includes the lines of Lambda. Not counted, in their favour: HTTP requests, and the functions that Step
Functions would call."""
_PER = {1_000_000: " per million", 1_000_000_000: " per GB"}


def section(samples: Sequence[Sample]) -> Iterator[str]:
    """One table of all bills, and one with the calculation of each."""
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
    yield "\nThe calculation: the usage of one run, and its prices.\n"
    yield from _calculation({name: facts["counted"] for name, facts in bills.items()})


def _calculation(reports: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """One column per bill; every line of a sheet, and then its sum."""
    yield f"| of one run | at | {' | '.join(TITLES[name] for name in reports)} |\n|---|---|{'---|' * len(reports)}"
    sheets = [[report, *report["beside"]] for report in reports.values()]
    for same in zip(*sheets, strict=True):
        lines = [{line["what"]: line for line in sheet["lines"]} for sheet in same]
        for what in dict.fromkeys(what for found in lines for what in found):
            line = next(found[what] for found in lines if what in found)
            counts = (f"{found[what]['count']:,.6g}" if what in found else "–" for found in lines)
            yield f"| {what} | ${line['usd']:.10g}{_PER[line['per']]} | {' | '.join(counts)} |"
        sums = (f"**{sheet['usd_per_million_runs']:,.2f}**" for sheet in same)
        yield f"| **{same[0]['name']}**, USD per million runs | | {' | '.join(sums)} |"
