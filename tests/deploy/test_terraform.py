"""The Terraform module is template.yaml: every resource, property, permission, environment variable and parameter, both ways."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import hcl2
import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
GENERATOR = "infrastructure/terraform/generate.py"
GENERATED = ("main.tf", "variables.tf", "outputs.tf")
TERRAFORM = shutil.which("terraform")
ABSENT = "terraform is not installed"
ENVIRONMENT = {**os.environ, "AWS_DEFAULT_REGION": "us-east-1", "CHECKPOINT_DISABLE": "1"}
INTRINSIC = ("Ref", "Condition")


def run(*command: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def python() -> str:
    """The interpreter with the transform of SAM."""
    made = run("make", "--no-print-directory", ".tools/sam/bin/sam")
    assert made.returncode == 0, made.stderr
    return str(ROOT / ".tools/sam/bin/python")


@pytest.fixture(scope="module")
def template(python: str) -> dict[str, Any]:
    done = run(python, "tests/deploy/transform.py", "template.yaml")
    assert done.returncode == 0, done.stderr
    made: dict[str, Any] = json.loads(done.stdout)
    del made["Parameters"]["Deployment"]  # only CloudFormation moves an alias gradually
    return made


@pytest.fixture(scope="module")
def folder(python: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The module as `make terraform` generates it, in a folder of its own."""
    made = tmp_path_factory.mktemp("module")
    done = run(python, GENERATOR, "--module", str(made))
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="module")
def module(folder: Path) -> dict[str, Any]:
    """Every file of the module, as python-hcl2 reads it: blocks by name."""
    found: dict[str, Any] = {"resource": {}, "variable": {}, "output": {}, "locals": {}}
    for path in sorted(folder.glob("*.tf")):
        read = hcl2.loads(path.read_text("utf-8"))
        for block in read.get("resource", []):
            [(kind, named)] = block.items()
            found["resource"] |= {(plain(kind), plain(name)): body for name, body in named.items()}
        for name in ("variable", "output"):
            found[name] |= {plain(key): body for block in read.get(name, []) for key, body in block.items()}
        for block in read.get("locals", []):
            found["locals"] |= block
    return found


def plain(name: str) -> str:
    return name.strip('"')


def snake(name: str) -> str:
    """Written anew here: the generator's own would hide its mistakes."""
    words = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+[0-9]*", name)
    return "_".join(word.lower() for word in words)


def resources_of(template: Mapping[str, Any]) -> dict[tuple[str, str], Mapping[str, Any]]:
    found = {}
    for logical, resource in template["Resources"].items():
        name = re.sub(r"[0-9a-f]{10}$", "", logical) if resource["Type"] == "AWS::Lambda::LayerVersion" else logical
        _, service, kind = resource["Type"].split("::")
        found[f"awscc_{service.lower()}_{snake(kind)}", snake(name)] = resource
    return found


def texts(value: Any) -> str:
    """A block or a value as one text, so that expressions and literals are found alike."""
    return json.dumps(value, default=str).replace('\\"', '"')


def test_the_construct_belongs_to_the_template(python: str) -> None:
    done = run(python, GENERATOR, "--check")
    assert done.returncode == 0, done.stderr


def test_the_module_has_the_generated_files_and_those_written_by_hand(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == {*GENERATED, "code.tf", "versions.tf"}


def test_no_generated_file_of_the_module_is_committed() -> None:
    done = run("git", "check-ignore", *(f"infrastructure/terraform/{name}" for name in (*GENERATED, "code.tf")))
    assert done.stdout.split() == [f"infrastructure/terraform/{name}" for name in GENERATED], done.stderr


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """A copy of the project in which the template has changed since the files were generated."""
    for name in ("infrastructure/terraform", "infrastructure/cdk"):
        shutil.copytree(ROOT / name, tmp_path / name)
    text = (ROOT / "template.yaml").read_text()
    assert "MemorySize: 256" in text
    (tmp_path / "template.yaml").write_text(text.replace("MemorySize: 256", "MemorySize: 300", 1))
    return tmp_path


def test_a_changed_template_is_noticed(python: str, changed: Path, folder: Path) -> None:
    shutil.copy(folder / "main.tf", changed / "infrastructure/terraform")
    done = run(python, str(changed / GENERATOR), "--check")
    assert done.returncode == 1
    for name in ("terraform/main.tf", "cdk/stepless_cdk/template.json"):
        assert f"infrastructure/{name} does not belong to template.yaml" in done.stderr


def test_the_generator_brings_every_file_up_to_date(python: str, changed: Path) -> None:
    for arguments in ((), ("--check",)):
        done = run(python, str(changed / GENERATOR), *arguments)
        assert done.returncode == 0, done.stderr
    assert all((changed / "infrastructure/terraform" / name).is_file() for name in GENERATED)


@pytest.mark.skipif(TERRAFORM is None, reason=ABSENT)
def test_terraform_reads_the_module_and_would_not_format_it_otherwise(folder: Path) -> None:
    done = run(str(TERRAFORM), "fmt", "-check", "-diff", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_resource_with_its_properties(template: dict[str, Any], module: dict[str, Any]) -> None:
    wanted = resources_of(template)
    own = {("terraform_data", "rules"), ("aws_s3_object", "code")}
    assert set(module["resource"]) == {*wanted, *own}
    for key, resource in wanted.items():
        body = {name for name in module["resource"][key] if not name.startswith("__")} - {"tags", "user_pool_tags"}
        extra = {"count"} if "Condition" in resource else set()
        extra |= {"lifecycle"} if retained(resource) or replaced(resource) else set()
        assert body == {snake(name) for name in resource["Properties"]} - {"tags"} | extra, key


def retained(resource: Mapping[str, Any]) -> bool:
    return resource.get("DeletionPolicy") == "Retain" and not replaced(resource)


def replaced(resource: Mapping[str, Any]) -> bool:
    """Whether every release has another one: of the same name here, of another id in SAM's stack."""
    return resource["Type"] in ("AWS::Lambda::LayerVersion", "AWS::Lambda::Version")


def test_only_data_is_protected_from_replacement(template: dict[str, Any], module: dict[str, Any]) -> None:
    for key, resource in resources_of(template).items():
        lifecycle = texts(module["resource"][key].get("lifecycle", {}))
        assert ("prevent_destroy" in lifecycle) == retained(resource), key
        assert ("create_before_destroy" in lifecycle) == replaced(resource), key


def test_every_change_of_code_or_parameters_publishes_versions(template: dict[str, Any], module: dict[str, Any]) -> None:
    versions = [body for (kind, _), body in module["resource"].items() if kind == "awscc_lambda_version"]
    assert len(versions) == 7 and all(each["description"] == "${local.release}" for each in versions)
    assert set(re.findall(r"var\.(\w+)", module["locals"]["given"])) == {snake(name) for name in template["Parameters"]}
    written = (ROOT / "infrastructure/terraform/code.tf").read_text("utf-8")
    assert "jsonencode([local.given, local.contents])" in written and "=> code.output_sha256" in written


def test_conditional_resources_have_the_same_condition(template: dict[str, Any], module: dict[str, Any]) -> None:
    for key, resource in resources_of(template).items():
        if "Condition" in resource:
            assert module["resource"][key]["count"].strip("${}") == f"local.{snake(resource['Condition'])} ? 1 : 0"


def test_every_condition_is_a_local(template: dict[str, Any], module: dict[str, Any]) -> None:
    own = {"artifacts", "folders", "given", "contents", "made", "release", "stack_id"}
    locals_ = {name for name in module["locals"] if not name.startswith("__")}
    assert locals_ - own == {snake(name) for name in template["Conditions"]}


def statements_of(value: Any) -> Iterator[tuple[str, ...]]:
    """Every statement in a policy: its effect and its actions, in order."""
    if isinstance(value, Mapping):
        if "Action" in value and "Effect" in value:
            actions = value["Action"] if isinstance(value["Action"], list) else [value["Action"]]
            yield (value["Effect"], *actions)
        for inner in value.values():
            yield from statements_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from statements_of(inner)


def written_statements(body: Any) -> Iterator[tuple[str, ...]]:
    pattern = r'"?Effect"?\s*[:=]\s*"(\w+)",\s*(?:"?Principal"?\s*[:=]\s*\{[^{}]*\},\s*)?"?Action"?\s*[:=]\s*(\[[^\]]*\]|"[^"]*")'
    for effect, actions in re.findall(pattern, re.sub(r"\\+", "", texts(body)).replace("'", '"')):
        yield (effect, *re.findall(r'"([^"]+)"', actions))


def test_every_permission_of_every_role(template: dict[str, Any], module: dict[str, Any]) -> None:
    found = 0
    for key, resource in resources_of(template).items():
        wanted = Counter(statements_of(resource["Properties"]))
        assert Counter(written_statements(module["resource"][key])) == wanted, key
        found += wanted.total()
    assert found > 40


def test_every_environment_variable_of_every_function(template: dict[str, Any], module: dict[str, Any]) -> None:
    for key, resource in resources_of(template).items():
        if key[0] == "awscc_lambda_function":
            written = texts(module["resource"][key]["environment"])
            names = set(re.findall(r"\b((?:STEPLESS|POWERTOOLS|[A-Z]+)_[A-Z_]+)\b", written))
            assert names == set(resource["Properties"]["Environment"]["Variables"]), key


def test_every_parameter_with_its_default_and_its_values(template: dict[str, Any], module: dict[str, Any]) -> None:
    variables = module["variable"]
    assert set(variables) == {snake(name) for name in template["Parameters"]} | {"stack_name", "build", "code_bucket", "tags"}
    for name, declared in template["Parameters"].items():
        variable = variables[snake(name)]
        assert ("default" in variable) == ("Default" in declared), name
        if declared["Type"] == "CommaDelimitedList":
            assert [plain(each) for each in variable["default"]] == [each for each in declared["Default"].split(",") if each]
        elif "Default" in declared:
            assert plain(str(variable["default"])).replace("\\\\", "\\") == str(declared["Default"]), name
        assert ("sensitive" in variable) == bool(declared.get("NoEcho")), name
        for value in declared.get("AllowedValues", ()):
            assert str(value) in texts(variable["validation"]), name
        bounds = [key for key in ("AllowedValues", "AllowedPattern", "MinValue", "MaxValue") if key in declared]
        assert len(variable.get("validation", ())) == len(bounds), name


def test_every_output(template: dict[str, Any], module: dict[str, Any]) -> None:
    assert set(module["output"]) == {snake(name) for name in template["Outputs"]}


def test_every_reference_is_to_something_that_exists(folder: Path, module: dict[str, Any]) -> None:
    written = "\n".join(path.read_text("utf-8") for path in folder.glob("*.tf"))
    for kind, name in re.findall(r"\b(awscc_\w+)\.(\w+)", written):
        assert (kind, name) in module["resource"]
    assert set(re.findall(r"\bvar\.(\w+)", written)) <= set(module["variable"])
    assert set(re.findall(r"\blocal\.(\w+)", written)) <= set(module["locals"])


# -- the conditions and rules, evaluated by Terraform itself: they need no provider ------------------------------------


@pytest.fixture(scope="module")
def logic(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A module with the variables, the conditions and the rules only."""
    only = tmp_path_factory.mktemp("logic")
    main = (folder / "main.tf").read_text("utf-8")
    end = main.index("\n}\n", main.index('resource "terraform_data" "rules"')) + 3
    stack = 'variable "stack_name" {\n  type    = string\n  default = "stepless"\n}\n'
    conditions = "local.with_default_timeout, local.with_events, local.with_jwt, local.with_pool"
    shown = f'output "conditions" {{\n  value = {{ a = [{conditions}] }}\n}}\n'
    (only / "main.tf").write_text(main[:end] + stack + shown)
    shutil.copy(folder / "variables.tf", only)
    done = run(str(TERRAFORM), "init", "-no-color", folder=only)
    assert done.returncode == 0, done.stdout + done.stderr
    return only


def planned(logic: Path, **given: Any) -> subprocess.CompletedProcess[str]:
    needed = {"secrets_source": "ssm", "restored_table": "", "restored_bucket": "", "restored_signing_keys": ""}
    (logic / "given.auto.tfvars.json").write_text(json.dumps(needed | given))
    return run(str(TERRAFORM), "plan", "-no-color", "-input=false", folder=logic)


@pytest.mark.skipif(TERRAFORM is None, reason=ABSENT)
@pytest.mark.parametrize(("given", "conditions"), [
    ({}, [True, False, False, False]),
    ({"runner_timeout": 300, "event_sources": ["shop"]}, [False, True, False, False]),
    ({"auth": "jwt", "jwt_issuer": "https://i", "jwt_audience": ["a"]}, [True, False, True, False]),
    ({"auth": "jwt", "console": "yes", "with_cognito": "yes"}, [True, False, True, True]),
])
def test_conditions_have_the_values_that_cloudformation_gives_them(
    logic: Path, given: dict[str, Any], conditions: list[bool]
) -> None:
    done = planned(logic, **given)
    assert done.returncode == 0, done.stdout + done.stderr
    shown = re.findall(r"\b(true|false)\b", done.stdout[done.stdout.index("conditions") :])
    assert [each == "true" for each in shown] == conditions


@pytest.mark.skipif(TERRAFORM is None, reason=ABSENT)
@pytest.mark.parametrize(("given", "complaint"), [
    ({"auth": "jwt"}, "needs JwtIssuer"),
    ({"with_cognito": "yes"}, "WithCognito yes needs Auth jwt"),
    ({"auth": "jwt", "console": "yes", "with_cognito": "yes", "jwt_audience": ["a"]}, "leave JwtAudience empty"),
    ({"restored_bucket": "b"}, "RestoredBucket needs RestoredTable"),
    ({"runner_timeout": 300, "queue_visibility": "100"}, "QueueVisibility is shorter"),
    ({"runner_timeout": 9}, "runner_timeout is less than 10"),
    ({"auth": "none"}, "auth is not one of the allowed values"),
    ({"queue_visibility": "34"}, "does not have the required form"),
])
def test_what_the_template_refuses_is_refused(logic: Path, given: dict[str, Any], complaint: str) -> None:
    done = planned(logic, **given)
    assert done.returncode == 1 and complaint in " ".join((done.stdout + done.stderr).split()), done.stdout + done.stderr
