"""The CDK construct synthesises template.yaml: the same resources, with the code as assets, and what the app adds to them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
CODE = (
    "ApiFunction", "RunnerFunction", "SweeperFunction", "DeadletterFunction", "TriggerFunction", "SandboxFunction",
    "Dependencies", "Engine", "Functions",
)  # fmt: skip


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if os.environ.get("STEPLESS_CDK") != "1":
        pytest.skip("the synthesis takes minutes: `make cdk` runs it")
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed: aws-cdk-lib needs it")
    make = ["make", "-s", "-C", str(ROOT), ".tools/cdk/bin/python"]
    installed = subprocess.run(make, capture_output=True, text=True, check=False)
    if installed.returncode != 0:
        pytest.skip(f"aws-cdk-lib cannot be installed from the package registry: {installed.stderr.strip()[-200:]}")
    build, out = tmp_path_factory.mktemp("build"), tmp_path_factory.mktemp("out")
    for name in CODE:
        (build / name).mkdir()
        (build / name / "app.py").write_text(name)
    silent = {f"JSII_SILENCE_WARNING_{kind}_NODE_VERSION": "1" for kind in ("UNTESTED", "DEPRECATED")}
    environment = {**os.environ, **silent}
    done = subprocess.run(
        [str(ROOT / ".tools/cdk/bin/python"), str(ROOT / "tests/deploy/cdk_app.py"), str(build), str(out)],
        capture_output=True, text=True, timeout=540, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    template = json.loads((out / "Flows.template.json").read_text())
    assets = json.loads((out / "Flows.assets.json").read_text())
    return {"template": template, "assets": assets, **json.loads(done.stdout[done.stdout.rindex('{"refused"') :])}


@pytest.fixture(scope="module")
def source() -> dict[str, Any]:
    return dict(json.loads((ROOT / "layers/cdk/stepless_cdk/template.json").read_text()))


def test_the_stack_has_every_resource_of_the_template_with_its_properties(app: dict[str, Any], source: dict[str, Any]) -> None:
    resources = app["template"]["Resources"]
    for name, resource in source["Resources"].items():
        made = resources[name]
        assert (made["Type"], made.get("Condition")) == (resource["Type"], resource.get("Condition")), name
        assert made.get("DeletionPolicy") == resource.get("DeletionPolicy"), name
        assert set(made["Properties"]) == set(resource["Properties"]), name
    added = {resources[name]["Type"] for name in resources.keys() - source["Resources"].keys()}
    assert added <= {"AWS::S3::Bucket", "AWS::IAM::User", "AWS::IAM::Policy", "AWS::CDK::Metadata"}


def test_the_code_of_every_function_and_layer_is_an_asset(app: dict[str, Any]) -> None:
    keys = {f"{name}.zip" for name in app["assets"]["files"]}
    for name in CODE:
        properties = app["template"]["Resources"][name]["Properties"]
        assert properties.get("Code", properties.get("Content"))["S3Key"] in keys, name
    assert len({json.dumps(each["source"]) for each in app["assets"]["files"].values()}) >= len(CODE)


def test_parameters_are_set_in_the_app(app: dict[str, Any], source: dict[str, Any]) -> None:
    assert not set(app["template"].get("Parameters", {})) & {"RunnerMemory", "EventSources", "RestoredTable"}
    assert app["template"]["Resources"]["RunnerFunction"]["Properties"]["MemorySize"] in (1024, "1024")
    assert app["template"]["Resources"]["RunTable"]["Properties"]["DeletionProtectionEnabled"] is False
    assert set(app["template"]["Outputs"]) >= {"Address", "RunnerName", *source["Outputs"]}


def test_grants_are_policies_of_their_principals(app: dict[str, Any]) -> None:
    policies = [each["Properties"] for each in app["template"]["Resources"].values() if each["Type"] == "AWS::IAM::Policy"]
    actions = {
        key: {action for policy in policies if key in policy for statement in policy["PolicyDocument"]["Statement"]
              for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])}
        for key in ("Users", "Roles")
    }  # fmt: skip
    assert {"execute-api:Invoke", "sqs:SendMessage", "ssm:PutParameter"} <= actions["Users"]
    assert "s3:GetObject*" in actions["Roles"]
    [runner] = [policy["Roles"] for policy in policies if "Roles" in policy]
    assert runner == [{"Ref": "RunnerRole"}]


def test_parameters_that_contradict_each_other_are_refused(app: dict[str, Any]) -> None:
    expected = ("jwt_issuer and", "restored_bucket needs", "shorter than runner_timeout", "make build", "jwt_audience")
    assert len(app["refused"]) == len(expected)
    assert all(part in said for part, said in zip(expected, app["refused"], strict=True))


def test_the_properties_are_the_parameters_of_the_template(source: dict[str, Any]) -> None:
    written = (ROOT / "layers/cdk/stepless_cdk/parameters.py").read_text()
    names = dict(re.findall(r'^    "(\w+)": "(\w+)",$', written, re.MULTILINE))
    assert set(names.values()) == set(source["Parameters"])
    optional = {name for name in names if re.search(rf"^    {name}: NotRequired\[", written, re.MULTILINE)}
    with_default = {name for name, declared in source["Parameters"].items() if "Default" in declared}
    assert {names[name] for name in optional} == with_default
