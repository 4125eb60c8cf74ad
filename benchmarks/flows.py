"""Measures what flows cost: compiling, nodes, scaffolding, events per turn. `python -m benchmarks.flows`."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
TIMES: Final = 20
SCAFFOLDING: Final = (
    "set", "exit_", "why_", "after_", "done", "failed", "leave", "finally", "reset_", "gathered", "first_error", "which_",
)  # fmt: skip


def flat(nodes: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for id, node in nodes.items():
        yield id, node
        if node["type"] in ("loop", "parallel"):
            yield from flat(node["with"]["body"]["nodes"])


TURNS: Final = 100


def events_of_a_turn() -> float:
    """Events of a turn with a step, a condition and an assignment."""
    import comparing

    source = """async def turning(xs: list[int]):
    total = 0
    for x in xs:
        n = await inc(x)
        if n > 30:
            total += n
    return total
"""
    document = comparing.flow_of(source, "turning", name="turning").document()
    few, many = comparing.runs(document, [{"xs": []}, {"xs": [5 + 11 * (turn % 4) for turn in range(TURNS)]}])
    return (len(many.events) - len(few.events)) / TURNS


def cost_of(flows: Iterable[Any]) -> tuple[int, int, int]:
    """Lines of source, nodes, and how many of them are scaffolding: no statement of the author's stands for them."""
    nodes = lines = scaffolding = 0
    for flow in flows:
        found = list(flat(flow.compile(lift="function").document["nodes"]))
        nodes += len(found)
        lines += len(inspect.getsource(flow.function).splitlines()) - 1
        scaffolding += sum(1 for id, node in found if node["type"] == "set" or id.startswith(SCAFFOLDING))
    return lines, nodes, scaffolding


def compiled_in_s(flows: Iterable[Any]) -> float:
    """CPU time of compiling all of them, with their sources in memory."""
    from stepless.flow.compiler.compiler import compile_function
    from stepless.flow.source import origin_of

    took = 0.0
    for flow in flows:
        origin = origin_of(flow.function)
        began = time.process_time()
        for _ in range(TIMES):
            compile_function(origin, flow.id, lift="function")
        took += (time.process_time() - began) / TIMES
    return took


def long_source(lines: int) -> str:
    """A function of so many lines: steps, conditions and loops one after the other."""
    body = "".join(
        f"""    v{place} = await inc(a)
    if v{place} > 3:
        total += v{place}
    for x in xs:
        w{place} = await inc(x)
        total += w{place}
"""
        for place in range(lines // 6)
    )
    return f"async def long(a: int, xs: list[int]):\n    total = 0\n{body}    return total\n"


def main() -> None:
    sys.path.insert(0, str(ROOT / "tests" / "flow"))
    import comparing
    import fifteen

    lines, nodes, scaffolding = cost_of(fifteen.ALL)
    took = compiled_in_s(fifteen.ALL)
    print(f"{lines} lines, {nodes} nodes: {nodes / lines:.2f} per line, {100 * scaffolding / nodes:.0f} % scaffolding")
    print(f"{events_of_a_turn():.2f} events per turn of a step, an if and an assignment")
    print(f"compiled in {1000 * took:.1f} ms: {300 * 1000 * took / lines:.1f} ms for 300 lines")
    for lines in (300, 3000):
        took = compiled_in_s([comparing.flow_of(long_source(lines), f"long_{lines}", name="long")])
        print(f"one flow of {lines} lines: {1000 * took:.1f} ms")


if __name__ == "__main__":
    main()
