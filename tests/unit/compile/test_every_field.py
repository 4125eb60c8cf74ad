"""No field of a document is accepted and ignored: each is set to a value other than its default, in a document where it applies,
and the compiled graph must differ, or the run for a setting that the graph copies unchanged. The engine must read every field of
the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from field_examples import CHANGES_NOTHING, EXAMPLES, PARTS, examples_of
from plain_graph import plain

from stepless.compile import compile_document, json_schema
from stepless.model import graph
from stepless.nodes import KINDS
from stepless.testing import simulate

ENGINE = Path(__file__).parents[3] / "engine" / "stepless"
SETTINGS = ("RetryDocument", "JoinDocument", "CustomMerge")  # in the graph as they are written, which proves nothing
MISSING = """`{0}.{1}` has no example. Add one to EXAMPLES["{0}"] in field_examples.py (tests/tools): a value other than its
default, with the other fields that put it in force{2}. A field for people alone goes into CHANGES_NOTHING, with the reason."""
COMPILER_READS = {
    "Edge": {"param"},  # the edges of a node are grouped by it: `Node.params`
    "Config": {"expressions"},  # `Container.expression` is one of them
}


JSON_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}


def fields_of(schema: dict[str, Any]) -> Iterator[tuple[tuple[str, str], Any]]:
    """Every field of the document, by the definition that has it, with its own schema."""
    for name, part in {"Document": schema, **schema["$defs"]}.items():
        forms = [part, *part.get("anyOf", ())]
        for field, about in next((form["properties"] for form in forms if "properties" in form), {}).items():
            yield (name, field), about


def forms_of(about: dict[str, Any]) -> set[str]:
    """The JSON types that a field may have."""
    options = [*about.get("anyOf", ()), *about.get("oneOf", ())]
    own = {"object"} if "$ref" in about else {about["type"]} if "type" in about else set()
    return own.union(*map(forms_of, options)) - {"null"}


FIELDS = dict(fields_of(json_schema(KINDS)))
TRIED = [(part, field) for part, field in FIELDS if f"{part}.{field}" not in CHANGES_NOTHING]


def compiled(document: dict[str, Any]) -> Any:
    """The graph without the hash of the document, which every change changes."""
    return plain(compile_document(document, KINDS), ("warnings", "version"))


def course(document: dict[str, Any], script: Any) -> Any:
    """How a run goes, event by event."""
    run = simulate(document, script=script)
    return run.status, run.variables, run.outputs, [(event.type, event.at_ms, event.instance) for event in run.log]


@pytest.mark.parametrize(("part", "field"), TRIED, ids=lambda name: name)
def test_a_field_changes_the_graph_or_the_run(part: str, field: str) -> None:
    assert part in PARTS, f"`{part}` is new. Add to PARTS in tests/tools/releases/field_examples.py where a document has one."
    script = ", and a `script` for a run that goes another way because of it" if part in SETTINGS else ""
    examples = examples_of(part, field)
    assert examples, MISSING.format(part, field, script)
    for example in examples:
        without, with_ = example.documents(PARTS[part], field)
        assert compiled(without) != compiled(with_), f"`{part}.{field}` is accepted, and the compiled graph ignores it"
        if part in SETTINGS:
            assert example.script is not None, MISSING.format(part, field, script)
            ignored = f"`{part}.{field}` is in the graph, and a run goes the same way with {example.value!r}: `core` ignores it"
            assert course(without, example.script) != course(with_, example.script), ignored


@pytest.mark.parametrize(("part", "field"), [(part, field) for part, field in TRIED if "." not in part], ids=lambda name: name)
def test_a_field_of_several_forms_has_an_example_of_each(part: str, field: str) -> None:
    tried = {JSON_TYPES[type(example.value)] for example in examples_of(part, field)}
    wanted = forms_of(FIELDS[part, field])
    assert len(wanted) < 2 or wanted <= tried, f"add to EXAMPLES[{part!r}][{field!r}] an example of type {wanted - tried}"


@pytest.mark.parametrize("name", CHANGES_NOTHING)
def test_a_field_for_people_is_there_and_has_no_example(name: str) -> None:
    part, _, field = name.rpartition(".")
    assert (part, field) in FIELDS, f"`{name}` is gone: remove it from CHANGES_NOTHING"
    assert field not in EXAMPLES[part], f"`{name}` has an example: remove it from CHANGES_NOTHING"


def test_a_description_changes_no_graph() -> None:
    without, with_ = PARTS["Document"].document, {**PARTS["Document"].document, "description": "D"}
    assert compiled(dict(without)) == compiled(with_)


def test_there_is_no_example_of_a_field_that_is_gone() -> None:
    assert {(part, field) for part, examples in EXAMPLES.items() for field in examples} <= set(FIELDS)
    assert {part for part, _ in FIELDS} == set(PARTS)


# -- what the graph and the parameters of a kind have is read ---------------------------------------------------------------


@cache
def reads(*rooms: str) -> set[str]:
    """Every name that the code of these rooms looks up: attributes, keys, and what patterns match."""
    found: set[str] = set()
    for room in rooms:
        for path in (ENGINE / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                match node:
                    case ast.Attribute(attr=name, ctx=ast.Load()):
                        found.add(name)
                    case ast.Subscript(slice=ast.Constant(value=str(name))) | ast.Call(args=[ast.Constant(value=str(name)), *_]):
                        found.add(name)
                    case ast.MatchClass(kwd_attrs=names):
                        found.update(names)
                    case ast.Compare(comparators=[ast.Constant(value=str(name))]) | ast.MatchValue(ast.Constant(str(name))):
                        found.add(name)
                    case ast.Set(elts=items):
                        found.update(str(item.value) for item in items if isinstance(item, ast.Constant))
    return found


PARTS_OF_GRAPH = [part for part in vars(graph).values() if isinstance(part, type) and part.__module__ == graph.__name__]


@pytest.mark.parametrize("part", PARTS_OF_GRAPH, ids=lambda part: part.__name__)
def test_a_field_of_the_graph_is_read_by_the_engine(part: Any) -> None:
    names = {field.name for field in fields(part)} if is_dataclass(part) else set(getattr(part, "_fields", ()))
    ignored = names - reads("core", "runtime", "nodes", "api") - COMPILER_READS.get(part.__name__, set())
    assert ignored == set(), f"nothing reads these fields of `{part.__name__}`: the engine accepts and ignores them"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_parameter_of_a_kind_is_read_by_the_engine(kind: str) -> None:
    read = reads("core", "runtime", "nodes", "compile")
    ignored = [name for name, field in KINDS[kind].params.model_fields.items() if not {name, field.alias} & read]
    assert ignored == [], f"nothing reads these parameters of `{kind}`: the engine accepts and ignores them"
