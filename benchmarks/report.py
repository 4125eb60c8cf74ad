"""docs/benchmarks.md and its pictures, from what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import bars, bills, svg
from benchmarks.growth import CASES_THAT_GROW, NODES
from benchmarks.sample import Sample, find
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
    "W8": ("W8, real scientific workflows", "µs per node"),
}
INTRO = """# Benchmarks

Made by `make bench` and `make bench-peers`; do not edit. What is measured is the engine: every task is trivial. Figures of one
machine mean little, ratios within one run carry over. A *floor* is the same work without an engine, in plain asyncio with one
task per node; with SQLite it also commits each node's result before those that follow it (WAL, synchronous NORMAL or FULL).
Our own variants of a workload and the floors take turns, so that a busy moment hits all of them. Figures are medians; the
spread is the fastest and the slowest repetition over the median. CPU is that of the measuring process: wall time far above it
means that the machine was busy, or the disk slow.
"""
GROWTH_NOTE = "Each size in a process of its own, by itself. `load` is reading and compiling the workflow again."
REPLAY_NOTE = "W9: a run that another process left paused, read back from its snapshot and the tail of its log, then answered."


def write(own: Mapping[str, Any], peers: Mapping[str, Any] | None, folder: Path = DOCS) -> None:
    """Both are what `store` in `__main__` kept: when, where, and samples."""
    mine: list[Sample] = own["samples"]
    theirs: list[Sample] = peers["samples"] if peers else []
    text = [INTRO, _where("`make bench`", own)]
    text += [_where("`make bench-peers`", peers)] if peers else []
    text += ["\n## What must be reached\n", *_bars(bars.bars(mine, theirs)), "\n## Workloads"]
    pictures = folder / "benchmarks"
    pictures.mkdir(parents=True, exist_ok=True)
    for case in WORKLOADS:
        text += _workload(case, mine, theirs, pictures)
    text += ["\n## Growth\n", GROWTH_NOTE, "", *_growth(mine, pictures), "\n## Reload and replay\n", REPLAY_NOTE, ""]
    text += [*_reload(mine, pictures), "\n## What it costs\n", *bills.section(mine)]
    text += ["\n## Cold start and size\n", *_cold(mine), *_sizes(mine), *_failures([*mine, *theirs])]
    (folder / "benchmarks.md").write_text("\n".join(text).rstrip() + "\n", encoding="utf-8")


def _where(command: str, run: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    return f"* {command}: {run['date']}, {run['machine']}, load {run['load']}; {versions}; took {run['seconds']:.0f} s"


def _bars(found: Sequence[bars.Bar]) -> Iterator[str]:
    yield "| what | wanted | measured | | against |\n|---|---|---|---|---|"
    for bar in found:
        wanted = f"{'≥' if bar.at_least else '≤'} {bar.limit:g}{bar.unit}"
        measured = f"{bar.measured:,.2f}{bar.unit}" if bar.measured is not None else "–"
        if bar.measured is not None and bar.unit == "" and bar.limit >= 10:
            measured = f"{bar.measured:,.0f}"
        verdict = {True: "met", False: "**missed**", None: "not measured"}[bar.met]
        if bar.met is False and bar.measured is not None:
            verdict += f" ({bar.measured / bar.limit:.2f} of the bar)"
        yield f"| {bar.what} | {wanted} | {measured} | {verdict} | {bar.note} |"


def _workload(case: str, mine: Sequence[Sample], theirs: Sequence[Sample], pictures: Path) -> list[str]:
    samples = [sample for sample in mine if sample.case == case and sample.wall]
    samples += [sample for sample in theirs if sample.case == case and sample.wall and kind(sample) == "peer"]
    title, unit = WORKLOADS[case]
    if not samples:
        return [f"\n### {title}\n", "not measured"]
    name = case.replace(" ", "-")
    shown = [(_label(case, sample), sample) for sample in samples]
    drawn = [_drawn(label, sample) for label, sample in shown]
    (pictures / f"{name}.svg").write_text(svg.chart(title, unit, drawn), encoding="utf-8")
    rows = [f"\n### {title}\n", f"![{title}](benchmarks/{name}.svg)\n"]
    rows.append(f"| | n | {unit} | spread | CPU | repetitions |\n|---|---|---|---|---|---|")
    for label, sample in shown:
        low, high = sample.spread
        cpu = sorted(sample.cpu)[len(sample.cpu) // 2] / sample.units * 1e6 if sample.cpu else None
        shown_cpu = number_text(cpu) if cpu is not None else "–"
        figures = f"{number_text(sample.unit_us)} | {low:.2f} to {high:.2f} | {shown_cpu} | {len(sample.wall)}"
        rows.append(f"| {label} | {sample.n:,} | {figures} |")
    if case == "W6 throughput":
        rates = "; ".join(f"{label} {1e6 / sample.unit_us:,.0f}" for label, sample in shown)
        rows.append(f"\nRuns per second: {rates}.")
    return rows


def _drawn(label: str, sample: Sample) -> svg.Bar:
    low, high = sample.spread
    return svg.Bar(label, kind(sample), sample.unit_us, sample.unit_us * low, sample.unit_us * high)


def _label(case: str, sample: Sample) -> str:
    return f"{sample.variant}, {sample.n:,} tasks" if case == "W8" else sample.variant


def kind(sample: Sample) -> str:
    """Whose figure it is: the floor's, ours or a peer's."""
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
    failed = [sample for sample in samples if sample.error]
    if failed:
        yield "\n## What did not run\n"
        yield from (f"* {sample.case}, {sample.variant}, n = {sample.n:,}: {sample.error}" for sample in failed)
