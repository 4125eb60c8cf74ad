"""Servers to look at the console with: an empty one, a usual one, and one that has much of everything, with long names."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import many_runs
from demo import SECRET, signed
from draft_site import Document, DraftSite, Person
from example_drafts import many
from processes import ROOT

from stepless.adapters.sqlite.store import SqliteStore
from stepless.adapters.system import SystemClock

LIFE_S: Final = 3_000  # as long as a whole tour
WAIT: Final = {"prefer": "wait=20"}
LONG: Final = "reconciliation-of-international-settlements-long-as-ids-are"
FLOW: Final = '''\
from stepless.flow import step, workflow


@step("source.pay")
async def pay(order_id: str, amount: int) -> str:
    """Pays an order back, once."""
    return f"receipt of {order_id}"


@workflow("payout")
async def payout(order_id: str, amount: int) -> dict:
    if amount > 100:
        return {"status": "denied"}
    receipt = await pay(
        order_id,
        amount,
    )
    return {"receipt": receipt}
'''
INPUTS: Final = {
    "type": "object", "required": ["count", "customer"],
    "properties": {
        "count": {"type": "integer", "minimum": 0, "title": "Count", "description": "How many parts the total is divided into"},
        "customer": {"type": "string", "title": "Customer", "minLength": 1},
        "currency": {"enum": ["EUR", "USD"], "default": "EUR", "title": "Currency"},
        "note": {"type": "string", "maxLength": 500, "title": "Note"},
    },
}  # fmt: skip
SPLIT: Final[Document] = {
    "id": "split-invoices", "name": "Split invoices",
    "nodes": {
        "begin": {"type": "manual", "inputs": INPUTS},
        "night": {"type": "schedule", "with": {"cron": "15 2 * * *", "timezone": "Europe/Berlin", "catch_up": "last"}},
        "taken": {"type": "transform", "after": ["begin", "night"], "join": {"mode": "any"}, "with": {"value": {"total": 100}}},
        "price": {"type": "transform", "after": "taken", "with": {"value": "{{ <taken.total> / <begin.count> }}"}},
        "stock": {"type": "transform", "after": "price", "with": {"value": {"left": "{{ 5 - <begin.count> }}"}}},
    },
}  # fmt: skip
QUESTION: Final[Document] = {
    "id": "expense-claims", "name": "Expense claims",
    "nodes": {
        "claim": {"type": "manual"},
        "lead": {"type": "approval", "after": "claim", "with": {
            "message": "Pay <claim.amount> to <claim.who> for <claim.what>?", "timeout": "2d",
            "approvers": ["ada@example.com", "bo@example.com"],
            "fields": {
                "amount": {"type": "integer", "minimum": 1, "maximum": 500, "title": "Amount", "description": "In euros"},
                "receipt": {"type": "boolean", "title": "The receipt is there", "default": False},
                "how": {"enum": ["card", "voucher"], "title": "Paid by"},
            },
        }},
        "pay": {"type": "transform", "after": "lead.approved", "with": {"value": "<lead.amount>"}},
    },
}  # fmt: skip


def empty(folder: Path) -> DraftSite:
    return DraftSite(folder, life_s=LIFE_S)


def usual(folder: Path) -> DraftSite:
    """Six workflows, one of them in Python, in some versions, with runs in most states, two drafts and an approval."""
    examples = ROOT / "examples"
    os.environ.update(REFUND_WEBHOOK_SECRET=SECRET, LOGNAME="Ada")  # who starts a server has the name of the login
    for name, module in (("refund-approval", "refund.py"), ("nightly-report", "figures.py")):
        shutil.copy(examples / name / module, folder)
        shutil.copy(examples / name / "workflow.yaml", folder / f"{name}.yaml")
    _write(folder, many_runs.turns(24), SPLIT, QUESTION)
    (folder / "payout.py").write_text(FLOW)
    site = DraftSite(folder, life_s=LIFE_S)
    site.kill()
    (folder / "payout.py").write_text(FLOW.replace("100", "200"))
    _write(folder, {**SPLIT, "description": "Splits an invoice into equal parts."})
    site.start()
    for order in (("A-1042", 900, 2), ("A-1043", 40, 0), ("A-1044", 60, 1), ("A-1045", 0, 0)):
        _refund(site, *order)
    for count in (1, 2, 0, 4, 5, 0, 10):
        start(site, SPLIT["id"], {"count": count, "customer": f"c-{count}"})
    start(site, QUESTION["id"], {"amount": 120, "who": "Grace", "what": "a train to Ghent"})
    start(site, "each-line", {"lines": list(range(24))})
    for order_id, amount in (("o-1", 50), ("o-2", 500)):
        start(site, "payout", {"order_id": order_id, "amount": amount})
    _ok(site, "POST", "/drafts/refund-approval", {"from": "version"})
    _ok(site, "POST", f"/drafts/{SPLIT['id']}", {"from": "version"})
    _ok(site, "POST", "/drafts/new-onboarding", {"from": "empty"})
    _ok(site, "POST", "/drafts/payout", {"from": "version"})
    ada, bo = site.person("Ada"), site.person("Bo")
    score, pay = (site.key_of("refund-approval", name) for name in ("score", "pay"))
    _edit(site, ada, 1, ["set", score, ["timeout_ms"], 20_000], ["set", score, ["label"], "Risk of the order"])
    _edit(site, bo, 1, ["set", "doc", ["description"], "Pays small refunds at once."])
    _edit(site, ada, 2, ["set", pay, ["retry"], {"attempts": 3}])
    return site


def huge(folder: Path) -> DraftSite:
    """10,000 runs with long names and messages, 60 workflows, one of 2,000 nodes, a run of 5,000 turns, 300 approvals."""
    for number in range(60):
        id_ = f"{LONG}-{number:02}" if number % 5 == 0 else f"workflow-{number:02}"
        _write(folder, {**SPLIT, "id": id_, "name": id_.replace("-", " ").capitalize()})
    _write(folder, {**SPLIT, "id": "names", "name": "Rückzahlungen 🧾 an Großkunden, الموافقة على المبالغ المستردة"})
    _write(folder, many_runs.turns(5_000), QUESTION, _wide())
    _fill(folder / "dev.db", 10_000)
    site = DraftSite(folder, life_s=LIFE_S)
    for number in range(300):
        what = "a journey whose purpose takes many words to explain, " * 6 if number % 3 == 0 else f"journey {number}"
        inputs = {"amount": number, "who": f"person-{number}", "what": what}
        _ok(site, "POST", f"/workflows/{QUESTION['id']}/runs", {"inputs": inputs})
    start(site, "each-line", {"lines": list(range(5_000))})
    start(site, "wide", {})
    for count in (0, 5):
        start(site, f"{LONG}-00", {"count": count, "customer": "customer-" + "0123456789" * 12})
    _ok(site, "POST", "/drafts/wide", {"from": "version"})
    _ok(site, "POST", f"/drafts/{LONG}-05", {"from": "version"})
    return site


SITES: Final[dict[str, Callable[[Path], DraftSite]]] = {"empty": empty, "usual": usual, "huge": huge}


def newest(site: DraftSite, workflow: str, status: str = "") -> str:
    """The newest run of a workflow, in this status."""
    query = f"/runs?workflow={workflow}&limit=1" + (f"&status={status}" if status else "")
    found: str = _ok(site, "GET", query)["runs"][0]["id"]
    return found


def start(site: DraftSite, workflow: str, inputs: Any) -> str:
    """A run that has ended or waits after at most 20 s."""
    answer = site.client.post(f"/workflows/{workflow}/runs", json={"inputs": inputs}, headers=WAIT)
    assert answer.status_code in (200, 202), answer.text
    return str(answer.json()["run_id"])


def _refund(site: DraftSite, order_id: str, amount: int, past: int) -> None:
    body = json.dumps({"order_id": order_id, "amount": amount, "past_refunds": past}).encode()
    answer = site.client.post("/hooks/refunds", content=body, headers=dict(signed(body)))
    assert answer.status_code in (200, 202), answer.text


def _ok(site: DraftSite, method: str, path: str, body: Any = None) -> Any:
    answer = site.client.request(method, path, json=body)
    assert not answer.is_error, f"{method} {path}: {answer.text}"
    return answer.json()


def _edit(site: DraftSite, person: Person, n: int, *writes: list[Any]) -> None:
    """The n-th edit of a person in the draft of the refunds."""
    now = site.draft("refund-approval")
    asked = {"epoch": now["epoch"], "base": now["seq"], "client": person.shown, "n": n, "tag": f"edit{n}"}
    asked["gestures"] = [{"writes": list(writes)}]
    answer = site.client.put("/drafts/refund-approval/ops", json=asked, headers={"authorization": f"Bearer {person.token}"})
    assert "item" in answer.json(), answer.text


def _write(folder: Path, *documents: Document) -> None:
    for document in documents:
        (folder / f"{document['id']}.json").write_text(json.dumps(document, indent=2))


def _wide() -> Document:
    """Chains, and a node at the end of one with a long name and a long text."""
    made = {**many("wide", 2_000), "name": "Wide"}
    nodes = {name: {**node, "type": "transform", "with": {"value": name}} for name, node in made["nodes"].items()}
    nodes["n0"] = {"type": "manual", "label": "The entry of a workflow that is far wider than any screen can show at once"}
    nodes = {name: node if "after" in node or name == "n0" else {**node, "after": "n0"} for name, node in nodes.items()}
    nodes["n80"]["with"]["value"] = "long " * 400
    return {**made, "nodes": nodes, "max_steps": 20_000}


def _fill(path: Path, runs: int) -> None:
    """Headers of runs, of which some have long workflows, messages and tags."""
    chance, store, now_ms = random.Random(2), SqliteStore(path), SystemClock().now_ms()
    with store.database.transaction():
        for number in range(runs):
            head = many_runs.head(chance, number, now_ms - 60_000 - int(number * 30 * 86_400_000 / runs))
            meta = json.loads(head.meta)
            if number % 5 == 0:
                meta["tags"] = [*meta.get("tags", []), f"campaign:{LONG}", "eu-central-1", "batch:2026-11"]
                if "error" in meta:
                    meta["error"]["message"] += f", while connecting to https://risk.example.com/v1?c={'0123456789abcdef' * 7}"
                head = head._replace(workflow_id=f"{LONG}-{number % 12 * 5:02}", meta=json.dumps(meta).encode())
            store.create_run(head)
    store.close()
