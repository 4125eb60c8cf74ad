"""Publishing: a version, or every reason to refuse it, and nothing in between."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stepless.adapters.memory.store import MemoryStore
from stepless.compile import content_hash
from stepless.errors import Conflict, DocumentRefused, NotFound
from stepless.model.findings import Severity
from stepless.model.stored.document import CONTAINER_POLICIES, DISABLED_EXIT, decode_document, encode_document, read_stored
from stepless.model.work import NodeFailure
from stepless.runtime.triggers.webhooks import HookRequest
from stepless.runtime.verbs.publication.publishing import publish


def hooks(identity: str, *paths: str) -> dict[str, Any]:
    nodes = {f"h{i}": {"type": "webhook", "with": {"path": path, "auth": "none"}} for i, path in enumerate(paths)}
    return {"id": identity, "nodes": nodes}


def listens(machine: Any, path: str) -> str | None:
    try:
        hooked = machine.service.trigger(HookRequest(path, "POST", {}, {}, b"{}"))
    except NotFound:
        return None
    return str(hooked.started.workflow_id)


def test_the_same_content_again_is_the_same_version(machine: Any) -> None:
    first = machine.service.publish(hooks("one", "/a"))
    assert machine.service.publish(hooks("one", "/a")).version == first.version
    assert machine.service.publish(hooks("one", "/a", "/b")).version.number == 2


def test_another_source_of_the_same_nodes_is_the_same_version(machine: Any) -> None:
    def made(comment: str, line: int) -> dict[str, Any]:
        nodes = {"s": {"type": "manual", "at": [line, line]}}
        return {"id": "one", "made_by": {"language": "python", "source": f"# {comment}"}, "nodes": nodes}

    first = machine.service.publish(made("first", 2))
    again = machine.service.publish(made("second", 3))
    assert (again.new, again.version.hash) == (False, first.version.hash)
    assert decode_document(machine.store.get_version("one").document) == made("first", 2)


RETRIED = {
    "id": "small", "nodes": {"l": {
        "type": "loop", "retry": {"attempts": 2, "backoff_ms": 60_000}, "timeout_ms": 600_000,
        "with": {"times": 1, "body": {"nodes": {"w": {"type": "function", "with": {"call": "test.work"}}}}},
    }},
}  # fmt: skip


def failing(machine: Any) -> str:
    """How a run of it ends that fails at once."""

    async def behaviour(call: Any) -> str:
        raise NodeFailure("provider_error", "down", "it is down")

    machine.behaviours["w"] = behaviour
    run_id = machine.service.start("small", {}).run_id
    machine.drain()
    return "retried" if "node.retried l" in machine.types(run_id) else "failed"


def test_a_version_of_an_earlier_release_keeps_its_meaning_and_publishing_it_again_says_so(machine: Any) -> None:
    """Its `retry` and `timeout_ms` of a loop had no effect."""
    version = content_hash(RETRIED)
    machine.store.put_version("small", version, encode_document(RETRIED, ()), 1, [])
    assert failing(machine) == "failed"
    published = machine.service.publish(RETRIED)
    assert (published.new, published.version.hash) == (False, version)
    (warning,) = published.warnings
    assert (warning.code, warning.path, warning.severity) == ("idle_setting", "nodes.l", Severity.WARNING)
    changed = machine.service.publish({**RETRIED, "description": "with a retry"})
    assert (changed.new, changed.warnings) == (True, ())
    assert failing(machine) == "retried"


def test_what_the_release_before_would_misread_is_stored_so_that_it_rests_there(machine: Any) -> None:
    choice = {"type": "condition", "with": {"cases": {"yes": "true", "no": "else"}}, "enabled": {"exit": "no"}}
    for document, feature in ((RETRIED, CONTAINER_POLICIES), ({"id": "small", "nodes": {"c": choice}}, DISABLED_EXIT)):
        stored = machine.service.publish(document).version.document
        assert read_stored(stored).features == {feature}
        assert decode_document(stored) == document
    plain = {"id": "small", "nodes": {"l": {**RETRIED["nodes"]["l"], "retry": {"attempts": 1}}}}
    del plain["nodes"]["l"]["timeout_ms"]
    assert read_stored(machine.service.publish(plain).version.document).features == set(), "the release before runs it alike"


def test_a_version_of_an_earlier_release_with_settings_that_are_refused_now_runs(machine: Any) -> None:
    nodes = {
        "w": {"type": "wait", "with": {"for": "1h"}, "retry": {"attempts": 2}, "timeout_ms": 5, "moderation": "both"},
        "c": {"type": "condition", "after": "w", "with": {"cases": {"yes": "true", "no": "else"}}, "enabled": False},
        "y": {"type": "join", "after": "c.yes"},
        "n": {"type": "join", "after": "c.no"},
    }
    document = {"id": "small", "nodes": nodes}
    with pytest.raises(DocumentRefused) as refused:
        machine.service.publish(document)
    assert {finding.path for finding in refused.value.findings} == {
        "nodes.w.retry", "nodes.w.timeout_ms", "nodes.w.moderation", "nodes.c.enabled",
    }  # fmt: skip
    machine.store.put_version("small", content_hash(document), encode_document(document, ()), 1, [])
    run_id = machine.service.start("small", {}).run_id
    machine.drain()
    view = machine.view(run_id)
    assert (view.status, view.nodes["y"].status, view.nodes["n"].status) == ("completed", "completed", "skipped")


def test_a_foreign_webhook_path_refuses_everything(machine: Any) -> None:
    machine.service.publish(hooks("one", "/taken"))
    with pytest.raises(Conflict) as told:
        machine.service.publish(hooks("two", "/free", "/taken", "/also-free"))
    assert told.value.facts["owner"] == "one"
    assert machine.store.get_version("two") is None
    machine.service.publish(hooks("three", "/free", "/also-free"))
    assert [listens(machine, path) for path in ("/taken", "/free", "/also-free")] == ["one", "three", "three"]


def test_a_refused_publication_takes_no_path_from_its_own_former_version(machine: Any) -> None:
    machine.service.publish(hooks("one", "/mine"))
    machine.service.publish(hooks("two", "/theirs"))
    with pytest.raises(Conflict):
        machine.service.publish(hooks("one", "/mine", "/theirs"))
    assert (listens(machine, "/mine"), listens(machine, "/theirs")) == ("one", "two")


def test_a_path_that_a_version_drops_is_free_again(machine: Any) -> None:
    machine.service.publish(hooks("one", "/a", "/b"))
    machine.service.publish(hooks("one", "/b"))
    machine.service.publish(hooks("two", "/a"))
    assert (listens(machine, "/a"), listens(machine, "/b")) == ("two", "one")


def test_a_document_with_faults_stores_nothing(machine: Any) -> None:
    document = hooks("one", "/a")
    document["nodes"]["x"] = {"type": "function", "after": "nobody", "with": {"call": "test.echo"}}
    with pytest.raises(DocumentRefused):
        machine.service.publish(document)
    assert machine.store.get_version("one") is None
    assert listens(machine, "/a") is None


def test_a_run_keeps_the_version_that_it_started_with(machine: Any) -> None:
    def says(word: str) -> dict[str, Any]:
        wait = {"type": "wait", "with": {"for": "1h"}}
        return {"id": "small", "nodes": {"w": wait, "t": {"type": "transform", "after": "w", "with": {"value": word}}}}

    machine.service.publish(says("old"))
    run_id = machine.service.start("small", {}).run_id
    for _ in range(2):
        machine.step()
    machine.service.publish(says("new"))
    machine.runner = machine.process()
    machine.drain()
    assert machine.view(run_id).outputs == {"t": "old"}


def test_a_kind_without_code_is_found_where_it_stands(machine: Any) -> None:
    inner = {"nodes": {"ask": {"type": "llm", "with": {"prompt": "x"}}}}
    outer = {"nodes": {"again": {"type": "loop", "with": {"times": 2, "body": inner}}}}
    nodes = {"led": {"type": "manual"}, "each": {"type": "loop", "after": "led", "with": {"times": 2, "body": outer}}}
    with pytest.raises(DocumentRefused) as refused:
        machine.service.publish({"id": "one", "nodes": nodes})
    (finding,) = refused.value.findings
    assert (finding.code, finding.node) == ("kind_without_code", "ask")
    assert finding.path == "nodes.each.with.body.nodes.again.with.body.nodes.ask.type"


def test_an_unknown_workflow_is_told_with_the_nearest_id(machine: Any) -> None:
    machine.service.publish(hooks("hello", "/a"))
    for name, mend in (("helo", "Did you mean `hello`?"), ("payments", "publish it, or look at the list")):
        with pytest.raises(NotFound) as told:
            machine.service.start(name, {})
        assert (told.value.code, told.value.mend) == ("unknown_workflow", mend)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_publication_that_dies_at_any_call_leaves_no_path_behind_once_it_is_repeated(machine: Any, after: bool) -> None:
    machine.faults.after = after
    for deaths in range(1, 40):
        one, two = f"one{deaths}", f"two{deaths}"
        dropped, kept = f"/dropped{deaths}", f"/kept{deaths}"
        machine.service.publish(hooks(one, dropped, kept))
        dying = replace(machine.world, store=machine.faults.before(machine.store))
        machine.faults.at = machine.faults.calls + deaths
        try:
            publish(dying, hooks(one, kept))
            break
        except type(machine.faults.error):
            machine.service.publish(hooks(one, kept))
        machine.service.publish(hooks(two, dropped))
        assert (listens(machine, dropped), listens(machine, kept)) == (two, one)
    assert 5 < deaths < 39


def test_a_path_that_another_publication_brings_back_meanwhile_is_not_taken_from_it(machine: Any) -> None:
    first, second = hooks("one", "/a"), hooks("one", "/b")
    machine.service.publish(first)

    class Overtaken(MemoryStore):
        """Another process rolls back right before this one gives back what it has dropped."""

        def release_claim(self, key: str, value: bytes) -> bool:
            if not overtook:
                overtook.append(machine.service.publish(first).version.number)
            return bool(machine.store.release_claim(key, value))

        def __getattribute__(self, name: str) -> Any:
            return super().__getattribute__(name) if name == "release_claim" else getattr(machine.store, name)

    overtook: list[int] = []
    publish(replace(machine.world, store=Overtaken()), second)
    assert overtook == [3]
    assert (listens(machine, "/a"), listens(machine, "/b")) == ("one", None)


def test_a_deployment_refuses_every_node_whose_attempt_does_not_fit_into_its_invocations(machine: Any) -> None:
    """Wherever it is nested; what is disabled or pauses takes no time of an invocation."""
    call = {"type": "function", "with": {"call": "test.echo"}}
    inner = {"nodes": {"deep": {**call, "timeout_ms": 112_001}}}
    document = {"id": "long", "nodes": {
        "fits": {**call, "timeout_ms": 112_000},
        "long": {**call, "timeout_ms": 300_000},
        "off": {**call, "timeout_ms": 300_000, "enabled": False},
        "ask": {"type": "approval", "with": {"message": "?", "timeout": "3d"}},
        "turns": {"type": "loop", "with": {"times": 2, "body": inner}},
    }}  # fmt: skip
    with pytest.raises(DocumentRefused) as refused:
        publish(replace(machine.world, runner_timeout_s=120), document)
    found = [(finding.code, finding.path) for finding in refused.value.findings]
    assert found == [
        ("timeout_too_long", "nodes.long.timeout_ms"), ("timeout_too_long", "nodes.turns.with.body.nodes.deep.timeout_ms"),
    ]  # fmt: skip
    assert publish(replace(machine.world, runner_timeout_s=320), document).new
    assert publish(machine.world, {**document, "id": "local"}).new, "no invocation of a process of its own is killed"
