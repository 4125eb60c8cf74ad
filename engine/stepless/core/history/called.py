"""What an instance was called with, worked out again from the log: nothing is written down for it.

The parameters of an attempt are a function of the state right after its `node.started`: what came in is merged, what is upstream
has settled, the variables are those that were brought, and `now()` is the instant of that event. Whoever reads a log comes by
that very state. Secrets are not in it: `${NAME}` is shown as `***`, and so is what an expression makes of one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from stepless.core.inputs import merged_inputs
from stepless.core.masking import HIDDEN
from stepless.core.reading import Reading
from stepless.core.state import Instance, State
from stepless.errors import SteplessError
from stepless.limits import PREVIEW_CHARACTERS, SHOWN_PARAMS_CHARACTERS
from stepless.model.json import JSON
from stepless.model.kind import Nature

_UNCALLED: Final = frozenset({Nature.ENTRY, Nature.CONTAINER})
_COMPUTED: Final = re.compile(r"\{\{(?:(?!\}\}).)*?\$\{", re.DOTALL)  # an expression over a secret


class Called(NamedTuple):
    """One attempt. `at_ms` is when it was begun; `params` are its parameters, filled in, and `previews` the beginnings, as JSON,
    of those that are too large to be shown whole."""

    attempt: int
    at_ms: int
    params: Mapping[str, JSON]
    previews: Mapping[str, str]


def params_of(state: State, instance: Instance, at_ms: int) -> Mapping[str, JSON] | None:
    """The parameters that an instance is called with, where an attempt of it begins at this instant: those of `with` that are
    filled in, then those that stand as they are written. None for what is called with nothing: an entry, a container, a node that
    is switched off, one whose output is taken over from another run, and one whose parameters raise."""
    node = instance.node
    if not node.enabled or node.kind.nature in _UNCALLED or instance.id in state.reused:
        return None
    config = node.config
    hidden = dict.fromkeys(state.graph.env, HIDDEN)
    reading = Reading(state, instance, merged_inputs(state, instance), at_ms, hidden)
    try:
        filled: Mapping[str, JSON] = config.template.render(reading)
    except SteplessError:
        return None
    if any(reference.env for reference in config.template.references):
        filled = _veiled(config.template.value, filled)
    return {**filled, **config.literals}


def called(state: State, instance: Instance, at_ms: int) -> Called | None:
    """What there is to be shown of `params_of`, at most SHOWN_PARAMS_CHARACTERS of JSON."""
    params = params_of(state, instance, at_ms)
    return None if params is None else Called(instance.attempt, at_ms, *bounded(params))


def bounded(values: Mapping[str, JSON], most: int = SHOWN_PARAMS_CHARACTERS) -> tuple[Mapping[str, JSON], Mapping[str, str]]:
    """The values that fit into `most` characters of JSON together, in their order, and of each that does not its first
    PREVIEW_CHARACTERS."""
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
    """A value as JSON, not much longer than is needed to see that it is too long."""
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


def _veiled(written: JSON, filled: JSON) -> JSON:
    """`filled`, without what expressions over secrets came to: that of a hidden one is wrong, that of a known one may tell it."""
    if isinstance(written, str):
        return HIDDEN if _COMPUTED.search(written) else filled
    if isinstance(written, dict) and isinstance(filled, Mapping):
        return {name: _veiled(written[name], value) for name, value in filled.items()}
    if isinstance(written, list) and isinstance(filled, list):
        return [_veiled(one, other) for one, other in zip(written, filled, strict=True)]
    return filled
