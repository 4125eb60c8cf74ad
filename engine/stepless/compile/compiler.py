"""Compiles a document to a graph, or refuses it with every finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from stepless.compile.canonical import content_hash, json_findings
from stepless.compile.checks import arguments as argument_checks
from stepless.compile.checks import edges as edge_checks
from stepless.compile.checks import limits as limit_checks
from stepless.compile.checks import messages as message_checks
from stepless.compile.checks import nodes as node_checks
from stepless.compile.checks import policies as policy_checks
from stepless.compile.checks import tools as tool_checks
from stepless.compile.checks.distributed import distributed_bodies
from stepless.compile.checks.reference_scope import reference_findings, reserved_env, unlisted_targets
from stepless.compile.checks.secrets import literal_secrets
from stepless.compile.checks.texts import doubtful_references
from stepless.compile.link import link
from stepless.compile.parsed import Parsed, parsed_of, readable
from stepless.compile.shape import validated
from stepless.compile.values.fields import fill
from stepless.compile.values.params import fit
from stepless.compile.values.sources import source_findings
from stepless.errors import DocumentRefused
from stepless.limits import MAX_COUNTED_FINDINGS, MAX_EDGES, MAX_FINDINGS, MAX_NODES
from stepless.model.findings import Finding, Severity
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.model.kind import Kinds
from stepless.model.signature import Callables

BODY_CHECKS: Final = (
    node_checks.empty_bodies,
    node_checks.unknown_kinds,
    node_checks.reserved_ids,
    node_checks.shadowed_ids,
    node_checks.source_lines,
    node_checks.entries_in_bodies,
    node_checks.misplaced_inputs,
    node_checks.container_modes,
    node_checks.unknown_callables,
    argument_checks.unfit_arguments,
    node_checks.written_variables,
    node_checks.loop_breaks,
    node_checks.joins,
    node_checks.join_timeouts,
    node_checks.every_branch,
    node_checks.too_many_losers,
    node_checks.idle_settings,
    policy_checks.idle_policies,
    policy_checks.partial_policies,
    policy_checks.disabled_exits,
    node_checks.unwired_exits,
    limit_checks.misplaced_limits,
    limit_checks.heavy_weights,
    edge_checks.unknown_ends,
    edge_checks.self_edges,
    edge_checks.edges_into_entries,
    edge_checks.unknown_exits,
    edge_checks.conditions,
    edge_checks.doubled_edges,
    edge_checks.circles,
    distributed_bodies,
    tool_checks.unknown_tools,
    tool_checks.wired_tools,
    tool_checks.idle_tool_settings,
)
"""The checks of every body, each for one fault. Single values are checked by `model.declaration.validation`."""


def compile_document(
    document: Mapping[str, JSON], kinds: Kinds, *, entries: Sequence[str] | None = None, functions: Callables | None = None,
) -> Graph:
    """Returns the graph of the nodes that `entries` reach (None: all roots), with the warnings about the document.

    `functions` are the callables that `function` nodes may call, with their signatures; None allows any. Raises `DocumentRefused`
    with all errors, in document order, and `InvalidRequest` for an entry that is not a node at the top level. The whole document
    is checked, regardless of the entries.
    """
    findings, parsed = _check(document, kinds, functions)
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if errors or parsed is None:
        raise DocumentRefused(_capped(errors))
    warnings = _capped([finding for finding in findings if finding.severity is Severity.WARNING])
    return link(parsed, content_hash(document), entries, warnings)


def check_document(
    document: Mapping[str, JSON], kinds: Kinds, *, functions: Callables | None = None,
) -> tuple[Finding, ...]:
    """Returns every error and warning about a document, in document order. At most MAX_FINDINGS, then one with the number of the
    rest."""
    return _capped(_check(document, kinds, functions)[0])


def _check(
    document: Mapping[str, JSON], kinds: Kinds, functions: Callables | None,
) -> tuple[list[Finding], Parsed | None]:
    if findings := list(json_findings(document)):
        return findings, None
    parsed = parsed_of(document, kinds, validated, functions)
    if crowd := _crowd(parsed):
        return crowd, None
    found: dict[tuple[str, str, str], Finding] = {}
    errors = 0
    for finding in _findings(parsed):
        found.setdefault((finding.code, finding.path, finding.message), finding)
        errors += finding.severity is Severity.ERROR
        if errors == MAX_COUNTED_FINDINGS:
            break
    return _in_document_order(found.values(), document), parsed


def _findings(parsed: Parsed) -> Iterator[Finding]:
    """Every finding, in the order of the checks. The parsed document is complete only after the last one has been consumed."""
    yield from parsed.findings
    known = readable(parsed)
    for node in parsed.nodes:
        if node.kind is not None:
            yield from fill(node, node.kind, known)
            yield from fit(node, node.kind, known)
    for check in BODY_CHECKS:
        for body in parsed.bodies:
            yield from check(parsed, body)
    yield from limit_checks.workflow_limits(parsed)
    yield from message_checks.key_and_messages(parsed)
    if parsed.document.messages:
        yield from source_findings(parsed, check_document)
    yield from reserved_env(parsed)
    yield from unlisted_targets(parsed)
    yield from reference_findings(parsed)
    yield from doubtful_references(parsed)
    yield from literal_secrets(parsed)


def _crowd(parsed: Parsed) -> list[Finding]:
    """The findings of too many nodes or edges. Such a document is not checked further, since that would take too long."""
    numbers = {
        "nodes": (sum(len(body.nodes) for body in parsed.bodies), MAX_NODES),
        "edges": (sum(len(body.edges) for body in parsed.bodies), MAX_EDGES),
    }
    return [
        Finding(f"too_many_{name}", name, f"{number} {name}, at most {most} are allowed", "Call other workflows from it.")
        for name, (number, most) in numbers.items() if number > most
    ]


def _in_document_order(findings: Iterable[Finding], document: Mapping[str, JSON]) -> list[Finding]:
    """Sorts by the place that the path leads to. A path to a missing field comes after the existing ones."""
    places: dict[int, dict[str, int]] = {}

    def key(finding: Finding) -> tuple[int, ...]:
        value: JSON = document
        steps = []
        for step in finding.path.split("."):
            if isinstance(value, Mapping):
                if id(value) not in places:
                    places[id(value)] = {name: place for place, name in enumerate(value)}
                keys = places[id(value)]
                steps.append(keys.get(step, len(keys)))
                value = value.get(step)
            elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                steps.append(int(step))
                value = value[int(step)]
            else:
                break
        return tuple(steps)

    return sorted(findings, key=key)


def _capped(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    more = len(findings) - MAX_FINDINGS
    if more <= 0:
        return tuple(findings)
    severity = Severity.ERROR if any(finding.severity is Severity.ERROR for finding in findings) else Severity.WARNING
    counted = f"{more}" if len(findings) < MAX_COUNTED_FINDINGS else f"at least {more}"
    rest = Finding("more_findings", "", f"and {counted} more findings", "Fix these first.", severity=severity)
    return (*findings[:MAX_FINDINGS], rest)
