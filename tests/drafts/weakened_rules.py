"""Weaker rules for test runs: each lets one thing pass that a person without `admin` can use."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Final

from world import mutated

from stepless.compile.test_runs import called_nodes, node_differences, published_effects
from stepless.compile.test_runs.called_nodes import DraftedRun, calling_nodes, nodes_within
from stepless.compile.test_runs.node_differences import Differences, differences
from stepless.compile.test_runs.published_effects import PublishedVersion, RefusedEffect
from stepless.model.kind import Nature

Weaker = AbstractContextManager[None]


def same_parameters(run: DraftedRun, version: PublishedVersion) -> Sequence[RefusedEffect]:
    """The former rule: a node is known if some published one has its kind and its parameters."""
    body = version.graph_at(None).root
    known = {_digest(written) for node in body.nodes for _, _, written in nodes_within(node, version.document["nodes"])}
    refused = []
    for node, paths in calling_nodes(run):
        for path, _, written in nodes_within(node, run.document["nodes"]):
            if path in paths and _digest(written) not in known:
                refused.append(RefusedEffect(path, "it is not known"))
    return refused


def _digest(written: Mapping[str, Any]) -> str:
    return json.dumps([written["type"], written.get("with")], sort_keys=True)


def nothing(*_: Any, **__: Any) -> None:
    return None


def _without(kept: Callable[[Any, str], bool]) -> Weaker:
    """Differences of some nodes are not seen."""

    def found(draft: Any, document: Any, graph: Any, **rest: Any) -> Differences:
        made = differences(draft, document, graph, **rest)
        nodes = {node.id: node for node in graph.root.nodes}
        made.own = {name: why for name, why in made.own.items() if kept(nodes[name], why)}
        return made

    return mutated(published_effects, "differences", found)


@contextmanager
def _both(*weaker: Weaker) -> Iterator[None]:
    with ExitStack() as stack:
        for one in weaker:
            stack.enter_context(one)
        yield


def _only_itself(body: Any, own: Mapping[str, str], beyond: Mapping[str, str]) -> Mapping[int, Any]:
    return {body.positions[name]: published_effects._Cause(name, how) for name, how in own.items()}


def _unordered(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _sole_always() -> Weaker:
    original = node_differences._given

    def given(draft: Any, node: Any, other: Any, *, is_sole: bool) -> str | None:
        return original(draft, node, other, is_sole=True)

    return mutated(node_differences, "_given", given)


def _losers_free() -> Weaker:
    original = published_effects._spread

    def spread(body: Any, own: Any, beyond: Any) -> Any:
        return {place: cause for place, cause in original(body, own, beyond).items() if not cause.stops}

    return _both(mutated(published_effects, "_spread", spread), mutated(node_differences, "_add_losers", nothing))


def _silent_notices() -> Weaker:
    def acts(node: Any, written: Any) -> bool:
        return node.kind.nature is Nature.EFFECT

    return mutated(called_nodes, "acts", acts)


def _seen_as(name: str, value: Any, owner: object) -> Callable[[], Weaker]:
    """A function of the rule always returns the same."""
    return lambda: mutated(owner, name, lambda *_: value)


def _unless(said: str) -> Callable[[], Weaker]:
    """Differences of which this is said are not seen."""
    return lambda: _without(lambda _, why: said not in why)


def _of_other_nature(nature: Nature) -> Callable[[Any, str], bool]:
    return lambda node, _: node.kind.nature is not nature


def _is_no_pinned_pause(node: Any, why: str) -> bool:
    return node.kind.nature is not Nature.PAUSE or "pin" not in why


WEAKENED: Final[dict[str, tuple[str | None, Callable[[], Weaker]]]] = {
    "a node is compared, and nothing before it": (None, lambda: mutated(published_effects, "_spread", _only_itself)),
    "pins are not seen": ("an approval", lambda: mutated(node_differences, "_given", nothing)),
    "pins of pausing nodes are not seen": ("an approval", lambda: _without(_is_no_pinned_pause)),
    "changes of pausing nodes are not seen": ("an approval", lambda: _without(_of_other_nature(Nature.PAUSE))),
    "changes of pure nodes are not seen": (None, lambda: _without(_of_other_nature(Nature.PURE))),
    "changes of containers are not seen": ("a loop", lambda: _without(_of_other_nature(Nature.CONTAINER))),
    "changes inside of nodes are not seen": (None, lambda: mutated(node_differences, "_redefined", nothing)),
    "edges are not compared": ("an approval", lambda: mutated(node_differences, "_rewired", nothing)),
    "the order of keys is not compared": ("cases", lambda: mutated(node_differences, "_text", _unordered)),
    "the order of nodes is not compared": ("the last of two", _seen_as("_moved", frozenset(), node_differences)),
    "variables are not compared": ("a variable", _seen_as("_mentions", False, node_differences)),
    "a pinned entry is taken for inputs where there are others": ("two entries", _sole_always),
    "outputs of former runs are trusted": ("an approval", _unless("another run")),
    "what can end a run is not seen": ("the end of the run", _seen_as("_may_end_run", False, published_effects)),
    "joins that cancel their losers are not seen": ("losers", _losers_free),
    "joins of the draft that cancel their losers are not seen": ("a child run", _unless("is ended")),
    "edges by `error` are not compared": ("a failure", lambda: mutated(node_differences, "_settles_otherwise", nothing)),
    "settings of the workflow are not compared": ("a failure", lambda: mutated(published_effects, "_settings", nothing)),
    "child runs do not delay a deadline": ("a deadline", _seen_as("starts_child_runs", False, published_effects)),
    "notices are no effects": (None, _silent_notices),
}
"""By what each does not see: the shape of the workflows in which it is found soon (None: any), and what makes it so."""
