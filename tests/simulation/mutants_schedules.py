"""Planted bugs of schedules: each starts a run twice, loses an instant, or fires in a pause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduled import Rules

from stepless.adapters.memory.store import MemoryStore
from stepless.model.graph import Node
from stepless.runtime.triggers import schedule_firing
from stepless.runtime.triggers.payloads import Firing
from stepless.runtime.triggers.schedule_firing import Schedules
from stepless.runtime.triggers.schedule_instants import next_ms
from stepless.runtime.triggers.schedule_records import change_progress, progress_of, rhythm_text
from stepless.runtime.verbs.publication.calendar_registration import rhythm_of
from stepless.runtime.verbs.starts.starting import Started
from stepless.runtime.world import World


class MovesBeforeItStarts(Schedules):
    """The next instant is stored before the run is started: a process that dies in between loses it."""

    def _fire(self, workflow_id: str, node: Node, now_ms: int) -> Iterator[Started]:
        progress = progress_of(self._world, workflow_id, node.id)
        if progress is not None and progress.at_ms is not None and progress.at_ms <= now_ms:
            at_ms, text = progress.at_ms, rhythm_text(node)
            following = next_ms(rhythm_of(node), at_ms)
            change_progress(self._world, workflow_id, node.id, schedule_firing._moved(text, at_ms, following, None))
            run, _ = schedule_firing.start_scheduled(self._world, Firing(workflow_id, node.id, at_ms))
            if run is not None:
                yield run
            return
        yield from super()._fire(workflow_id, node, now_ms)


def fires_in_a_pause(world: World, given: Firing) -> Any:
    return schedule_firing.start_scheduled(world, given)[0]


class ForgetsKeys(MemoryStore):
    """A start is not recognised when it is repeated."""

    def claim(self, key: str, value: bytes, now_ms: int, expires_ms: int | None = None) -> bytes:
        return value if key.startswith("start:") else super().claim(key, value, now_ms, expires_ms)

    def get_claim(self, key: str, now_ms: int) -> bytes | None:
        return None if key.startswith("start:") else super().get_claim(key, now_ms)


class LosesPauses(MemoryStore):
    """A pause ends with the next publication or deployment: here, when it is read."""

    def get_claim(self, key: str, now_ms: int) -> bytes | None:
        return None if key.startswith("schedule-pause:") and now_ms % 7 else super().get_claim(key, now_ms)


SCHEDULE_MUTANTS: Mapping[str, Rules] = {
    "an instant is over before its run is started": Rules(schedules=MovesBeforeItStarts),
    "a delivered firing ignores the pause": Rules(deliver=fires_in_a_pause),
    "a repeated start is another run": Rules(store=ForgetsKeys),
    "a pause is forgotten": Rules(store=LosesPauses),
}
