"""What a page's main thread does for each frame, from a trace of the browser."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import pairwise
from time import monotonic
from typing import Any, NamedTuple

COUNTING = """() => {
    if (window.frames_seen !== undefined) return;
    window.frames_seen = 0;
    const count = () => { window.frames_seen += 1; requestAnimationFrame(count); };
    requestAnimationFrame(count);
}"""
MARK = "measured"  # in the trace, by the page that is measured: a trace has all pages of the browser
CATEGORIES = ["toplevel", "devtools.timeline", "disabled-by-default-thread_time"]
WAITED_MS = 20


class Frames(NamedTuple):
    """Frames a second, and the 95th percentiles of single frames in milliseconds: of the main thread's task time on the clock of
    the wall, and on that of the processor, which does not count the time in which the thread waits for a core. With software
    drawing, the threads that draw take the cores, too."""

    per_s: float
    task_ms: float
    processor_ms: float


def p95(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(0.95 * len(values)))]


def measured(page: Any, step: Callable[[int], None], steps: int) -> Frames:
    """Counts frames, and sums the tasks of the main thread between the beginning of one frame and that of the next, while
    something is done in steps. `TaskDuration` of `Performance.getMetrics` is the sum of the same tasks; it can be asked for
    between steps only, which take one to three frames, and the question is a task itself."""
    page.evaluate(COUNTING)
    tools = page.context.new_cdp_session(page)
    events: list[dict[str, Any]] = []
    complete: list[object] = []
    tools.on("Tracing.dataCollected", lambda part: events.extend(part["value"]))
    tools.on("Tracing.tracingComplete", lambda told: complete.append(told))  # noqa: PLW0108  # a builtin is refused
    tools.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": {"includedCategories": CATEGORIES}})
    page.evaluate(f"console.timeStamp({MARK!r})")
    began, first = monotonic(), page.evaluate("window.frames_seen")
    for number in range(steps):
        step(number)
    took, last = monotonic() - began, page.evaluate("window.frames_seen")
    tools.send("Tracing.end")
    while not complete:
        page.wait_for_timeout(WAITED_MS)
    tools.detach()
    task_ms, processor_ms = tasks_of_frames(events)
    return Frames((last - first) / took, p95(task_ms), p95(processor_ms))


def tasks_of_frames(events: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """The task time of each whole frame of the thread with the mark: on the clock of the wall, and of the processor."""
    mark = next(event for event in events if event["name"] == "TimeStamp" and event["args"]["data"]["message"] == MARK)
    own = [event for event in events if (event["pid"], event["tid"]) == (mark["pid"], mark["tid"])]
    tasks = sorted((one for one in own if one["name"].endswith("RunTask") and one["ph"] == "X"), key=lambda task: task["ts"])
    starts = [task["ts"] for task in tasks]
    frames = sorted({bisect_right(starts, event["ts"]) - 1 for event in own if event["name"] == "FireAnimationFrame"})
    spans = [tasks[first:last] for first, last in pairwise(frames)]
    return _summed(spans, "dur"), _summed(spans, "tdur")


def _summed(spans: list[list[dict[str, Any]]], clock: str) -> list[float]:
    """A task of which the trace has no processor time counts with its whole time."""
    return [sum(task.get(clock, task["dur"]) for task in span) / 1_000 for span in spans]
