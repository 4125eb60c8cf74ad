"""`POST /import`: an export of another tool becomes a document, from which a draft can be opened."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.limits import MAX_IMPORT_BLOCKS

pytestmark = pytest.mark.anyio


def exported(*types: str) -> dict[str, Any]:
    blocks = {
        f"b{n}": {"id": f"b{n}", "type": type_, "name": f"Block {n}", "enabled": True, "subBlocks": {}}
        for n, type_ in enumerate(types)
    }
    edges = [{"id": f"e{n}", "source": f"b{n}", "target": f"b{n + 1}"} for n in range(len(types) - 1)]
    return {"version": "1.0", "state": {"blocks": blocks, "edges": edges, "metadata": {"name": "From Sim"}}}


async def test_an_export_becomes_a_document_of_which_a_draft_can_be_opened(door: Any) -> None:
    answer = await door.ask.post("/import", json={"tool": "sim", "export": exported("start_trigger", "wait", "unheard_of")})
    assert answer.status_code == 200, answer.text
    document, findings = answer.json()["document"], answer.json()["findings"]
    assert document["name"] == "From Sim" and list(document["nodes"]) == ["Block_0", "Block_1", "Block_2"]
    assert any(finding["severity"] == "warning" and "unheard_of" in finding["message"] for finding in findings)
    opened = await door.ask.post(f"/drafts/{document['id']}", json={"from": "document", "document": document})
    assert opened.status_code == 200
    assert (await door.ask.get(f"/drafts/{document['id']}/findings")).json()["findings"] is not None


async def test_an_export_of_n8n_becomes_a_document(door: Any) -> None:
    given = {
        "name": "From n8n", "nodes": [
            {"name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "parameters": {}},
            {"name": "Say", "type": "n8n-nodes-base.slack", "typeVersion": 2, "parameters": {"text": "={{ $json.name }}"}},
        ],
        "connections": {"Start": {"main": [[{"node": "Say", "type": "main", "index": 0}]]}},
    }  # fmt: skip
    answer = await door.ask.post("/import", json={"tool": "n8n", "export": given})
    assert answer.status_code == 200, answer.text
    document, findings = answer.json()["document"], answer.json()["findings"]
    assert document["nodes"]["Say"]["with"] == {"call": "n8n.slack", "args": {"text": "<Start.name>", "input": "<Start>"}}
    assert [finding["code"] for finding in findings][:1] == ["n8n_node_without_equivalent"]
    refused = await door.ask.post("/import", json={"tool": "n8n", "export": exported("wait")})
    assert (refused.status_code, refused.json()["code"]) == (400, "no_n8n_export")


async def test_what_is_no_export_is_refused(door: Any) -> None:
    for export, status, code in (
        ({"nodes": [], "connections": {}}, 400, "no_sim_export"),
        (exported(*["wait"] * (MAX_IMPORT_BLOCKS + 1)), 413, "sim_export_too_large"),
    ):
        answer = await door.ask.post("/import", json={"export": export})
        assert (answer.status_code, answer.json()["code"]) == (status, code)
    answer = await door.ask.post("/import", json={"tool": "other", "export": {}})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


async def test_it_needs_the_role_that_edits_and_only_a_refusal_leaves_an_entry_in_the_audit_log(door: Any) -> None:
    made = (await door.ask.post("/keys", json={"name": "reader", "roles": ["read"]})).json()
    before = len((await door.ask.get("/audit")).json()["entries"])
    reader = {"authorization": f"Bearer {made['secret']}"}
    answer = await door.stranger.post("/import", json={"export": exported("wait")}, headers=reader)
    assert (answer.status_code, answer.json()["code"]) == (403, "role_missing")
    assert (await door.ask.post("/import", json={"export": exported("start_trigger")})).status_code == 200
    refused, *others = (await door.ask.get("/audit")).json()["entries"]
    assert (refused["verb"], refused["refused"], len(others)) == ("convert_export", "role_missing", before)
