"""Stores the outcomes that a rerun takes over in `run.started`, and reads them back.

`reused` holds those of completed instances, as every release reads them. `kept` holds the others, `outcomes`, each with its
place: how many of `reused` settled before it. It also holds `tokens`, the tokens that instances keep from a former run, and
`calls`, the child runs that calls of the kind `workflow` repeat: `{instance: run id}`, or the token that the child run's id is
derived from.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, TypeAlias

from stepless.model.json import JSON

Payload: TypeAlias = Mapping[str, Any]
"""The outcome of one instance: of a completed one what `node.completed` says, of a failed one `{error, type, started}`, of a
loser of a join `{reason}`."""


def by_event(
    outcomes: Mapping[str, Payload], tokens: Mapping[str, str], calls: Mapping[str, str]
) -> tuple[Mapping[str, Payload], Mapping[str, JSON]]:
    """Returns `reused` and `kept` of the first event, from outcomes in the order in which they settled."""
    reused = {name: payload for name, payload in outcomes.items() if is_completion(payload)}
    others: list[JSON] = []
    place = 0
    for name, payload in outcomes.items():
        if is_completion(payload):
            place += 1
        else:
            others.append([place, name, dict(payload)])
    kept: dict[str, JSON] = {}
    if others:
        kept["outcomes"] = others
    if tokens:
        kept["tokens"] = dict(tokens)
    if calls:
        kept["calls"] = dict(calls)
    return reused, kept


def outcomes_of(data: Mapping[str, Any]) -> OrderedDict[str, Payload]:
    """Returns the outcomes of the first event of a run, in the order in which they settled in the former run."""
    reused: Mapping[str, Payload] = data.get("reused", {})
    others = data.get("kept", {}).get("outcomes", ())
    if not others:
        return OrderedDict(reused)
    merged: OrderedDict[str, Payload] = OrderedDict()
    waiting = iter(others)
    following = next(waiting, None)
    for place, (name, payload) in enumerate(reused.items()):
        while following is not None and following[0] <= place:
            merged[following[1]] = following[2]
            following = next(waiting, None)
        merged[name] = payload
    while following is not None:
        merged[following[1]] = following[2]
        following = next(waiting, None)
    return merged


def suffix_of(instance_id: str) -> str:
    """Returns the suffix of the ids of all instances in the same scope."""
    _, at, suffix = instance_id.partition("@")
    return at + suffix


def is_completion(payload: Payload) -> bool:
    return "output" in payload
