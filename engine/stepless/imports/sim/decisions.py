"""Converts conditions and routers."""

from __future__ import annotations

from collections.abc import Sequence

from stepless.imports.sim.agents import model_of
from stepless.imports.sim.choices import Choice
from stepless.imports.sim.site import Node, Site
from stepless.limits import MAX_MESSAGE_CHARACTERS
from stepless.model.json import JSON

_ELSE = "else"


def condition(site: Site, choices: Sequence[Choice]) -> Node:
    """Converts ordered cases; the case with the title `else` is always true."""
    site.take("conditions")
    cases: dict[str, JSON] = {}
    for choice in choices:
        always = choice.title.strip().lower() == _ELSE
        cases[choice.exit] = _ELSE if always else site.test(choice.text, "conditions", choice.title)
    if not cases:
        site.warn("sim_no_cases", node=site.id, what="cases")
        cases = {_ELSE: _ELSE}
    site.warn_unused("condition")
    return {"type": "condition", "with": {"cases": cases}}


def router(site: Site, choices: Sequence[Choice]) -> Node:
    """Converts routes, each with a text for the model: its description, or the name of its target block."""
    site.take("routes")
    routes = {choice.exit: (choice.text or choice.title)[:MAX_MESSAGE_CHARACTERS] for choice in choices}
    if not routes:
        site.warn("sim_no_cases", node=site.id, what="routes")
        routes = {"none": "nothing fits"}
    params: dict[str, JSON] = {"routes": routes, **model_of(site)}
    prompt = site.take("prompt", "context")
    if prompt is not None:
        params["prompt"] = site.text(prompt, "prompt")
    system = site.take("systemPrompt")
    if system is not None:
        params["system"] = site.text(system, "systemPrompt")
    site.warn_unused("router")
    return {"type": "router", "with": {name: value for name, value in params.items() if value is not None}}
