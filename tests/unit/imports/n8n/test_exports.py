"""Whole exports of n8n: they compile, everything is a node or named in a finding, and they run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from stepless.compile import check_document
from stepless.errors import InvalidRequest
from stepless.imports.import_result import Imported
from stepless.imports.n8n import convert
from stepless.limits import MAX_IMPORT_BLOCKS
from stepless.model.findings import Severity
from stepless.nodes import KINDS
from stepless.testing import simulate

OWN = Path(__file__).parent / "exports"
MORE = os.environ.get("STEPLESS_N8N_EXPORTS")  # a folder with further exports
FILES = [*sorted(OWN.glob("*.json")),
*(path for path in sorted(Path(MORE).glob("*.json")) if path.name != "INDEX.json")] if MORE \
    else sorted(OWN.glob("*.json"))  # fmt: skip
ORDER = {"body": {"id": "o-17", "price": 20, "pieces": 3, "customer": {"name": "Ann"}}, "headers": {}, "query": {},
"path": "/orders"}
SECRETS = {"RISK_SERVICE_TOKEN": "r", "SHOP_KEY_TOKEN": "s", "ALARM_AUTHORIZATION": "a"}


def read(file: Path) -> tuple[dict[str, Any], Imported]:
    given = json.loads(file.read_text())
    return given, convert(given)


def nodes_of(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, node in body.items():
        yield name, node
        if node["type"] == "loop":
            yield from nodes_of(node["with"]["body"]["nodes"])


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_an_export_compiles_and_every_node_is_a_node_or_named_in_a_finding(file: Path) -> None:
    given, imported = read(file)
    assert [one for one in check_document(imported.document, KINDS) if one.severity is Severity.ERROR] == []
    assert {finding.severity for finding in imported.findings} == {Severity.WARNING}
    labels = {node.get("label", name) for name, node in nodes_of(imported.document["nodes"])}
    told = {".".join(finding.path.split(".")[:2]) for finding in imported.findings}
    for place, node in enumerate(given["nodes"]):
        assert node["name"] in labels or f"nodes.{place}" in told, node["name"]


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_every_connection_is_an_edge_a_part_or_named_in_a_finding(file: Path) -> None:
    given, imported = read(file)
    nodes = dict(nodes_of(imported.document["nodes"]))
    ids = {node.get("label", name): name for name, node in nodes.items()}
    types = {node["name"]: node["type"].rpartition(".")[2] for node in given["nodes"]}
    told = {finding.edge for finding in imported.findings}
    for source, sorts in given["connections"].items():
        for sort, outputs in sorts.items():
            for output, targets in enumerate(outputs or []):
                for place, target in enumerate(targets or []):
                    if sort != "main" or source not in ids or target["node"] not in ids:
                        continue  # a part of its target, or a node that was left out with a finding
                    if f"connections.{source}.{sort}.{output}.{place}" in told or "splitInBatches" in (types[source],
                        types[target["node"]]):
                        continue
                    if types[source] in ("respondToWebhook", "stopAndError"):
                        continue  # what comes after an answer follows what came before it
                    after = nodes[ids[target["node"]]].get("after", [])
                    froms = [one["from"] if isinstance(one, dict) else one for one in (after if isinstance(after,
                        list) else [after])]
                    assert any(one.partition(".")[0] == ids[source] for one in froms), (source, target["node"])


@pytest.mark.parametrize("risk, pieces, body", [
    (3, 3, "Thank you, Ann."), (9, 3, {"refused": "o-17", "risk": 9}), (3, 50, {"refused": "o-17", "risk": 3}),
])  # fmt: skip
def test_orders_run_as_in_n8n(risk: int, pieces: int, body: Any) -> None:
    _, imported = read(OWN / "orders.json")
    order = {**ORDER, "body": {**ORDER["body"], "pieces": pieces}}  # type: ignore[dict-item]
    answer = {"ok": {"value": {"status": 200, "headers": {}, "body": {"risk": risk}}}}
    run = simulate(imported.document, order, entry="Order_received", script={"Risk_score": answer}, env=SECRETS)
    assert run.status == "completed", run
    fields = run.nodes["Edit_Fields"].output
    assert fields == {"order": {"id": "o-17", "total": 20 * pieces}, "source": "shop", "weight": 2.5,
        "title": "Order o-17 of Ann"}
    assert run.nodes["Thank" if isinstance(body, str) else "Refuse"].output == body
    if isinstance(body, str):
        assert run.nodes["Booked"].output == {"risk": risk}, "what follows an answer gets what the answer got"


def test_a_failure_leaves_by_the_exit_for_errors() -> None:
    _, imported = read(OWN / "orders.json")
    failed = {"fail": {"cause": "http_error", "code": "http_404"}}
    run = simulate(imported.document, ORDER, entry="Order_received", script={"Risk_score": [failed] * 4}, env=SECRETS)
    assert run.status == "failed"
    assert run.error is not None and run.error["message"] == "no score for o-17"


def test_a_loop_has_its_nodes_as_its_body() -> None:
    _, imported = read(OWN / "nightly.json")
    articles = [{"kind": "book", "price": 10}, {"kind": "pen", "price": 200}, {"kind": "pen", "price": 2}]
    answer = {"ok": {"value": {"status": 200, "headers": {}, "body": {"articles": articles}}}}
    run = simulate(imported.document, {"scheduled_at": None}, entry="Every_night", script={"Articles": answer})
    assert run.status == "completed", run
    assert imported.document["nodes"]["Every_night"]["with"] == {"cron": "15 2 * * *", "timezone": "Europe/Berlin"}
    assert run.nodes["Discount@Loop_Over_Items[0]"].output == {"kind": "book", "price": 9}
    assert run.nodes["Wait@Loop_Over_Items[1]"].output == articles[1]
    assert {finding.code for finding in imported.findings} >= {
        "n8n_code_kept_as_text", "n8n_credential", "n8n_node_unreachable", "n8n_error_workflow", "n8n_items",
        "n8n_node_without_equivalent"}


def test_branches_are_merged_by_their_place() -> None:
    _, imported = read(OWN / "assistant.json")
    script: dict[str, Any] = {"AI_Agent": {"ok": {"value": {"output": "42"}}}, "Search": {"ok": {"value": {"hits": [1, 2]}}}}
    run = simulate(imported.document, {"question": "?"}, entry="When_Executed_by_Another_Workflow", script=script, env=SECRETS)
    assert run.status == "completed", run
    assert run.nodes["Answer"].output == {"answer": "42", "found": 2, "by": "assistant"}
    assert imported.document["nodes"]["AI_Agent"]["with"]["args"]["ai_languageModel"][0]["parameters"]["model"] == "gpt-4o-mini"
    assert "7f3a9c2be41d5088aa" not in json.dumps(imported.document), "a secret of the export is in no document"


@pytest.mark.parametrize("given, code", [
    ({"blocks": {}, "edges": []}, "no_n8n_export"),
    ({"nodes": {}, "connections": {}}, "no_n8n_export"),
    ({"nodes": [{"name": str(n), "type": "x"} for n in range(MAX_IMPORT_BLOCKS + 1)], "connections": {}}, "n8n_export_too_large"),
])  # fmt: skip
def test_what_is_no_export_is_refused(given: dict[str, Any], code: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        convert(given)
    assert caught.value.code == code
