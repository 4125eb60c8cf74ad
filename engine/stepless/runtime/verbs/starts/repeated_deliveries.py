"""Answers a repetition of a delivery whose run ended without success: by a rerun from what failed, under the same idempotency key
(docs/understand/semantics.md#repeated-deliveries).

Each rerun is claimed under the run that it repeats. So of concurrent repetitions one starts the rerun, and the others join it.

The rerun of a run with a key keeps the key of the run, and the rule holds that at most one run of a key is live. A delivery that
was repeated is older than a run that has the key meanwhile, so it never replaces that run: it joins it, or is refused, as
`on_conflict` says. A run that was replaced is not repeated: what its delivery stands for is the run that replaced it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

from stepless.core.state import RunStatus
from stepless.limits import MAX_DELIVERY_RERUNS
from stepless.model.declaration.policies import OnConflict
from stepless.model.json import JSON
from stepless.model.stored.damage import decoding
from stepless.ports import RunHead
from stepless.runtime.header_notes import inputs_of, meta_of, notes_in
from stepless.runtime.headers import CLAIM, not_erased, numbers_in
from stepless.runtime.messages.keys import AFTER, RunKey, key_in, live_run, run_key_of
from stepless.runtime.messages.starts import NewRun
from stepless.runtime.related_runs import note_rerun
from stepless.runtime.verbs.reads.inspecting import graph_of
from stepless.runtime.verbs.starts.admission import admit
from stepless.runtime.verbs.starts.idempotency import kept_claim
from stepless.runtime.verbs.starts.reruns import FAILED, former_meta, former_version
from stepless.runtime.verbs.starts.starting import Started, new_run_id, start_under_former_key, start_version
from stepless.runtime.world import World

_WITHOUT_SUCCESS: Final = frozenset({RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.TIMED_OUT})
_REASON: Final = "the sender repeated the delivery"


def retried(world: World, started: Started, life_ms: int) -> Started:
    """Returns the run that a repetition of a delivery stands for. `started` is what `start` returned for it, a
    replay; `life_ms` is how long the key of the delivery is valid.

    If the run has ended without success: its rerun from what failed, which this starts if
    no repetition has yet. If that has ended without success too, the rerun of that, and so on, MAX_DELIVERY_RERUNS at most; then
    the last one. If another run has the key of the run: that one. Otherwise `started` itself. Raises what `admit` raises for a
    workflow that admits no run now, and `Conflict` (run_erased, key_taken).
    """
    head, is_joined = world.store.get_run(started.run_id), False
    for _ in range(MAX_DELIVERY_RERUNS):
        if head is None or head.status not in _WITHOUT_SUCCESS:
            break
        placed = run_key_of(head)
        if placed is not None and (successor := _successor(world, head, *placed)) is not None:
            head, is_joined = successor, True
        elif is_joined:
            break
        else:
            again = _rerun(world, head, life_ms) if placed is None else _rerun_under_key(world, head, placed[0], life_ms)
            if not again.replay:
                return again
            head = not_erased(world.store.get_run(again.run_id) or head)
    return started if head is None or head.run_id == started.run_id else _told(head, started.version, is_joined=is_joined)


def _told(head: RunHead, version: int, *, is_joined: bool = False) -> Started:
    """The answer that names a run which another request has started. `version` is that of a run which does not say its own."""
    own, number = numbers_in(notes_in(head))
    return Started(
        head.run_id, head.workflow_id, version if own is None else own, not is_joined, number, is_joined, key_in(head)
    )  # fmt: skip


def _successor(world: World, head: RunHead, run_key: RunKey, number: int) -> RunHead | None:
    """The run that has replaced a run of a key, if any."""
    following = world.store.get_run(run_key.run_id(number + 1))
    return following if following is not None and notes_in(following).get(AFTER) == head.run_id else None


def _rerun(world: World, head: RunHead, life_ms: int) -> Started:
    """The rerun of a run that a delivery started, as `start` returns it: `replay` if an earlier repetition has started it."""
    now_ms, claim = world.clock.now_ms(), _claim(head)
    existing = mine = world.store.get_claim(claim, now_ms)
    if existing is None:
        admit(world, graph_of(world, head), inputs_of(head))
        mine = _names(new_run_id())
        existing = world.store.claim(claim, mine, now_ms, now_ms + life_ms)
    run_id, version, meta = _run_in(existing, claim), former_version(world, head), _meta(head)
    again = world.store.get_run(run_id)
    if again is not None:
        return _told(again, version.number)
    note_rerun(world, head.run_id, run_id)
    started = start_version(world, run_id, version, head.inputs, meta, numbered=graph_of(world, head).numbered)
    return replace(started, replay=existing != mine)


def _rerun_under_key(world: World, head: RunHead, run_key: RunKey, life_ms: int) -> Started:
    """`_rerun` of a run with a key. `joined` if another run has the key. Raises `Conflict` (key_taken)."""
    claim, graph = _claim(head), graph_of(world, head)
    rule = graph.on_conflict if graph.on_conflict is OnConflict.REFUSE else OnConflict.JOIN
    known = kept_claim(world, claim)
    if known is None and live_run(world, run_key) is None:
        admit(world, graph, inputs_of(head))

    def reserve(run_id: str, instead_of: str | None = None) -> str:
        now_ms, mine = world.clock.now_ms(), _names(run_id)
        stored = world.store.claim(claim, mine, now_ms, now_ms + life_ms)
        reserved = _run_in(stored, claim)
        if reserved == instead_of and world.store.replace_claim(claim, stored, mine, now_ms, now_ms + life_ms):
            reserved = run_id
        if reserved == run_id and world.store.get_run(run_id) is None:
            note_rerun(world, head.run_id, run_id)
        return reserved

    new = NewRun(former_version(world, head), graph, head.inputs, {**_meta(head), CLAIM: claim})
    return start_under_former_key(world, run_key, new, reserve, rule, _run_in(known, claim) if known is not None else None)


def _claim(head: RunHead) -> str:
    """The name of the claim of the rerun of a run."""
    return f"redelivery:{head.run_id}"


def _names(run_id: str) -> bytes:
    return json.dumps({"run": run_id}).encode()


def _run_in(claimed: bytes, claim: str) -> str:
    with decoding(claimed, f"claim.value of {claim}", "restore the store from a backup; the record expires within two days"):
        return str(json.loads(claimed)["run"])


def _meta(head: RunHead) -> dict[str, JSON]:
    """The facts of the former run that the header of the rerun has."""
    meta = former_meta(head, FAILED, {"reason": _REASON})
    if (trigger := meta_of(head).get("trigger")) is not None:
        meta["trigger"] = trigger
    return meta
