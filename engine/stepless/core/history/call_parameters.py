"""Recomputes from the log the parameters that an instance was called with; they are not stored.

The parameters of an attempt are a function of the state right after its `node.started`: its inputs are merged, the upstream nodes
have settled, its variables are set, and `now()` is the instant of that event. Every reader of the log reaches that state.
Secrets are not in it: `${NAME}` is shown as `***`, and so is the result of an expression over one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from stepless.core.state import Instance, State
from stepless.core.values.inputs import merged_inputs
from stepless.core.values.masking import HIDDEN
from stepless.core.values.reference_values import Reading
from stepless.errors import SteplessError
from stepless.limits import PREVIEW_CHARACTERS, SHOWN_PARAMS_CHARACTERS
from stepless.model.graph import Node
from stepless.model.json import JSON
from stepless.model.kind import Nature, Part

_UNCALLED: Final = frozenset({Nature.ENTRY, Nature.CONTAINER})
_COMPUTED: Final = re.compile(r"\{\{(?:(?!\}\}).)*?\$\{", re.DOTALL)  # an expression over a secret


class Called(NamedTuple):
    """The call of one attempt. `at_ms` is when it began; `params` are its rendered parameters, and `previews` the first
    characters, as JSON, of those that are too large to show."""

    attempt: int
    at_ms: int
    params: Mapping[str, JSON]
    previews: Mapping[str, str]


def params_of(state: State, instance: Instance, at_ms: int) -> Mapping[str, JSON] | None:
    """Returns the parameters of an attempt that begins at this instant: the rendered fields of `with`, the values of its cases,
    then the literal fields. None for a node that is not called (an entry, a container, a disabled node, one with a reused or
    pinned output) and for one whose parameters raise an error."""
    node = instance.node
    if not node.enabled or node.pinned or node.kind.nature in _UNCALLED or instance.id in state.reused:
        return None
    config = node.config
    hidden = dict.fromkeys(state.graph.env, HIDDEN)
    reading = Reading(state, instance, merged_inputs(state, instance), at_ms, hidden)
    try:
        filled: Mapping[str, JSON] = config.template.render(reading)
    except SteplessError:
        return None
    if any(reference.env for reference in config.template.references):
        filled = veiled(config.template.value, filled)
    return {**filled, **_evaluated(node, reading), **config.literals}


def _evaluated(node: Node, reading: Reading) -> Mapping[str, JSON]:
    """The value of each case that was evaluated: those up to the first true one, or to the one that raises an error. `else` is
    evaluated by nothing and true."""
    values: dict[str, JSON] = {}
    for case in node.config.cases:
        if case.expression is not None and any(reference.env for reference in case.expression.references):
            values[case.name] = HIDDEN  # it is not known what it was with the secret, nor whether the next one was evaluated
            break
        try:
            values[case.name] = value = True if case.expression is None else case.expression.evaluate(reading)
        except SteplessError:
            break
        if value:
            break
    return dict.fromkeys((name for name, part in node.kind.parts.items() if part is Part.CASES), values)


def called(state: State, instance: Instance, at_ms: int) -> Called | None:
    """Returns the call to show, from `params_of`: at most SHOWN_PARAMS_CHARACTERS of JSON."""
    params = params_of(state, instance, at_ms)
    return None if params is None else Called(instance.attempt, at_ms, *bounded(params))


def bounded(values: Mapping[str, JSON], most: int = SHOWN_PARAMS_CHARACTERS) -> tuple[Mapping[str, JSON], Mapping[str, str]]:
    """Returns the values that together fit into `most` characters of JSON, in order, and the first PREVIEW_CHARACTERS of each
    value that does not fit."""
    shown: dict[str, JSON] = {}
    previews: dict[str, str] = {}
    for name, value in values.items():
        text = _text(value, most)
        if len(text) <= most:
            shown[name] = value
            most -= len(text)
        else:
            previews[name] = text[:PREVIEW_CHARACTERS]
    return shown, previews


def _text(value: JSON, most: int) -> str:
    """A value as JSON, encoded only until it exceeds `most` characters."""
    if isinstance(value, str):
        return json.dumps(value[: most + 1], ensure_ascii=False)
    size, pieces = 0, list[str]()
    for piece in _ENCODER.iterencode(value):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            break
    return "".join(pieces)


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def veiled(written: JSON, filled: JSON) -> JSON:
    """Returns `filled` with the results of expressions over secrets hidden: over a masked secret the result is wrong, over the
    real one it could reveal the secret."""
    if isinstance(written, str):
        return HIDDEN if _COMPUTED.search(written) else filled
    if isinstance(written, dict) and isinstance(filled, Mapping):
        return {name: veiled(written[name], value) for name, value in filled.items()}
    if isinstance(written, list) and isinstance(filled, list):
        return [veiled(one, other) for one, other in zip(written, filled, strict=True)]
    return filled
