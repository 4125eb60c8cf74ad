"""The targets (bars), as ratios within one run, and whether they were met. A bar without a measurement says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from statistics import median

from benchmarks import door, message_units, talking
from benchmarks.cold import FIRST_RUN
from benchmarks.former import BESIDE, FORMER
from benchmarks.growth import CASES_THAT_GROW, DYNAMIC_NODES, NODES
from benchmarks.sample import Sample, cpu_ratio, find, paired_ratio, ratio, ratio_spread

NORMAL = "SQLite NORMAL"
FLOOR = "floor, SQLite NORMAL"
WITHOUT_SERVER = ("langgraph, sync", "langgraph, async", "dbos", "aws-durable, sqlite")
DURABLE = (*WITHOUT_SERVER, "restate", "temporal")  # the variants that store every step in a file
NAP_S = 0.1
TABLE, CHAINS, BESIDES = "table of 4 ms", (10, 100, 1_000), 6
WRITE_UNITS = {"chain of 10": 17, "fan-out of 50": 45, "approval and wait": 18, "approval with deadline": 16}


@dataclass(frozen=True)
class Bar:
    """`measured` must be at most `limit`, or with `at_least` at least. `note` has the baseline and the spread."""

    what: str
    limit: float
    measured: float | None
    note: str = ""
    at_least: bool = False
    unit: str = "x"

    @property
    def met(self) -> bool | None:
        if self.measured is None:
            return None
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


def bars(own: Sequence[Sample], peers: Sequence[Sample]) -> list[Bar]:
    """All bars. `peers` also contains samples of Stepless from the same run."""
    return [
        *_against_peers(peers),
        *(_times(own, case, NORMAL, FLOOR, limit) for case, limit in (("W1", 2.4), ("W2", 1.3), ("W4", 1.3))),
        *(_times(own, case, "memory", "floor", limit) for case, limit in (("W1", 3), ("W2", 10), ("W4", 10))),
        _times(own, "W6 throughput", NORMAL, FLOOR, 3.5, "50 at once", per="run"),
        _times(own, "W6 latency", NORMAL, FLOOR, 3, "one run alone"),
        _beside_former(own),
        *_growth(own),
        _makespan(own, "memory"),
        _makespan(own, NORMAL),
        _memory(own, "W4", NODES[-1], 4_096),
        _memory(own, "W5", DYNAMIC_NODES[-1], 2_560),
        _stored(own),
        *_write_units(own),
        *_message_units(own),
        *_talking(own),
        _cold(own, "functions/runner", "runner, cold import with bytecode", 1.3),
        _cold(own, FIRST_RUN, "runner, cold with bytecode, to the end of its first run", 1.3),
        _cold(own, "functions/api", "api, cold import with bytecode", 1.1),
        *_over_http(own),
        *_round_trips(own),
    ]


def _against_peers(peers: Sequence[Sample]) -> Iterator[Bar]:
    for case, limit in (("W1", 10), ("W2", 20)):
        yield _faster(peers, case, limit, f"{case} on SQLite, n = 1,000: speed-up over the fastest durable peer")
    layered = "W4 on SQLite, n = 1,000: speed-up over"
    yield _faster(peers, "W4", 10, f"{layered} the fastest durable peer without a server", WITHOUT_SERVER)
    yield _faster(peers, "W4", 8, f"{layered} Restate", ("restate",))
    yield _faster(peers, "W6 throughput", 10, "W6 on SQLite: runs per second over the best durable peer")
    yield _faster(peers, "W7", 3, "W7 on SQLite: speed-up from decision to done over the fastest durable peer")


def _faster(
    peers: Sequence[Sample], case: str, limit: float, title: str, against: Sequence[str] = DURABLE
) -> Bar:
    ours = find(peers, case, NORMAL)
    theirs = [found for name in against if (found := find(peers, case, name)) is not None]
    if ours is None or not theirs:
        return Bar(title, limit, None, "run `make bench-peers`", at_least=True)
    fastest = min(theirs, key=lambda sample: sample.unit_us)
    (low, high), (our_low, our_high) = fastest.spread, ours.spread
    note = f"{fastest.variant} {fastest.unit_us:,.0f} µs ({low:.2f} to {high:.2f}), "
    note += f"Stepless {ours.unit_us:,.0f} ({our_low:.2f} to {our_high:.2f}); CPU {cpu_ratio(fastest, ours):.1f}"
    return Bar(title, limit, ratio(fastest, ours), note, at_least=True)


def _times(
    own: Sequence[Sample], case: str, variant: str, floor: str, limit: float, size: str = "", *, per: str = "node"
) -> Bar:
    """By the median of the pairs: the engine and the floor run in turns."""
    n, name = (None, f"{case.partition(' ')[0]} {size}, {variant}") if size else (1_000, f"{case}, {variant}, n = 1,000")
    what = f"{name}: times the {floor}"
    ours, bare = find(own, case, variant, n), find(own, case, floor, n)
    if ours is None or bare is None:
        return Bar(what, limit, None)
    low, high = ratio_spread(ours, bare)
    times = f"{low:.1f} to {high:.1f}; of the medians {ratio(ours, bare):.2f}; CPU {cpu_ratio(ours, bare):.1f}"
    note = f"{ours.unit_us:,.0f} over {bare.unit_us:,.0f} µs per {per}; {times}"
    return Bar(what, limit, paired_ratio(ours, bare), note)


def _beside_former(own: Sequence[Sample]) -> Bar:
    what = f"W7, {NORMAL}: time over that of commit {FORMER}, in turns"
    ours, former = find(own, BESIDE, NORMAL), find(own, BESIDE, f"{NORMAL}, {FORMER}")
    if ours is None or former is None:
        return Bar(what, 0.65, None)
    low, high = ratio_spread(ours, former)
    note = f"{ours.unit_us:,.0f} over {former.unit_us:,.0f} µs; {low:.2f} to {high:.2f}; CPU {cpu_ratio(ours, former):.2f}"
    return Bar(what, 0.65, paired_ratio(ours, former), note)


def _growth(own: Sequence[Sample]) -> Iterator[Bar]:
    """One bar per case: the largest exponent of three."""
    for case, counts in CASES_THAT_GROW.items():
        sizes = [found for nodes in counts if (found := find(own, f"growth {case}", NORMAL, nodes)) is not None]
        title = f"{case}, growth of time, CPU time and bytes from {counts[0]:,} to {counts[-1]:,} nodes: largest exponent"
        if len(sizes) < 2 or sizes[-1].n < counts[-1]:
            yield Bar(title, 1.05, None, unit="")
            continue
        exponents, notes = [], []
        for what, values in (
            ("time", [(sample.n, sample.median) for sample in sizes]),
            ("CPU time", [(sample.n, median(sample.cpu)) for sample in sizes]),
            ("bytes", [(sample.n, sample.facts["file_bytes"]) for sample in sizes]),
        ):
            exponents.append(exponent(values[0], values[-1]))
            steps = [f"{exponent(a, b):.2f}" for a, b in pairwise(values)]
            notes.append(f"{what} {exponents[-1]:.2f} (by decade {', '.join(steps)})")
        yield Bar(title, 1.05, max(exponents), ", ".join(notes), unit="")


def exponent(smaller: tuple[int, float], larger: tuple[int, float]) -> float:
    """The exponent of growth between two pairs (size, figure)."""
    return log(larger[1] / smaller[1]) / log(larger[0] / smaller[0])


def _makespan(own: Sequence[Sample], variant: str) -> Bar:
    what = f"W3, {variant}: makespan over the critical path"
    ours = find(own, "W3", variant)
    if ours is None:
        return Bar(what, 1.03, None)
    bare = find(own, "W3", "floor")
    low, high = (end / NAP_S for end in (min(ours.wall), max(ours.wall)))
    note = f"{low:.3f} to {high:.3f}; plain asyncio {bare.median / NAP_S if bare else 0:.3f}"
    return Bar(what, 1.03, ours.median / NAP_S, note)


def _memory(own: Sequence[Sample], case: str, nodes: int, limit: float) -> Bar:
    what = f"{case}, {nodes:,} nodes: bytes of memory per node, above the interpreter"
    ours = find(own, f"growth {case}", NORMAL, nodes)
    if ours is None:
        return Bar(what, limit, None, unit="")
    graph = ours.facts["graph_memory_bytes"] / ours.n
    note = f"the peak; {graph:,.0f} before the run begins, for reading and compiling the workflow"
    if "left_memory_bytes" in ours.facts:
        note += f"; {ours.facts['left_memory_bytes'] / ours.n:,.0f} held at its end"
    return Bar(what, limit, ours.facts["memory_bytes"] / ours.n, note, unit="")


def _stored(own: Sequence[Sample]) -> Bar:
    what = "bytes stored per node with results of 0.5 KB, over the results"
    ours = find(own, "bytes per node", NORMAL)
    if ours is None:
        return Bar(what, 1.6, None)
    facts = ours.facts
    log_ratio = facts["log_bytes"] / facts["result_bytes"]
    note = f"growth of the SQLite file; the log's own bytes {log_ratio:.2f}; results that hardly compress"
    return Bar(what, 1.6, facts["file_bytes"] / facts["result_bytes"], note)


def _write_units(own: Sequence[Sample]) -> Iterator[Bar]:
    for name, limit in WRITE_UNITS.items():
        found = next((sample for sample in own if sample.case == "cost" and sample.variant == name), None)
        what = f"DynamoDB write units, {name} with results of 0.5 KB, indexes included"
        if found is None or found.error:
            yield Bar(what, limit, None, found.error if found else "", unit="")
        else:
            note = f"{found.facts['counted']['lines'][0]['note']}; {found.facts['read_units']:.0f} read units"
            yield Bar(what, limit, found.facts["write_units"], note, unit="")


def _message_units(own: Sequence[Sample]) -> Iterator[Bar]:
    for name, limit in message_units.MOST_UNITS.items():
        found = next((sample for sample in own if sample.case == message_units.CASE and sample.variant == name), None)
        what = f"DynamoDB write units of a run that waits once and ends: {name}"
        if name == message_units.ENTITY:
            what = f"W13, DynamoDB write units of a message, {message_units.BURST} at a time"
        note = f"{found.facts['read_units']:.1f} read units" if found else ""
        yield Bar(what, limit, found.facts["write_units"] if found else None, note, unit="")


def _talking(own: Sequence[Sample]) -> Iterator[Bar]:
    """W13 and W14."""
    sizes = [found for n in talking.MESSAGES if (found := find(own, talking.ENTITY, talking.VARIANT, n)) is not None]
    few, many = talking.MESSAGES[0], talking.MESSAGES[-1]
    what, whole = f"W13, growth of time and CPU time from {few:,} to {many:,} messages", len(sizes) == len(talking.MESSAGES)
    exponents = [
        exponent((few, values[0]), (many, values[-1]))
        for values in ([sample.median for sample in sizes], [median(sample.cpu) for sample in sizes])
    ] if whole else []  # fmt: skip
    note = f"{sizes[-1].unit_us:,.0f} µs per message; time {exponents[0]:.2f}, CPU time {exponents[1]:.2f}" if whole else ""
    yield Bar(f"{what}: largest exponent", 1.05, max(exponents, default=None), note, unit="")
    grown = max(sizes[-1].facts["grown_bytes"]) / 1e6 if whole else None
    yield Bar(f"W13, memory at 5,000 and {many:,} messages above that at 1,000, in MB", 10, grown, unit="")
    ours, answered = find(own, talking.KEYED, talking.VARIANT), find(own, talking.LINKED, talking.VARIANT)
    times, note = None, ""
    if ours and answered:
        times = ratio(ours, answered)
        note = f"{ours.unit_us:,.0f} over {answered.unit_us:,.0f} µs; CPU {cpu_ratio(ours, answered):.2f}"
    yield Bar(f"W14, {talking.RUNS:,} runs that get a message by key: time over answers by link", 2, times, note)


def _over_http(own: Sequence[Sample]) -> Iterator[Bar]:
    """W11: on one connection times the floor, on fifty the share of the floor's requests per second."""
    for case in door.CASES:
        ours, bare = find(own, case, NORMAL), find(own, case, FLOOR)
        alone = case.endswith("one connection")
        what = f"{case}: times plain FastAPI" if alone else f"{case}: share of the requests per second of the floor"
        limit = 5 if alone else 0.4
        if ours is None or bare is None:
            yield Bar(what, limit, None, at_least=not alone)
            continue
        low, high = ratio_spread(ours, bare) if alone else ratio_spread(bare, ours)
        note = f"{ours.unit_us:,.0f} over {bare.unit_us:,.0f} µs per request; {low:.2f} to {high:.2f}"
        note += f"; CPU {cpu_ratio(ours, bare):.1f}" if median(bare.cpu) else ""
        yield Bar(what, limit, ratio(ours, bare) if alone else ratio(bare, ours), note, at_least=not alone)


def _cold(own: Sequence[Sample], variant: str, title: str, limit: float) -> Bar:
    what = f"{title}, over boto3 and its clients"
    ours, bare = find(own, "import", variant), find(own, "import", "boto3 and its clients")
    if ours is None or bare is None:
        return Bar(what, limit, None)
    low, high = ratio_spread(ours, bare)
    note = f"{ours.median * 1e3:,.0f} over {bare.median * 1e3:,.0f} ms; {low:.2f} to {high:.2f}; CPU {cpu_ratio(ours, bare):.2f}"
    return Bar(what, limit, ratio(ours, bare), note)


def _round_trips(own: Sequence[Sample]) -> Iterator[Bar]:
    """Times in requests of the emulated table, and counted requests."""
    chains = [found for n in CHAINS if (found := find(own, "W12 chain", TABLE, n)) is not None]
    worst, notes = 0.0, []
    for sample in chains:
        requests = sample.median / sample.facts["request_s"]
        each = (requests - BESIDES) / (sample.n + 1)
        notes.append(f"n = {sample.n:,}: {requests:,.1f} for {sample.facts['requests']:,} made")
        worst = max(worst, each)
    title = f"W12, chain of {CHAINS[0]} to {CHAINS[-1]:,}, {TABLE}: time of a request per commit, beside {BESIDES} more"
    yield Bar(title, 1.05, worst if chains else None, "; ".join(notes))
    first = max((sample.facts["before_first"] for sample in chains), default=None)
    yield Bar("W12, warm function: requests before the first node starts", 4, first, unit="")
    fan = find(own, "W12 fan-out", TABLE)
    note = f"{fan.facts['requests']} made; CPU {median(fan.cpu) * 1e3:,.0f} ms" if fan else ""
    took = fan.median / fan.facts["request_s"] if fan else None
    yield Bar("W12, fan-out of 1,000 and a join: time in requests", 12, took, note)
    handed = find(own, "W12 hand-over", TABLE)
    yield Bar("W12, requests that a hand-over adds to a run", 6, handed.facts["requests"] if handed else None, unit="")
