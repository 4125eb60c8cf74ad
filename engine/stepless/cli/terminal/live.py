"""Shows a run while it runs: a live tree in a terminal, plain lines elsewhere, nothing for `--json`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Protocol

from stepless.cli.terminal.exceptions import place
from stepless.cli.terminal.progress import WAITS, Progress, Row, duration, instant_ms
from stepless.cli.terminal.timeline import Glyphs
from stepless.model.runs.statuses import Tone, tone_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

Envelope = Mapping[str, Any]
NAME, NOTE = 28, 36  # columns
_SPINNER, _FRAME_MS = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", 80
_STYLES: Final[Mapping[Tone, str]] = {
    Tone.COMPLETED: "green", Tone.FAILED: "red", Tone.RUNNING: "cyan", Tone.NEW: "cyan", Tone.WAITING: "yellow",
    Tone.HELD: "yellow", Tone.QUIET: "dim",
}  # fmt: skip


class Watcher(Protocol):
    """Shows the events of a run as they arrive."""

    def show(self, events: Sequence[Envelope]) -> None:
        """Shows events that were added to the progress; an empty list when there are no new ones."""
        ...

    def yield_terminal(self) -> None:
        """Releases the terminal for a prompt; the next `show` uses it again."""
        ...

    def close(self) -> None:
        """Ends the output."""
        ...


class Silence:
    """Shows nothing."""

    def show(self, events: Sequence[Envelope]) -> None:
        """Does nothing."""

    def yield_terminal(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


class PlainLines:
    """Prints one line per event, for pipes and logs."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def show(self, events: Sequence[Envelope]) -> None:
        for event in events:
            text = event_text(event)
            if text and "instance" in event["payload"]:
                at = duration(instant_ms(event["timestamp"]) - self._progress.started_ms)
                print(f"{at:>9}  {event['payload']['instance']:<20}  {text}", flush=True)

    def yield_terminal(self) -> None:
        sys.stdout.flush()

    def close(self) -> None:
        sys.stdout.flush()


def event_text(event: Envelope) -> str:
    """Returns the payload of an event in a few words; empty for a type that needs none."""
    describe = _TEXTS.get(event["type"])
    return describe(event["payload"]) if describe is not None else ""


def _completed(payload: Mapping[str, Any]) -> str:
    handle = payload.get("handle")
    return f"completed → {handle}" if handle else "completed"


def _failed(payload: Mapping[str, Any]) -> str:
    return f"failed: {payload['error']['message']} [{payload['error']['code']}]{place(payload.get('exception'))}"


def _retried(payload: Mapping[str, Any]) -> str:
    failed = f"attempt {payload['attempt']} failed: {payload['message']} [{payload['code']}]{place(payload.get('exception'))}"
    return f"{failed}; retries in {duration(payload['delay_ms'])}"


_HELD: Mapping[Any, str] = {True: "held", False: "released"}
_TEXTS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "node.started": lambda payload: f"attempt {payload['attempt']}" if payload.get("attempt", 1) > 1 else "",
    "node.waiting": lambda payload: WAITS.get(payload["reason"], "waiting"),
    "node.retried": _retried,
    "node.log": lambda payload: f"says: {payload['text']}" if "text" in payload else payload.get("code", "").replace("_", " "),
    "node.completed": _completed,
    **dict.fromkeys(("node.failed", "node.timed_out", "node.blocked", "node.invalidated"), _failed),
    **dict.fromkeys(("run.failed", "run.timed_out"), lambda payload: _failed(payload) if payload.get("error") else ""),
    "run.status.changed": lambda payload: _HELD.get(payload.get("held"), str(payload.get("status", ""))),
    "node.cancelled": lambda payload: "cancelled",
    "message.received": lambda payload: f"message {payload['name']}",
    "loop.next": lambda p: f"iteration {p['index'] + 1}" + (f" of {p['total']}" if p.get("total") is not None else ""),
}


def can_move() -> bool:
    """Returns whether standard output is a terminal and `rich`, which draws the tree, is installed (the extra `local`)."""
    return sys.stdout.isatty() and find_spec("rich") is not None


class Tree:
    """The nodes as a tree, redrawn many times a second and never taller than the terminal."""

    def __init__(self, progress: Progress, title: str, glyphs: Glyphs, now_ms: Callable[[], int], console: Console) -> None:
        self._progress = progress
        self._title = title
        self._glyphs = glyphs
        self._now_ms = now_ms
        self._console = console
        self._live: Live | None = None

    def show(self, events: Sequence[Envelope]) -> None:
        from rich.live import Live

        if self._live is None:
            self._live = Live(get_renderable=self._drawn, console=self._console, auto_refresh=False, transient=True)
            self._live.start(refresh=True)
        else:
            self._live.refresh()

    def yield_terminal(self) -> None:
        """Leaves the tree on the screen, so that the prompt appears below it."""
        self.close()
        self._console.print(self._drawn())

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _drawn(self) -> Text:
        from rich.text import Text

        now_ms = self._now_ms()
        progress = self._progress
        elapsed = duration(max(0, now_ms - progress.started_ms)) if progress.started_ms else ""
        text = Text(f"{self._title}  ", style="bold", overflow="ellipsis", no_wrap=True)
        text.append(f"{progress.status}  {elapsed}", style="not bold dim")
        for guide, row in self._selected(self._console.size.height - 4):
            text.append("\n")
            if row is None:
                text.append(guide, style="not bold dim")
            else:
                text.append_text(self._line(guide, row, now_ms))
        return text

    def _line(self, guide: str, row: Row, now_ms: int) -> Text:
        from rich.text import Text

        style = _STYLES[tone_of(row.status)]
        mark = self._glyphs.mark(row.status)
        if row.status == "running" and self._glyphs.work != "#":
            mark = _SPINNER[now_ms // _FRAME_MS % len(_SPINNER)]
        name = row.node + (f" [{row.iteration}]" if row.iteration is not None else "")
        line = Text(style="not bold")
        line.append(guide, style="dim")
        line.append(f"{mark} ", style=style)
        line.append(f"{_cut(name, NAME - len(guide)):<{NAME - len(guide)}} ", style="dim" if style == "dim" else "")
        line.append(f"{_cut(_note(row, now_ms), NOTE):<{NOTE}} ", style="red" if row.status == "failed" else "dim")
        line.append(f"{duration(row.elapsed_ms(now_ms)):>9}" if row.spans else "", style="dim")
        return line

    def _selected(self, height: int) -> list[tuple[str, Row | None]]:
        """At most `height` lines, in document order. Live and failed nodes come first in the choice, then top-level nodes, then
        the newest."""
        rows = list(self._progress.rows(settled_iterations=False))
        if len(rows) <= height:
            return [(_guide(depth), row) for depth, row in rows]
        rank = sorted(range(len(rows)), key=lambda place: (_rank(*rows[place]), -place))
        chosen = sorted(rank[: max(1, height - 1)])
        left_out = Counter(row.status for place, (_, row) in enumerate(rows) if place not in set(chosen))
        counts = ", ".join(f"{count:,} {status}" for status, count in left_out.items())
        return [*((_guide(rows[place][0]), rows[place][1]) for place in chosen), (f"   and {counts}", None)]


def _rank(depth: int, row: Row) -> int:
    if row.live or row.status == "failed":
        return 0
    return 1 if depth == 0 and row.status != "pending" else 2 + depth


def _guide(depth: int) -> str:
    return " " + "  " * depth


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _note(row: Row, now_ms: int) -> str:
    note = row.summary
    if row.status == "waiting" and row.until_ms is not None:
        note = f"{note}, {duration(max(0, row.until_ms - now_ms))} left"
    if row.status == "running" and row.said:
        note = f"{note}: {row.said}" if note else row.said
    return note
