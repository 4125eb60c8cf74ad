"""The first screen of docs/understand/measurements/benchmarks.md: the comparisons, the main figures, and the targets that were
missed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.bars import NORMAL, Bar
from benchmarks.sample import Sample, find, ratio

COMPARED: Mapping[str, str] = {
    "W1": "W1, chain of 1,000",
    "W2": "W2, fan-out of 1,000",
    "W4": "W4, layered graph of 1,000",
    "W6 throughput": "W6, runs of three nodes, 50 at once",
    "W7": "W7, decision of a pause to the end",
}
KEEPS: Mapping[str, str] = {
    "langgraph, sync": "every step, SQLite",
    "langgraph, async": "every step, SQLite",
    "langgraph, exit": "only the end, SQLite",
    "dbos": "every step, SQLite",
    "restate": "every step, RocksDB in its server",
    "temporal": "every step, SQLite in its server",
    "temporal, local activities": "groups of steps, SQLite in its server",
    "aws-durable, sqlite": "every step, SQLite",
    "aws-durable, memory": "in memory",
    "pydantic-graph": "nothing",
    "graphon": "nothing",
    "graphon, 50 workers": "nothing",
}
PEERS = """The time that other engines take, divided by the time of Stepless, in one run on one machine. Below 1x the other engine
is faster. Stepless stores every step in SQLite; the second column says what the other engine stores. aws-durable is the SDK of
Lambda durable functions with its local runner; the service itself was not measured.
"""
NOT_MEASURED = "a real AWS account: figures for AWS are requests counted at emulators, multiplied by list prices"


def answers(own: Sequence[Sample], peers: Sequence[Sample], bars: Sequence[Bar]) -> Iterator[str]:
    floor, growth = _measured(bars, "times the floor, SQLite NORMAL"), _measured(bars, "largest exponent")
    yield "| question | answer |\n|---|---|"
    for question, answer in (
        ("Time per node or run, over plain asyncio that commits each node to SQLite", floor),
        ("Time per node in memory, over plain asyncio that stores nothing", _measured(bars, "times the floor")),
        ("Time of a request that runs three functions, over plain FastAPI that commits each", _measured(bars, "plain FastAPI")),
        ("Growth of time, CPU time and bytes from 100 to 100,000 nodes (W5: 1,000,000), as an exponent (1 is linear)", growth),
        ("Memory per node, in bytes: a graph of 100,000 nodes (W4), a loop that runs 1,000,000 (W5)",
         _measured(bars, "above the interpreter")),
        ("A million runs of ten nodes on AWS", _price(own)),
        ("Import of the runner's function, over that of boto3", _measured(bars, "over boto3 and its clients", named=False)),
        ("Missed targets", _missed(bars)),
        ("Not measured", NOT_MEASURED),
    ):
        yield f"| {question} | {answer} |"
    yield ""
    yield from _beside(peers)


def _measured(bars: Sequence[Bar], end: str, *, named: bool = True) -> str:
    """The figures of all bars whose titles end with `end`."""
    found = [bar for bar in bars if bar.what.endswith(end) and bar.measured is not None]
    return ", ".join(f"{bar.what.partition(',')[0]} {figure(bar)}" if named else figure(bar) for bar in found) or "not measured"


def figure(bar: Bar) -> str:
    """A measured figure, as the tables show it."""
    if bar.measured is None:
        return "–"
    return f"{bar.measured:,.0f}" if bar.unit == "" and bar.limit >= 10 else f"{bar.measured:,.2f}{bar.unit}"


def _price(own: Sequence[Sample]) -> str:
    bill = next((sample.facts["counted"] for sample in own if sample.variant == "chain of 10" and not sample.error), None)
    if bill is None:
        return "not measured"
    others = ", ".join(f"{other['name']} {other['times']:.1f} times as much" for other in bill["beside"])
    return f"${bill['usd_per_million_runs']:,.2f}; {others}"


def _missed(bars: Sequence[Bar]) -> str:
    missed = [f"{bar.what} ({figure(bar)})" for bar in bars if bar.met is False]
    return f"{len(missed)} of {sum(bar.met is not None for bar in bars)}" + (f": {'; '.join(missed)}" if missed else "")


def _beside(peers: Sequence[Sample]) -> Iterator[str]:
    """One row per peer. `peers` holds our own samples of the same run."""
    ours = {case: found for case in COMPARED if (found := find(peers, case, NORMAL)) is not None}
    if not ours:
        yield "Other engines: not measured; run `make bench-peers`."
        return
    yield PEERS
    yield f"| | stores | {' | '.join(COMPARED.values())} |\n|---|---|{'---|' * len(COMPARED)}"
    for variant, keeps in KEEPS.items():
        found = [(find(peers, case, variant), ours.get(case)) for case in COMPARED]
        cells = [times(ratio(theirs, mine)) if theirs and mine else "–" for theirs, mine in found]
        if any(cell != "–" for cell in cells):
            yield f"| {variant} | {keeps} | {' | '.join(cells)} |"


def times(value: float) -> str:
    return f"{value:,.0f}x" if value >= 10 else f"{value:.1f}x"
