import subprocess
import sys

import pytest
from pydantic import ValidationError

from stepless.adapters.memory.models import ScriptedModels
from stepless.adapters.process.sandbox import ProcessSandbox
from stepless.model.kind import Kind, Nature
from stepless.nodes import KIND_CODE, KINDS, model_kind_code, sandbox_kind_code
from stepless.nodes.params import Params

LEAST = {
    "webhook": {"path": "/a"}, "schedule": {"rate": "1m"}, "event": {"pattern": {"source": ["a"]}}, "function": {"call": "a.b"},
    "http": {"url": "https://a.example"}, "transform": {"value": None}, "set": {"variables": {"a": 1}},
    "condition": {"cases": {"yes": "1 == 1", "no": "else"}}, "router": {"routes": {"a": "when a"}},
    "loop": {"times": 1, "body": {}}, "parallel": {"branches": 1, "body": {}}, "wait": {"for": "1s"},
    "distributed": {"items": [1], "body": {}},
    "approval": {"message": "Go on?"}, "code": {"code": "def main(args): return 1"}, "workflow": {"workflow": "other"},
    "lambda": {"function": "f"}, "aws": {"service": "sqs", "action": "ListQueues"}, "fail": {"code": "no"},
    "receive": {"message": "m"}, "send": {"message": "m", "to": "run_1"},
}
EXITS = {
    "condition": ("yes", "no"), "router": ("a",), "approval": ("approved", "rejected", "timeout"),
    "callback": ("source", "timeout"), "receive": ("source", "timeout"), "respond": (), "end": (), "fail": (),
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@every_kind
def test_every_kind_stands_in_the_table_under_its_own_name_with_a_summary(kind: Kind) -> None:
    assert KINDS[kind.name] is kind
    assert kind.summary
    assert "\n" not in kind.summary


@every_kind
def test_every_kind_has_the_exits_that_its_parameters_give_it(kind: Kind) -> None:
    exits = kind.exits(kind.params.model_validate(LEAST.get(kind.name, {})))
    assert exits == EXITS.get(kind.name, ("source",))
    assert len(set(exits)) == len(exits)
    assert kind.terminal == (exits == ())


@every_kind
def test_no_kind_takes_a_field_that_it_does_not_know(kind: Kind) -> None:
    assert issubclass(kind.params, Params)
    with pytest.raises(ValidationError, match="surplus"):
        kind.params.model_validate({**LEAST.get(kind.name, {}), "surplus": 1})


@every_kind
def test_every_kind_is_decided_in_exactly_the_way_of_its_nature(kind: Kind) -> None:
    assert (kind.evaluate is not None) == (kind.nature in (Nature.PURE, Nature.ENTRY))
    assert (kind.suspend is not None) == (kind.nature is Nature.PAUSE)
    assert (kind.container is not None) == (kind.nature is Nature.CONTAINER or kind.distributes)


@every_kind
def test_every_part_is_a_field_of_the_document(kind: Kind) -> None:
    fields = {field.alias or name for name, field in kind.params.model_fields.items()}
    assert set(kind.parts) <= fields


@every_kind
def test_every_kind_shows_editors_its_fields_as_documents_write_them(kind: Kind) -> None:
    schema = kind.params.model_json_schema(by_alias=True)
    assert schema["additionalProperties"] is False
    assert not [name for name in schema.get("properties", {}) if name.endswith("_")]


def test_only_effectful_kinds_are_run_and_some_wait_for_what_they_need() -> None:
    effects = {name for name, kind in KINDS.items() if kind.nature is Nature.EFFECT}
    brought = {*model_kind_code(ScriptedModels([])), *sandbox_kind_code(ProcessSandbox())}
    assert brought == {"llm", "router", "code"}
    assert effects - set(KIND_CODE) - brought == {"workflow", "send", "lambda", "aws", "distributed"}  # the store, and a port
    assert set(KIND_CODE) <= effects


@pytest.mark.parametrize(("kind", "written"), [
    ("wait", {"for_": "1s"}), ("end", {"break_": True}), ("webhook", {"path": "/a", "schema_": {}}),
])
def test_a_name_that_only_python_needs_is_unknown_in_documents(kind: str, written: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        KINDS[kind].params.model_validate(written)


@pytest.mark.parametrize(("kind", "params"), [
    ("end", {"halt": "true"}), ("respond", {"status": "200"}), ("loop", {"times": True, "body": {}}), ("wait", {"for": 5}),
])
def test_no_type_is_taken_for_another(kind: str, params: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        KINDS[kind].params.model_validate(params)


def test_the_table_of_kinds_loads_without_an_http_client() -> None:
    told = "import stepless.nodes, sys; print(sorted({'httpx', 'httpcore'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
