"""Runs of a draft in the simulated world: in some worlds the run is started from a version without a number, which is a blob of
the run, with some of its nodes pinned. It has to end as a run of the published version does, and pinned nodes are not called."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import TYPE_CHECKING, Any

from workflows import features

from stepless.compile.stored import compile_stored
from stepless.model.stored.document import encode_document
from stepless.model.stored.draft_run import DraftRun, Pin
from stepless.nodes import KINDS
from stepless.ports import Version
from stepless.runtime.header_notes import DRAFT_RUN
from stepless.runtime.headers import NO_NUMBER
from stepless.runtime.verbs.starts.starting import start_version
from stepless.runtime.versions import put_version_of_draft

if TYPE_CHECKING:
    from episode import Episode

    from stepless.runtime.service import Service

SHARE = 0.2  # of the worlds
QUICK: list[dict[str, Any]] = [{"ok": {}}]  # the result of a node that the script does not name


class Drafted:
    """The run of a draft of the scenario. `pins` are nodes whose pinned output is the one that they put out anyway."""

    def __init__(self, episode: Episode, pins: Mapping[str, Pin]) -> None:
        self.document: dict[str, Any] = episode.scenario.document
        self.run_id = f"run_draft{episode.number}"
        self.pins = pins
        self._data = encode_document(self.document, features(self.document), DraftRun(pins))
        self._versions = episode.plain_versions

    def start(self, verbs: Service, inputs: Any) -> str:
        """Keeps the version and starts the run. It may be repeated: the run and its version are the same."""
        world = verbs.world
        version = Version(self.document["id"], NO_NUMBER, put_version_of_draft(world.blobs, self.run_id, self._data))
        self._versions.learn(version.workflow_id, version.hash, compile_stored(self._data, version.hash, KINDS, None))
        facts = {DRAFT_RUN: {"epoch": 1, "seq": 0, "by": "ann", "pins": list(self.pins)}}
        return start_version(world, self.run_id, version, json.dumps(inputs).encode(), facts, numbered=False).run_id


def drafted(episode: Episode) -> Drafted | None:
    """The run of a draft in this world; None in most worlds, and where runs are erased, limited or started several times. Its
    dice are its own: the other worlds stay what they were."""
    dice = Random(f"draft {episode.number}")
    if dice.random() >= SHARE or episode.parts.erases or episode.ground.starts != 1 or type(episode).__name__ != "Episode":
        return None
    pins: dict[str, Pin] = {}
    for name, node in episode.scenario.document["nodes"].items():
        first = episode.scenario.script.get(name, QUICK)[0].get("ok")
        if node["type"] == "function" and first is not None and "handle" not in first and dice.random() < 0.5:
            pins[name] = Pin(first.get("value", name))
    return Drafted(episode, pins)
