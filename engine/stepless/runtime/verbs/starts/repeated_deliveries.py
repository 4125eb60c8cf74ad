"""Answers a repetition of a delivery whose run ended without success: by a rerun from what failed, under the same key
(docs/understand/semantics.md#repeated-deliveries).

Each rerun is claimed under the run that it repeats. So of concurrent repetitions one starts the rerun, and the others join it.
"""

from __future__ import annotations

import json
from typing import Final

from stepless.core.state import RunStatus
from stepless.limits import MAX_DELIVERY_RERUNS
from stepless.model.stored.damage import decoding
from stepless.ports import RunHead
from stepless.runtime.header_notes import inputs_of, meta_of
from stepless.runtime.headers import not_erased, numbers_of
from stepless.runtime.related_runs import note_rerun
from stepless.runtime.verbs.reads.inspecting import graph_of
from stepless.runtime.verbs.starts.admission import admit
from stepless.runtime.verbs.starts.reruns import FAILED, former_meta, former_version
from stepless.runtime.verbs.starts.starting import Started, new_run_id, start_version
from stepless.runtime.world import World

_WITHOUT_SUCCESS: Final = frozenset({RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.TIMED_OUT})
_REASON: Final = "the sender repeated the delivery"


def retried(world: World, started: Started, life_ms: int) -> Started:
    """Returns the run that a repetition of a delivery stands for. `started` is what `start` returned for it; `life_ms` is how
    long the key of the delivery is valid.

    If the run was started by an earlier delivery and has ended without success: its rerun from what failed, which this starts if
    no repetition has yet. If that has ended without success too, the rerun of that, and so on, MAX_DELIVERY_RERUNS at most; then
    the last one. Otherwise `started` itself. Raises what `admit` raises for a workflow that admits no run now, and `Conflict`
    (run_erased).
    """
    if not started.replay:
        return started
    head = world.store.get_run(started.run_id)
    for _ in range(MAX_DELIVERY_RERUNS):
        if head is None or head.status not in _WITHOUT_SUCCESS:
            break
        run_id, mine = _claimed(world, head, life_ms)
        again = world.store.get_run(run_id)
        if again is None:  # also if the process that claimed it died before it created the run
            return _start(world, head, run_id, replay=not mine)
        head = not_erased(again)
    if head is None or head.run_id == started.run_id:
        return started
    version, number = numbers_of(head)
    return Started(head.run_id, head.workflow_id, started.version if version is None else version, True, number)


def _claimed(world: World, head: RunHead, life_ms: int) -> tuple[str, bool]:
    """The id of the rerun of a run that a delivery started, and whether this repetition has claimed it."""
    now_ms = world.clock.now_ms()
    claim = f"redelivery:{head.run_id}"
    existing = world.store.get_claim(claim, now_ms)
    if existing is None:
        admit(world, graph_of(world, head), inputs_of(head))
        mine = json.dumps({"run": new_run_id()}).encode()
        existing = world.store.claim(claim, mine, now_ms, now_ms + life_ms)
        return _run_in(existing, claim), existing == mine
    return _run_in(existing, claim), False


def _run_in(claimed: bytes, claim: str) -> str:
    with decoding(claimed, f"claim.value of {claim}", "restore the store from a backup; the record expires within two days"):
        return str(json.loads(claimed)["run"])


def _start(world: World, head: RunHead, run_id: str, *, replay: bool) -> Started:
    version, meta = former_version(world, head), former_meta(head, FAILED, {"reason": _REASON})
    if (trigger := meta_of(head).get("trigger")) is not None:
        meta["trigger"] = trigger
    note_rerun(world, head.run_id, run_id)
    started = start_version(world, run_id, version, head.inputs, meta, numbered=graph_of(world, head).numbered)
    return Started(started.run_id, started.workflow_id, started.version, replay, started.number)
