"""Refuses a test run whose effects the caller could not cause by starting the published version
(docs/understand/decisions/0015-runs-of-drafts.md; the rule is in `compile.test_runs.published_effects`)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from stepless.compile.order import reachable
from stepless.compile.test_runs.called_nodes import DraftedRun, calling_nodes
from stepless.compile.test_runs.published_effects import PublishedVersion, RefusedEffect, refused_effects
from stepless.errors import Forbidden
from stepless.limits import MAX_SHOWN_IDS
from stepless.model.graph import Graph
from stepless.model.stored.document import STRICT_REFERENCES, read_stored
from stepless.model.stored.draft_run import DraftRun
from stepless.runtime.verbs.starts.admission import admit
from stepless.runtime.verbs.starts.reruns import reused_outputs
from stepless.runtime.world import World


class Reuse(NamedTuple):
    """A former run, and the node from which a test run does not take its outputs."""

    run: str
    node: str


def check_effects(
    world: World, graph: Graph, document: Mapping[str, Any], draft_run: DraftRun, reuse: Reuse | None, inputs: bytes
) -> None:
    """Returns if the caller could cause every effect of this test run by starting the newest version, and may start it now: with
    an effect, the test run counts as a start for its `rate` and its number of concurrent runs.

    Raises `Forbidden` (unpublished_effect) with the nodes and the reasons, `Refused` (rate_limited, too_many_runs), and
    `NotFound` (unknown_run) and `Gone` (run_erased) for the former run."""
    drafted = _drafted(world, graph, document, draft_run, reuse)
    if next(calling_nodes(drafted), None) is None:
        return
    newest = world.store.newest_version(graph.workflow_id)
    published = None if newest is None else _published(world, graph.workflow_id, newest.hash)
    refused = refused_effects(drafted, published)
    if refused or published is None:
        raise _refusal(refused)
    admit(world, published.graph_at(None), json.loads(inputs))


def _drafted(
    world: World, graph: Graph, document: Mapping[str, Any], draft_run: DraftRun, reuse: Reuse | None
) -> DraftedRun:
    if reuse is None:
        return DraftedRun(graph, document, draft_run.pins)
    reused = reused_outputs(world, {"of": reuse.run, "from": reuse.node}, graph)
    return DraftedRun(graph, document, draft_run.pins, frozenset(reused), after(graph, reuse.node))


def after(graph: Graph, node: str) -> Collection[str]:
    """Returns a node and those after it: a test run never takes their outputs from a former run."""
    body = graph.root
    found = reachable([body.positions[node]], [one.targets for one in body.nodes])
    return frozenset(body.nodes[position].id for position in found)


def _published(world: World, workflow_id: str, version: str) -> PublishedVersion | None:
    stored = world.store.get_version(workflow_id, hash=version)
    if stored is None:
        return None
    document, features, _ = read_stored(stored.document)
    return PublishedVersion(document, partial(world.versions.graph, workflow_id, version), STRICT_REFERENCES in features)


def _refusal(refused: Sequence[RefusedEffect]) -> Forbidden:
    shown = refused[:MAX_SHOWN_IDS]
    reasons = [f"{path}: {why}" for path, why in shown]
    message = "the test run could do what a run of the published version cannot. " + "; ".join(reasons)
    mend = "pin the outputs of these nodes, stop before them, or ask someone with the role admin to run or publish the draft"
    paths = [effect.path for effect in shown]
    return Forbidden(message, code="unpublished_effect", mend=mend, violations=paths, reasons=reasons)
