"""The property of test runs, tried with random drafts over random workflows: what a test run calls and is not refused, the person
could also cause by starting the published version (docs/understand/decisions/0015-runs-of-drafts.md).

`python tests/drafts/effects_sweep.py 20000`. A draft is found again by its seed."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, islice
from random import Random
from typing import Any, Final, NamedTuple

from draft_edits import Draft, drafted
from drafted_workflows import INPUTS, shaped, workflow
from recorded_effects import Effect, Surroundings, TooManyChoices, all_effects

from stepless.compile import check_document, compile_stored, content_hash, features_of
from stepless.compile.test_runs.called_nodes import DraftedRun, calling_nodes
from stepless.compile.test_runs.published_effects import PublishedVersion, RefusedEffect, refused_effects
from stepless.drafts.operations.run_permissions import after
from stepless.errors import SteplessError
from stepless.model.findings import Severity
from stepless.model.graph import Graph
from stepless.model.stored.document import encode_document
from stepless.model.stored.draft_run import DRAFT, DraftRun, Pin
from stepless.nodes import KINDS

DRAFTS_OF_ONE: Final = 40
EFFECTS_OF_ONE: Final = 500  # of a draft with the same inputs: the first ones, over the ways through its questions
Rule = Callable[[DraftedRun, PublishedVersion], Sequence[RefusedEffect]]


class Leak(NamedTuple):
    """An effect of a test run that was allowed and that the published version cannot have."""

    seed: int
    number: int
    effect: Effect
    draft: Draft
    published: Mapping[str, Any]


@dataclass
class Tally:
    """What was tried: drafts that are valid, those that call something and were allowed, refused, or in part; what ran; leaks."""

    workflows: int = 0
    refused_unchanged: int = 0  # drafts that say what is published
    drafts: int = 0
    calling: int = 0
    allowed: int = 0
    effects: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    edits: Counter[str] = field(default_factory=Counter)
    leaks: list[Leak] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.drafts:,} drafts of {self.workflows:,} workflows: {self.calling:,} call something, of which {self.allowed:,} "
            f"were allowed as a whole; {self.effects:,} effects were compared ({dict(self.kinds.most_common())}), "
            f"{len(self.leaks)} could not be caused otherwise"
        )


def valid(document: Mapping[str, Any]) -> bool:
    return all(finding.severity is not Severity.ERROR for finding in check_document(document, KINDS))


def published_version(document: Mapping[str, Any]) -> PublishedVersion:
    """The version, with each of its graphs compiled once."""
    features = features_of(document, limited=False)
    data, name = encode_document(document, features), content_hash(document)

    @cache
    def compiled(entries: tuple[str, ...] | None) -> Graph:
        return compile_stored(data, name, KINDS, entries)

    return PublishedVersion(document, lambda entries: compiled(None if entries is None else tuple(entries)))


def possible(version: PublishedVersion, around: Surroundings) -> frozenset[tuple[str, str]]:
    """Everything that starts of the published version can cause: at any entries, with any of the inputs, answered in any way."""
    body = version.graph_at(None).root
    entries = [body.nodes[position].id for position in body.entries]
    chosen = [list(some) for size in range(1, len(entries) + 1) for some in combinations(entries, size)]
    return frozenset(
        effect.what for some in chosen for inputs in INPUTS for effect in all_effects(version.graph_at(some), inputs, around)
    )


def run_of(draft: Draft) -> DraftedRun | None:
    """The test run that a draft asks for, as it would be compiled; None if it is not valid."""
    document, pins = draft.document, {path: Pin(pin["output"], pin["handle"]) for path, pin in draft.pins.items()}
    if not valid(document):
        return None
    if draft.stop_after is not None and draft.stop_after not in document["nodes"]:
        return None
    draft_run = DraftRun(pins, draft.stop_after)
    data = encode_document(document, features_of(document, limited=False), draft_run)
    try:
        graph = compile_stored(data, DRAFT, KINDS, draft.entries)
    except SteplessError:
        return None
    names = graph.root.positions
    if (draft.stop_after or draft.reused_from or next(iter(names))) not in names or (draft.reused_from or "e0") not in names:
        return None
    if draft.reused_from is None:
        return DraftedRun(graph, document, pins)
    fresh = after(graph, draft.reused_from)
    reused = {name for name in draft.reused if name in names and name not in fresh and not graph.root.nodes[names[name]].pinned}
    return DraftedRun(graph, document, pins, frozenset(reused), fresh)


def caused(run: DraftedRun, draft: Draft, around: Surroundings) -> Iterator[Effect]:
    """What the test run causes, with each of the inputs and some of the answers."""
    reused = {name: draft.reused[name] for name in run.reused}
    for inputs in INPUTS:
        with suppress(TooManyChoices):
            yield from islice(all_effects(run.graph, inputs, around, reused), EFFECTS_OF_ONE)


def sweep(
    drafts: int, seed: int = 0, rule: Rule | None = None, shape: str | None = None, *, stop_at_leak: bool = False
) -> Tally:
    """Tries so many valid drafts, of workflows of one shape if it is given."""
    tally = Tally()
    while tally.drafts < drafts and not (stop_at_leak and tally.leaks):
        one_workflow(seed, rule or refused_effects, tally, drafts, shape)
        seed += 1
    return tally


def one_workflow(seed: int, rule: Rule, tally: Tally, drafts: int, shape: str | None) -> None:
    dice = Random(seed)
    document = workflow(dice) if shape is None else shaped(dice, shape)
    if not valid(document):
        return
    version = published_version(document)
    around = Surroundings(seed, dice.choice(["never", "always", "by the question", "by the question"]))
    try:
        can = possible(version, around)
    except TooManyChoices:
        return
    tally.workflows += 1
    unchanged = run_of(Draft(document))
    if unchanged is not None and rule(unchanged, version):
        tally.refused_unchanged += 1
    for number in range(DRAFTS_OF_ONE):
        draft = drafted(dice, document)
        run = run_of(draft) if tally.drafts < drafts else None
        if run is None:
            continue
        tally.drafts += 1
        effect = one_draft(draft, run, tally, around, {one.path for one in rule(run, version)}, can)
        if effect is not None:
            tally.leaks.append(Leak(seed, number, effect, draft, document))


def one_draft(
    draft: Draft, run: DraftedRun, tally: Tally, around: Surroundings, refused: Set[str], can: Set[tuple[str, str]]
) -> Effect | None:
    """An effect of nodes that are not refused, and that is none of those that the published version `can` have."""
    paths = {path for _, some in calling_nodes(run) for path in some}
    if not paths:
        return None
    tally.calling += 1
    if not refused:
        tally.allowed += 1
        tally.edits.update(draft.edits)
    for effect in caused(run, draft, around) if not paths <= refused else ():
        if effect.path in refused:
            continue
        tally.effects += 1
        tally.kinds[effect.kind] += 1
        if effect.what not in can:
            return effect
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description="Tries random drafts: can a test run cause what a start cannot?")
    parser.add_argument("drafts", type=int)
    parser.add_argument("--from", dest="first", type=int, default=0, help="the seed of the first workflow")
    given = parser.parse_args()
    tally = sweep(given.drafts, given.first)
    said = [str(tally), f"edits of the drafts that were allowed: {dict(tally.edits.most_common())}"]
    for leak in tally.leaks[:3]:
        said += [f"seed {leak.seed}, draft {leak.number}, {leak.draft.edits}: {leak.effect}"]
        said += [json.dumps(leak.published), json.dumps(vars(leak.draft))]
    sys.stdout.write("\n".join([*said, ""]))
    return 1 if tally.leaks else 0


if __name__ == "__main__":
    sys.exit(main())
