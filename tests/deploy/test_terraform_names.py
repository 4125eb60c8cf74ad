"""Every name that the Terraform module gives or reads is an attribute of the provider `awscc`.

The provider is generated from the schemas of CloudFormation's resource types, which cfn-lint brings: an attribute is a property
in snake case, a property without a declared form is a text of JSON.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "AWS_DEFAULT_REGION": "us-east-1"}
GENERATOR = "infrastructure/terraform/generate.py"
OWN = {"count", "create_before_destroy", "prevent_destroy"}  # arguments of Terraform's, in any resource


def run(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python() -> str:
    """The interpreter with cfn-lint."""
    run("make", "--no-print-directory", ".tools/sam/bin/sam")
    return str(ROOT / ".tools/sam/bin/python")


@pytest.fixture(scope="module")
def folder(python: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The module as `make terraform` generates it, in a folder of its own."""
    made = tmp_path_factory.mktemp("module")
    run(python, GENERATOR, "--module", str(made))
    return made


@pytest.fixture(scope="module")
def blocks(folder: Path) -> dict[tuple[str, str], str]:
    """The text of every resource of awscc: by its type and its name."""
    written = (folder / "main.tf").read_text("utf-8")
    found = re.findall(r'^resource "(awscc_\w+)" "(\w+)" \{\n(.*?)^\}$', written, re.MULTILINE | re.DOTALL)
    return {(kind, name): body for kind, name, body in found}


@pytest.fixture(scope="module")
def resources() -> list[dict[str, Any]]:
    template = json.loads((ROOT / "infrastructure/cdk/stepless_cdk/template.json").read_text("utf-8"))  # the same resources
    return list(template["Resources"].values())


@pytest.fixture(scope="module")
def schemas(python: str, resources: list[dict[str, Any]]) -> dict[str, Any]:
    return dict(json.loads(run(python, "tests/deploy/schemas.py", *sorted({each["Type"] for each in resources}))))


def attribute(name: str) -> str:
    """A property's name in awscc: words begin at capitals, and at changes from letters to digits and back. (Not after a capital
    that a digit follows: S3.) The rule of the provider, written anew here: the generator's own would hide its mistakes."""
    return "_".join(re.findall(r"[A-Z]+[0-9]+|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+", name)).lower()


def resource_type(kind: str) -> str:
    _, service, name = kind.split("::")
    return f"awscc_{service.lower()}_{attribute(name)}"


def resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema:
        found: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = found
    return schema


def forms(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A schema and its alternatives."""
    schema = resolved(schema, root)
    yield schema
    for word in ("anyOf", "oneOf", "allOf"):
        for each in schema.get(word, ()):
            yield from forms(each, root)


def properties(schema: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    return {name: each for form in forms(schema, root) for name, each in form.get("properties", {}).items()}


def is_document(schema: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    """Whether an attribute is a text of JSON: an object whose form is not declared, or one of several types (to some of which
    cfn-lint adds a form)."""
    kinds = [form["type"] for form in forms(schema, root) if "type" in form]
    if any(isinstance(kind, list) and len(kind) > 1 for kind in kinds):
        return True
    return "object" in kinds and not any("properties" in form or "patternProperties" in form for form in forms(schema, root))


def every_name(schema: Mapping[str, Any], root: Mapping[str, Any], seen: tuple[int, ...] = ()) -> Iterator[str]:
    for form in forms(schema, root):
        if id(form) in seen:
            continue
        inner = (*seen, id(form))
        for name, each in form.get("properties", {}).items():
            yield attribute(name)
            yield from every_name(each, root, inner)
        for each in (form.get("items"), *form.get("patternProperties", {}).values()):
            if isinstance(each, Mapping):
                yield from every_name(each, root, inner)


def given(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], place: str) -> Iterator[tuple[str, str, bool]]:
    """Every property of a value: where it is, its name, whether it is a document. Reports names that the schema does not have."""
    if isinstance(value, Mapping) and "Fn::If" in value:
        for branch in value["Fn::If"][1:]:
            yield from given(branch, schema, root, place)
    elif isinstance(value, Mapping) and not any(name == "Ref" or name.startswith("Fn::") for name in value):
        known = properties(schema, root)
        if not known:
            return  # a map or a document: its keys are data
        for name, inner in value.items():
            assert name in known, f"{place} has no {name}"
            document = is_document(known[name], root)
            yield f"{place}.{name}", name, document
            if not document:
                yield from given(inner, known[name], root, f"{place}.{name}")
    elif isinstance(value, list):
        for form in forms(schema, root):
            for each in value:
                if "items" in form:
                    yield from given(each, form["items"], root, place)


def without_documents(body: str) -> str:
    """A resource without the texts of JSON in it, and without what is inside maps: their keys are data."""
    out, rest = "", body
    while (start := re.search(r"jsonencode\(|\bvariables\s+= ", rest)) is not None:
        depth, end = 0, start.start()
        for end in range(start.end() - 1, len(rest)):
            depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(rest[end], 0)
            if depth == 0 and rest[end] in ")}]":
                break
        out, rest = out + rest[: start.end()], rest[end + 1 :]
    return out + rest


def test_the_rule_of_names() -> None:
    names = ("SSESpecification", "KmsMasterKeyId", "S3Bucket", "TimeoutInMillis", "CodeSha256", "CORSConfiguration", "Ipv4Cidr")
    assert [attribute(name) for name in names] == [
        "sse_specification", "kms_master_key_id", "s3_bucket", "timeout_in_millis", "code_sha_256",
        "cors_configuration", "ipv_4_cidr",
    ]  # fmt: skip


def test_every_resource_is_of_a_type_of_the_provider(schemas: dict[str, Any], blocks: dict[tuple[str, str], str]) -> None:
    assert {kind for kind, _ in blocks} == {resource_type(kind) for kind in schemas}


def test_every_property_has_a_name_of_the_schema(
    resources: list[dict[str, Any]], schemas: dict[str, Any], blocks: dict[tuple[str, str], str]
) -> None:
    found = 0
    for resource in resources:
        kind = resource["Type"]
        bodies = [body for (written, _), body in blocks.items() if written == resource_type(kind)]
        for place, name, document in given(resource["Properties"], schemas[kind], schemas[kind], kind):
            pattern = rf"\b{attribute(name)}\s*= " + (r"(?:local\.\w+ \? )?jsonencode\(" if document else "")
            assert any(re.search(pattern, body) for body in bodies), f"{place}: {attribute(name)} {'(JSON)' if document else ''}"
            found += 1
    assert found > 400


def test_every_resource_that_can_have_tags_has_those_of_the_module(
    schemas: dict[str, Any], blocks: dict[tuple[str, str], str]
) -> None:
    tagged = set()
    for kind, schema in schemas.items():
        name = schema.get("tagging", {}).get("tagProperty", "/properties/Tags").rpartition("/")[2]
        declared = schema["properties"].get(name)
        bodies = [body for (written, _), body in blocks.items() if written == resource_type(kind)]
        if declared is None or kind == "AWS::CloudWatch::Dashboard":  # tags that older providers do not have
            assert not any("var.tags" in body for body in bodies), kind
            continue
        form = "[for name, value in var.tags : { key = name, value = value }]" if declared["type"] == "array" else "var.tags"
        form = f"jsonencode({form})" if is_document(declared, schema) else form
        assert all(re.search(rf"^  {attribute(name)}\s*= {re.escape(form)}$", body, re.MULTILINE) for body in bodies), kind
        tagged.add(kind)
    assert len(tagged) > 8


def test_every_argument_is_an_attribute(schemas: dict[str, Any], blocks: dict[tuple[str, str], str]) -> None:
    names = {resource_type(kind): set(every_name(schema, schema)) for kind, schema in schemas.items()}
    found = 0
    for (kind, name), body in blocks.items():
        written = re.findall(r"^\s+([a-z_0-9]+)\s*= ", without_documents(body), re.M)
        assert set(written) <= names[kind] | OWN, f"{kind}.{name}"
        found += len(written)
    assert found > 400


def test_every_attribute_that_is_read_exists(folder: Path, schemas: dict[str, Any]) -> None:
    top = {resource_type(kind): {attribute(name) for name in schema["properties"]} for kind, schema in schemas.items()}
    written = "\n".join(path.read_text("utf-8") for path in folder.glob("*.tf"))
    read = set(re.findall(r"\b(awscc_\w+)\.\w+(?:\[\*\])?\.(\w+)", written))
    # `Id` of a resource type is named after the type: `id` is Terraform's own
    renamed = {("awscc_secretsmanager_secret", "secret_id")}
    assert {(kind, name) for kind, name in read if name not in top[kind]} <= renamed
    assert len(read) > 20


@pytest.mark.parametrize(("right", "wrong"), [("memory_size", "memory"), ("kms_master_key_id", "kms_key")])
def test_a_wrong_name_is_noticed(right: str, wrong: str, schemas: dict[str, Any], blocks: dict[tuple[str, str], str]) -> None:
    changed = {key: re.sub(rf"\b{right}(\s*= )", rf"{wrong}\1", body) for key, body in blocks.items()}
    assert changed != blocks
    with pytest.raises(AssertionError):
        test_every_argument_is_an_attribute(schemas, changed)
