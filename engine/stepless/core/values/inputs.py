"""Merges the inputs of a node: the values that its taken edges carry, by param, in edge order
(docs/understand/semantics.md#inputs, docs/understand/semantics.md#edge-order)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from json import dumps

from stepless.core.branches import carried, carries, is_dead
from stepless.core.state import Instance, Scope, State, Status
from stepless.limits import MAX_SCHEMA_REFERENCES
from stepless.model.declaration.policies import Merge
from stepless.model.graph import Edge, Param
from stepless.model.json import JSON


def merged_inputs(state: State, instance: Instance) -> dict[str, JSON]:
    """Returns the merged value of each param, without the params that received nothing.

    An entry of the document receives the run's inputs as `input`. An entry of a body receives the iteration's item, or the
    container's own input where the iterations have no items.
    """
    node = instance.node
    if not node.incoming:
        return {"input": entry_input(state, instance.scope)}
    sources, arrived = instance.scope.instances, instance.arrived
    if len(node.incoming) == 1 and arrived is None and not instance.substituted:  # as below, without its loops
        edge = node.incoming[0]
        only = sources[edge.source]
        if only is None or only.status not in _SENDERS or not carries(only, edge):
            return {}
        return {edge.param: carried(only, edge) if edge.key or only.status is Status.FAILED else only.value}
    inputs: dict[str, JSON] = {}
    for param in node.params:
        values = []
        for edge in param.edges:
            source = sources[edge.source]
            if source is None or (arrived is not None and edge.source not in arrived):
                continue
            if source.status in _SENDERS and carries(source, edge):
                values.append((edge, carried(source, edge)))
        if instance.substituted:
            values = _with_defaults(instance, param, values)
        if values:
            inputs[param.name] = _merge(param, values, instance.scope) if len(param.edges) > 1 else values[0][1]
    return inputs


_SENDERS: Collection[Status] = frozenset({Status.COMPLETED, Status.FAILED})


def entry_input(state: State, scope: Scope) -> JSON:
    """Returns the value of `input` for an entry of this scope."""
    owner = scope.owner
    if owner is None:
        return state.inputs
    iterations = owner.iterations
    return scope.item if iterations is not None and iterations.items is not None else merged_inputs(state, owner).get("input")


def with_defaults(schema: JSON, value: JSON) -> JSON:
    """Returns `value` with the `default` of each property that is missing in it, as its JSON Schema says; also inside of objects
    and lists. A default is taken as it is."""
    return _filled(schema, schema, value)


def _filled(whole: JSON, schema: JSON, value: JSON) -> JSON:
    seen = 0
    while isinstance(schema, dict) and isinstance(reference := schema.get("$ref"), str) and seen < MAX_SCHEMA_REFERENCES:
        schema, seen = _definition(whole, reference), seen + 1
    if not isinstance(schema, dict) or not isinstance(value, dict | list):
        return value
    if isinstance(value, list):
        items = schema.get("items")
        return [_filled(whole, items, item) for item in value] if isinstance(items, dict) else value
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        options = [one for one in schema.get("anyOf", ()) if isinstance(one, dict) and one.get("type") != "null"]
        return _filled(whole, options[0], value) if len(options) == 1 else value
    filled = {name: _filled(whole, properties.get(name), item) for name, item in value.items()}
    for name, rule in properties.items():
        if name not in filled and isinstance(rule, dict) and "default" in rule:
            filled[name] = rule["default"]
    return filled


def _definition(whole: JSON, reference: str) -> JSON:
    """What a reference such as `#/$defs/Line` refers to; None for any other kind of reference."""
    if not reference.startswith("#/"):
        return None
    found = whole
    for step in reference[2:].split("/"):
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found


def _with_defaults(instance: Instance, param: Param, values: list[tuple[Edge, JSON]]) -> list[tuple[Edge, JSON]]:
    """`values` plus the default for every dead branch, once per branch and param, in edge order."""
    dead: dict[int, Edge] = {}
    for edge in param.edges:
        source = instance.scope.instances[edge.source]
        if source is not None and is_dead(source):
            dead.setdefault(edge.source, edge)
    filled = values + [(edge, instance.node.default) for edge in dead.values()]
    return sorted(filled, key=lambda pair: pair[0].order)


def _merge(param: Param, values: list[tuple[Edge, JSON]], scope: Scope) -> JSON:
    if param.merge is Merge.OBJECT:
        return {scope.body.nodes[edge.source].label: value for edge, value in values}
    return merged(param.merge, [("", value) for _, value in values])


def merged(merge: Merge, values: Sequence[tuple[str, JSON]]) -> JSON:
    """Returns several values for one param as one: each with the label of its source, in edge order."""
    match merge:
        case Merge.ARRAY:
            return [value for _, value in values]
        case Merge.OBJECT:
            return dict(values)
        case Merge.CONCAT:
            return "\n\n".join(as_text(value) for _, value in values)
        case Merge.LAST:
            return values[-1][1]


def as_text(value: JSON) -> str:
    """Returns a value inside a longer text: a text unchanged, any other value as JSON."""
    return value if isinstance(value, str) else dumps(value, ensure_ascii=False, separators=(",", ":"))
