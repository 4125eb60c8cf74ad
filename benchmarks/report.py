"""Writes docs/benchmarks.md and its charts, from the stored measurements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import bars, bills, svg
from benchmarks.answers import answers, figure
from benchmarks.growth import CASES_THAT_GROW, NODES
from benchmarks.sample import Sample, find, ratio
from benchmarks.svg import number_text

DOCS = Path(__file__).parents[1] / "docs"
WORKLOADS: Mapping[str, tuple[str, str]] = {
    "W1": ("W1, a chain of trivial effectful nodes", "µs per node"),
    "W2": ("W2, fan-out and join", "µs per node"),
    "W3": ("W3, fifty nodes of 100 ms and a join", "µs per run"),
    "W4": ("W4, layered random DAG, two edges per node", "µs per node"),
    "W5": ("W5, loop with a body of three", "µs per node"),
    "W6 latency": ("W6, one run of three nodes", "µs per node"),
    "W6 throughput": ("W6, runs of three nodes, 50 at once", "µs per run"),
    "W7": ("W7, from the decision of a pause to the end", "µs"),
}
REAL = ("W8, real scientific workflows", "µs per node")
INTRO = """# Benchmarks

Made by `make bench` and `make bench-peers`; do not edit. Every task is trivial, so the engine is what is measured. Figures of one
machine mean little, ratios within one run carry over. A *floor* is the same work without an engine: plain asyncio with one task
per node, on SQLite with a commit per node (WAL, synchronous NORMAL or FULL). Variants and floors take turns. Figures are medians;
the spread is the fastest and the slowest repetition over the median. CPU is that of the measuring process.
"""
GROWTH_NOTE = "Each size in a process of its own, by itself. `load` is reading and compiling the workflow again."
REPLAY_NOTE = "W9: a run that another process left paused, read back from its snapshot and the tail of its log, then answered."


def write(own: Mapping[str, Any], peers: Mapping[str, Any] | None, folder: Path = DOCS) -> None:
    """Both are results that `__main__` has stored: date, machine and samples."""
    found = bars.bars(own["samples"], peers["samples"] if peers else [])
    pictures = folder / "benchmarks"
    pictures.mkdir(parents=True, exist_ok=True)
    (folder / "benchmarks.md").write_text(page(own, peers, found, pictures), encoding="utf-8")


def page(own: Mapping[str, Any], peers: Mapping[str, Any] | None, found: Sequence[bars.Bar], pictures: Path) -> str:
    """The text; its pictures are written to a folder."""
    mine: list[Sample] = own["samples"]
    theirs: list[Sample] = peers["samples"] if peers else []
    text = [INTRO, _where("`make bench`", own)]
    text += [_where("`make bench-peers`", peers)] if peers else []
    text += ["\n## Answers\n", *answers(mine, theirs, found), "\n## What must be reached\n", *_bars(found)]
    text += ["\n## Workloads\n", *_workloads(mine, theirs, pictures), f"\n### {REAL[0]}\n", *_real(mine, pictures)]
    text += ["\n## Growth\n", GROWTH_NOTE, "", *_growth(mine, pictures), "\n## Reload and replay\n", REPLAY_NOTE, ""]
    text += [*_reload(mine, pictures), "\n## What it costs\n", *bills.section(mine)]
    text += ["\n## Cold start and size\n", *_cold(mine), *_sizes(mine), *_failures([*mine, *theirs])]
    return "\n".join(text).rstrip() + "\n"


def _where(command: str, run: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    return f"* {command}: {run['date']}, {run['machine']}, load {run['load']}; {versions}; took {run['seconds']:.0f} s"


def _bars(found: Sequence[bars.Bar]) -> Iterator[str]:
    yield "| what | wanted | measured | | against |\n|---|---|---|---|---|"
    for bar in found:
        wanted = f"{'≥' if bar.at_least else '≤'} {bar.limit:g}{bar.unit}"
        verdict = {True: "met", False: "**missed**", None: "not measured"}[bar.met]
        if bar.met is False and bar.measured is not None:
            verdict += f" ({bar.measured / bar.limit:.2f} of the bar)"
        yield f"| {bar.what} | {wanted} | {figure(bar)} | {verdict} | {bar.note} |"


def _workloads(mine: Sequence[Sample], theirs: Sequence[Sample], pictures: Path) -> Iterator[str]:
    """One table of all, a row per variant, and a picture for each workload."""
    measured: dict[str, dict[str, Sample]] = {}
    for case, (title, unit) in WORKLOADS.items():
        samples = [sample for sample in mine if sample.case == case and sample.wall]
        samples += [sample for sample in theirs if sample.case == case and sample.wall and kind(sample) == "peer"]
        if samples:
            measured[case] = {sample.variant: sample for sample in samples}
            drawn = [_drawn(sample.variant, sample) for sample in samples]
            (pictures / f"{case.replace(' ', '-')}.svg").write_text(svg.chart(title, unit, drawn), encoding="utf-8")
    if not measured:
        yield "not measured"
        return
    yield "Medians, with the spread in brackets.\n"
    units = (f"{': '.join(WORKLOADS[case])}, n = {next(iter(found.values())).n:,}" for case, found in measured.items())
    yield f"| | {' | '.join(units)} |"
    yield "|---|" + "---|" * len(measured)
    for variant in dict.fromkeys(variant for found in measured.values() for variant in found):
        yield f"| {variant} | {' | '.join(_cell(found.get(variant)) for found in measured.values())} |"
    many = measured.get("W6 throughput", {}).items()
    rates = "; ".join(f"{variant} {1e6 / sample.unit_us:,.0f}" for variant, sample in many if kind(sample) != "peer")
    yield f"\nRuns per second, 50 at once: {rates}.\n" if rates else ""
    yield from (f"![{WORKLOADS[case][0]}](benchmarks/{case.replace(' ', '-')}.svg)" for case in measured)


def _cell(sample: Sample | None) -> str:
    if sample is None:
        return "–"
    low, high = sample.spread
    return f"{number_text(sample.unit_us)} ({low:.2f}–{high:.2f})"


def _real(mine: Sequence[Sample], pictures: Path) -> Iterator[str]:
    """Each workflow on the floor and on our engine."""
    samples = [sample for sample in mine if sample.case == "W8" and sample.wall]
    if not samples:
        yield "not measured"
        return
    drawn = [_drawn(f"{sample.variant}, {sample.n:,} tasks", sample) for sample in samples]
    (pictures / "W8.svg").write_text(svg.chart(*REAL, drawn), encoding="utf-8")
    pairs: dict[str, dict[str, Sample]] = {}
    for sample in samples:
        pairs.setdefault(sample.variant.rpartition(", ")[2], {})[kind(sample)] = sample
    yield "| workflow | tasks | floor, SQLite NORMAL, µs per node | SQLite NORMAL | times |\n|---|---|---|---|---|"
    for name, pair in pairs.items():
        if "floor" in pair and "ours" in pair:
            figures = [number_text(pair[one].unit_us) for one in ("floor", "ours")]
            yield f"| {name} | {pair['ours'].n:,} | {' | '.join(figures)} | {ratio(pair['ours'], pair['floor']):.1f}x |"
    yield f"\n![{REAL[0]}](benchmarks/W8.svg)"


def _drawn(label: str, sample: Sample) -> svg.Bar:
    low, high = sample.spread
    return svg.Bar(label, kind(sample), sample.unit_us, sample.unit_us * low, sample.unit_us * high)


def kind(sample: Sample) -> str:
    """Where a figure belongs: floor, ours or peer."""
    if sample.variant.startswith("floor"):
        return "floor"
    return "ours" if sample.variant.startswith(("memory", "SQLite")) else "peer"


def _growth(mine: Sequence[Sample], pictures: Path) -> Iterator[str]:
    per_node = "µs per node | CPU | file bytes per node | log bytes per node"
    yield f"| | nodes | {per_node} | publish s | load s | memory, bytes per node |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for case in CASES_THAT_GROW:
        sizes = [found for nodes in NODES if (found := find(mine, f"growth {case}", bars.NORMAL, nodes)) is not None]
        for sample in sizes:
            facts, n = sample.facts, sample.n
            cpu = sorted(sample.cpu)[len(sample.cpu) // 2] / n * 1e6
            file_bytes, log_bytes, memory = (facts[f"{name}_bytes"] / n for name in ("file", "log", "memory"))
            yield (
                f"| {case} | {n:,} | {sample.unit_us:,.0f} | {cpu:,.0f} | {file_bytes:,.0f} | {log_bytes:,.0f} | "
                f"{facts['publish_s']:.1f} | {facts['load_s']:.2f} | {memory:,.0f} |"
            )
        if sizes:
            drawn = [_drawn(f"{sample.n:,} nodes", sample) for sample in sizes]
            title = f"{case}, growth, SQLite NORMAL"
            (pictures / f"growth-{case}.svg").write_text(svg.chart(title, "µs per node", drawn), encoding="utf-8")
    yield ""
    yield from (f"![Growth of {case}](benchmarks/growth-{case}.svg)" for case in CASES_THAT_GROW)


def _reload(mine: Sequence[Sample], pictures: Path) -> Iterator[str]:
    reload, replay = find(mine, "W9", bars.NORMAL), find(mine, "W10", bars.NORMAL)
    parts: dict[str, float] = {}
    if reload is not None:
        facts = reload.facts
        parts["W9 compile the graph"] = facts["graph_s"]
        parts["W9 read the state"] = reload.median
        parts["W9 answer to end"] = facts["step_s"]
        yield (
            f"{reload.n:,} nodes, a snapshot of {facts['snapshot_bytes']:,} bytes and {facts['tail_events']} events after it; "
            f"the state takes {facts['state_memory_mb']:.0f} MB, the process {facts['peak_mb']:.0f} MB at most.\n"
        )
    if replay is not None:
        facts = replay.facts
        parts |= {"W10 first tenth": facts["early_s"], "W10 last tenth": facts["late_s"]}
        times = facts["late_s"] / facts["early_s"]
        yield f"W10: {replay.n:,} events, pages of 500; the last tenth takes {times:.2f} times as long as the first.\n"
    if parts:
        drawn = [svg.Bar(name, "ours", value * 1e3, value * 1e3, value * 1e3) for name, value in parts.items()]
        (pictures / "W9-W10.svg").write_text(svg.chart("W9 and W10, reload and replay", "ms", drawn), encoding="utf-8")
        yield "![W9 and W10](benchmarks/W9-W10.svg)\n"
        yield "| part | ms |\n|---|---|"
        yield from (f"| {name} | {value * 1e3:,.1f} |" for name, value in parts.items())


def _cold(mine: Sequence[Sample]) -> Iterator[str]:
    yield "| import in a fresh interpreter | ms with bytecode | spread | ms without |\n|---|---|---|---|"
    for sample in mine:
        if sample.case == "import" and sample.wall:
            low, high = sample.spread
            bare = find(mine, "import without bytecode", sample.variant)
            without = f"{bare.median * 1e3:,.0f}" if bare else "–"
            yield f"| {sample.variant} | {sample.median * 1e3:,.0f} | {low:.2f} to {high:.2f} | {without} |"


def _sizes(mine: Sequence[Sample]) -> Iterator[str]:
    sizes = [sample for sample in mine if sample.case == "size"]
    if sizes:
        yield "\nInstalled, without bytecode:\n"
        yield "| package | MB |\n|---|---|"
        yield from (f"| {sample.variant} | {sample.facts['bytes'] / 1e6:.1f} |" for sample in sizes)


def _failures(samples: Sequence[Sample]) -> Iterator[str]:
    """The measurements that each error prevented."""
    failed: dict[str, list[str]] = {}
    for sample in samples:
        if sample.error:
            failed.setdefault(sample.error, []).append(f"{sample.case}, {sample.variant}, n = {sample.n:,}")
    if failed:
        yield "\n## What did not run\n"
        yield from (f"* {error}: {'; '.join(places)}" for error, places in failed.items())
