"""Real exports of Sim, in the folder that STEPLESS_SIM_EXPORTS names: nothing is lost, and the converted workflows run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from stepless.compile import check_document
from stepless.imports.sim import Imported, convert
from stepless.model.findings import Severity
from stepless.nodes import KINDS
from stepless.testing import simulate

EXPORTS = os.environ.get("STEPLESS_SIM_EXPORTS")
FILES = [path for path in sorted(Path(EXPORTS).glob("*.json")) if path.name != "INDEX.json"] if EXPORTS else []
pytestmark = [
    pytest.mark.skipif(not FILES, reason="set STEPLESS_SIM_EXPORTS to a folder with exports of Sim (*.json)"),
    pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem),
]
SCRIPT = {"parseAttendees": {"ok": {"value": {"attendees": ["ann@example.com", "bob@example.com"]}}}}
TRANSLATED = ("inputFormat", "scheduleType", "dailyTime", "hourlyMinute", "minutesInterval", "memoryType", "tools")
WRAPPING = {
    "json",
    "content",
    "messages",
    "schema",
    "json_schema",
    "strict",
    "role",
    "user",
    "system",
    "name",
    "null",
    "true",
    "false",
    "forEach",
}
INPUTS = {"emails": ["ann@example.com", "bob@example.com"]}


def read(file: Path) -> tuple[dict[str, Any], Imported]:
    export = json.loads(file.read_text())
    return export["state"], convert(export)


def nodes_of(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, node in body.items():
        yield name, node
        if node["type"] in ("loop", "parallel"):
            yield from nodes_of(node["with"]["body"]["nodes"])


def test_a_real_export_compiles_without_a_finding(file: Path) -> None:
    _, imported = read(file)
    assert check_document(imported.document, KINDS) == ()
    assert {finding.severity for finding in imported.findings} <= {Severity.WARNING}


def test_every_block_is_a_node_or_named_in_a_finding(file: Path) -> None:
    state, imported = read(file)
    nodes = dict(nodes_of(imported.document["nodes"]))
    labels = {node.get("label", name) for name, node in nodes.items()}
    named = {finding.path.split(".")[2] for finding in imported.findings if finding.path.startswith("state.blocks.")}
    for key, block in state["blocks"].items():
        assert block["name"] in labels or key in named, block["name"]


def test_every_edge_is_an_edge_an_entry_of_a_body_or_named_in_a_finding(file: Path) -> None:
    state, imported = read(file)
    nodes = dict(nodes_of(imported.document["nodes"]))
    ids = {node.get("label", name): name for name, node in nodes.items()}
    told = {finding.edge for finding in imported.findings}
    for edge in state["edges"]:
        source, target = (ids[state["blocks"][edge[end]]["name"]] for end in ("source", "target"))
        inner = nodes[source]["with"]["body"]["nodes"] if nodes[source]["type"] in ("loop", "parallel") else {}
        after = nodes[target].get("after", [])
        assert edge["id"] in told or target in inner or source in ([after] if isinstance(after, str) else after)


def test_every_value_of_a_field_is_in_the_document_or_told_of(file: Path) -> None:
    """Texts of people, with the references taken out, word by word."""
    state, imported = read(file)
    told = [str(finding) for finding in imported.findings]
    everything = json.dumps(imported.document, ensure_ascii=False) + "\n".join(told)
    for block in state["blocks"].values():
        for name, field in block["subBlocks"].items():
            if name in TRANSLATED or any(f".subBlocks.{name}: " in line and "[sim_secret]" in line for line in told):
                continue
            text = re.sub(r"<[^<>]*>|\{\{[^{}]*\}\}|\\[nt\"]", " ", json.dumps(field.get("value"), ensure_ascii=False))
            missing = {word for word in re.findall(r"[A-Za-z]{4,}", text) if word not in everything}
            assert missing <= WRAPPING


def test_what_it_becomes_runs_to_its_end_with_scripted_effects(file: Path) -> None:
    _, imported = read(file)
    names = dict(nodes_of(imported.document["nodes"]))
    script = {name: what for name, what in SCRIPT.items() if name in names}
    env = dict.fromkeys(imported.document.get("env", []), "kept-by-the-operator")
    simulation = simulate(imported.document, INPUTS, script=script, env=env)
    assert (simulation.status, simulation.error) == ("completed", None)
    assert {node.status for node in simulation.nodes.values()} == {"completed"}


def test_no_account_of_theirs_is_copied(file: Path) -> None:
    _, imported = read(file)
    everything = json.dumps(imported.document) + "\n".join(map(str, imported.findings))
    raw = re.findall(r'"(?:credential|credentialId|manualCredential)": ?(?:\{[^{}]*"value": ?)?"([^"]{8,})"', file.read_text())
    assert not [account for account in raw if account in everything]
