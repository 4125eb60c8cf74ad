"""Maps block types to converters, and converts what all blocks have in common: label, edges, retries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from stepless.imports.settings import disabled, is_retried
from stepless.imports.sim import actions, triggers
from stepless.imports.sim.agents import agent
from stepless.imports.sim.choices import APPROVAL, CONDITION, RESPONSE, ROUTERS, Choice
from stepless.imports.sim.containers import container
from stepless.imports.sim.decisions import condition, router
from stepless.imports.sim.site import Node, Site
from stepless.imports.sim.values import whole_number
from stepless.imports.sim.wiring import Wire, Wiring
from stepless.limits import MAX_DURATION_MS, MAX_MESSAGE_CHARACTERS, MAX_RETRY_ATTEMPTS
from stepless.model.kind import SOURCE

Converter = Callable[[Site], Node]

ENTRIES: Final[Mapping[str, Converter]] = MappingProxyType({
    "starter": triggers.start,
    "start_trigger": triggers.start,
    "manual_trigger": triggers.start,
    "input_trigger": triggers.start,
    "api_trigger": triggers.start,
    "chat_trigger": triggers.start,
    "schedule": triggers.schedule,
    "webhook": triggers.webhook,
    "generic_webhook": triggers.webhook,
})
"""Triggers; `triggers.foreign` converts all others."""

BLOCKS: Final[Mapping[str, Converter]] = MappingProxyType({
    "agent": agent,
    "api": actions.http,
    "function": actions.code,
    RESPONSE: actions.respond,
    "wait": actions.wait,
    APPROVAL: actions.approval,
    "variables": actions.variables,
    "workflow": actions.child,
    "workflow_input": actions.child,
})
"""Blocks except triggers, containers, conditions and routers; `actions.foreign` converts all others."""



def convert_block(site: Site, wiring: Wiring, body: Node | None) -> Node:
    """Returns the node for a block. `body` is a container's body."""
    node = _converted(site, wiring.choices[site.block.key], wiring.parents[site.block.key] is not None, body)
    made: Node = {"type": node["type"]}
    if site.block.name != site.id:
        made["label"] = site.block.name[:MAX_MESSAGE_CHARACTERS]
    after = [way(wiring.ids[wire.source], wire) for wire in wiring.into[site.block.key]]
    if after:
        made["after"] = after[0] if len(after) == 1 else list(dict.fromkeys(after))
    made.update((key, value) for key, value in node.items() if key != "type")
    if not site.block.enabled:
        made["enabled"] = disabled(made)
        site.warn("sim_disabled_block", node=site.id)
    if site.block.retry and is_retried(node["type"]):
        made["retry"] = _retry(site)
    return made


def way(source: str, wire: Wire) -> str:
    """Returns an edge in its short form."""
    return source if wire.exit == SOURCE else f"{source}.{wire.exit}"


def _converted(site: Site, choices: tuple[Choice, ...], inside: bool, body: Node | None) -> Node:
    block = site.block
    if body is not None:
        return container(site, body)
    if block.is_trigger and inside:
        site.warn("sim_trigger_in_container", node=site.id)
        site.warn_unused("join")
        return {"type": "join"}
    if block.is_trigger:
        return ENTRIES.get(block.type, triggers.foreign)(site)
    if block.type == CONDITION:
        return condition(site, choices)
    if block.type in ROUTERS:
        return router(site, choices)
    return BLOCKS.get(block.type, actions.foreign)(site)


def _retry(site: Site) -> dict[str, int]:
    """The retry policy. In Sim, the wait between attempts is constant."""
    attempts, wait_ms = whole_number(site.block.retry.get("maxAttempts")), whole_number(site.block.retry.get("waitMs"))
    wait_ms = min(wait_ms or 0, MAX_DURATION_MS) if "waitMs" in site.block.retry else 1_000
    return {"attempts": min(attempts or 3, MAX_RETRY_ATTEMPTS), "backoff_ms": wait_ms, "max_backoff_ms": wait_ms}
