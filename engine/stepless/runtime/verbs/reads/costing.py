"""Computes the bill of a run on AWS, line by line, and the cost of the same work on other services.

Where requests are counted, the header holds the usage of the run. A run in a local file sends no requests: its cost on AWS is
estimated from the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from stepless.core.events import Event, EventType
from stepless.core.history.trace import locate
from stepless.limits import INLINE_VALUE_BYTES, READ_BYTES
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.model.kind import Nature
from stepless.model.runs import prices
from stepless.model.runs.prices import Line, Work
from stepless.model.runs.tally import Tally, decode_tally
from stepless.model.stored.packing import dump
from stepless.ports import RunHead, Signal, Store
from stepless.runtime import inbox
from stepless.runtime.announcing.details import type_of
from stepless.runtime.billing.estimating import REQUEST_MS, Seen, estimate
from stepless.runtime.exporting.cursors import BUS, Cursor, decode
from stepless.runtime.runlog import RunLog
from stepless.runtime.verbs.reads.inspecting import graph_of, head_of, whole_or_gone
from stepless.runtime.world import World

COUNTED: Final = "counted"
ESTIMATED: Final = "estimated from the log"
_NOTES: Final[Mapping[str, tuple[str, ...]]] = {
    COUNTED: (
        "The requests of the start, the answers and the runner were counted. The release of a lease is computed by size.",
        "Lambda's time is that of the handlers, until the lease is released, without process start and rounding.",
        "Not included: reading the run, the sweeper, storage ($0.25 per GB and month), logs, invocations that were killed.",
    ),
    ESTIMATED: (
        "Nothing was billed: this is what the same log would have cost on AWS, started and answered over HTTP.",
        f"Lambda's time is that of the nodes and {REQUEST_MS} ms per request to the table.",
        "Not included: reading the run, the sweeper, storage ($0.25 per GB and month), logs, tries that failed.",
    ),
}
_STEP_FUNCTIONS_NOTE: Final = "Transitions alone: the services that its tasks, starts and answers use cost extra."
_DURABLE_NOTE: Final = "One operation for the execution, for each attempt of a step and for each wait; Lambda as above."


def cost(world: World, run_id: str) -> Mapping[str, JSON]:
    """Returns the bill of one run so far, as `GET /runs/{id}/cost` returns it. Linear in its log. Raises `NotFound`."""
    head = head_of(world, run_id)
    if not head.spent:
        return estimated(world, run_id)
    with whole_or_gone(world, run_id):
        _, work, announced = _read(RunLog(world.store, world.blobs, run_id), graph_of(world, head), head)
    return report(head, COUNTED, decode_tally(head.spent), work, announced)


def estimated(world: World, run_id: str) -> Mapping[str, JSON]:
    """Returns the bill estimated from the log alone, even if requests were counted."""
    head = head_of(world, run_id)
    with whole_or_gone(world, run_id):
        seen, work, announced = _read(RunLog(world.store, world.blobs, run_id), graph_of(world, head), head)
    return report(head, ESTIMATED, _estimate(world.store, head, seen), work, announced)


def report(head: RunHead, basis: str, tally: Tally, work: Work, announced: int = 0) -> Mapping[str, JSON]:
    """Returns a bill with its arithmetic, and the bills of other services, each as a multiple of this one. `announced` is how
    many events EventBridge has accepted, as far as the header knows."""
    lines = prices.bill(tally)
    if announced:
        lines += (Line(announced, prices.BUS_EVENT, "of RunEventsBus, without repetitions"),)
    others = (
        ("Step Functions Standard", prices.step_functions(work), _STEP_FUNCTIONS_NOTE),
        ("Lambda durable functions", prices.durable_functions(work, tally), _DURABLE_NOTE),
    )
    own = prices.usd(lines)
    return {
        "run_id": head.run_id,
        "workflow": head.workflow_id,
        "status": head.status,
        "basis": basis,
        "prices": {"region": prices.REGION, "date": prices.DATE},
        **_sheet("Stepless", lines),
        "notes": list(_NOTES[basis]),
        "beside": [
            {**_sheet(name, theirs), "times": round(prices.usd(theirs) / own, 2) if own else None, "note": note}
            for name, theirs, note in others
        ],
    }


def _sheet(name: str, lines: Sequence[Line]) -> dict[str, JSON]:
    usd = prices.usd(lines)
    shown = [
        {
            "what": line.price.unit,
            "count": round(line.count, 6),
            "usd": line.price.usd,
            "per": line.price.per,
            "usd_per_million_runs": round(line.usd * prices.MILLION, 4),
            "note": line.note,
        }
        for line in lines
    ]
    million = round(usd * prices.MILLION, 2)
    return {"name": name, "lines": shown, "usd_per_run": round(usd, 12), "usd_per_million_runs": million}


def _read(log: RunLog, graph: Graph, head: RunHead) -> tuple[Seen, Work, int]:
    """What the log shows, the work that other services would bill for it, and how many events were put on the bus."""
    seen, started, put_out, announced = Seen(), dict.fromkeys(Nature, 0), len(head.inputs), 0
    confirmed = decode(head.exported).get(BUS, Cursor()).sequence

    def take(event: Event) -> None:
        nonlocal put_out, announced
        announced += event.sequence <= confirmed and type_of(event) is not None
        nature = locate(graph, event.instance).kind.nature if event.instance else None
        seen.add(event, nature)
        if nature is not None and event.type is EventType.NODE_STARTED:
            started[nature] += 1
        size = _size(event)
        seen.blobs += size > INLINE_VALUE_BYTES
        put_out += size if nature in (Nature.EFFECT, Nature.PAUSE) else 0

    log.replay(take)
    attempts = sum(started.values()) - started[Nature.ENTRY]
    return seen, Work(attempts, started[Nature.EFFECT], started[Nature.PAUSE], put_out), announced


def _size(event: Event) -> int:
    return len(dump(event.data["output"])) if event.type is EventType.NODE_COMPLETED and "output" in event.data else 0


def _estimate(store: Store, head: RunHead, seen: Seen) -> Tally:
    batches: list[tuple[int, int]] = []
    last = 0
    while found := store.read_log(head.run_id, last, limit_bytes=READ_BYTES):
        batches += ((batch.epoch, len(batch.data)) for batch in found)
        last = found[-1].last
    wanted = [(inbox.RESUME, pause) for pause in dict.fromkeys(seen.pauses)] + [(inbox.CANCEL, "run")]
    asked = (store.get_signal(head.run_id, kind, identity) for kind, identity in wanted)
    signals: list[Signal] = [signal for signal in asked if signal is not None]
    snapshot = store.get_snapshot(head.run_id)
    return estimate(head, batches, snapshot[1] if snapshot else None, signals, seen)
