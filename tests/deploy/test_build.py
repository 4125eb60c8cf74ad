"""What is built of template.yaml: its transform, its packages, and how each function starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sam_template import FUNCTIONS, ROOT, transformed

pytestmark = pytest.mark.long



@pytest.fixture(scope="module")
def sam() -> None:
    installed = subprocess.run(["make", "-s", "-C", str(ROOT), ".tools/sam/bin/sam"], capture_output=True, text=True, check=False)
    if installed.returncode != 0:
        said = installed.stderr.strip()[-200:]
        pytest.skip(f"AWS SAM is not here, and cannot be installed from the package registry: {said}")


@pytest.mark.usefixtures("sam")
@pytest.mark.parametrize("deployment", ["AllAtOnce", "Linear10PercentEvery1Minute"])
def test_a_gradual_deployment_goes_back_when_an_alarm_is_raised(template: dict[str, Any], deployment: str) -> None:
    """The emulator has no CodeDeploy: this is what AWS would be given."""
    resources = transformed(f"Deployment={deployment}")
    groups = {name: each["Properties"] for name, each in resources.items() if each["Type"] == "AWS::CodeDeploy::DeploymentGroup"}
    gradual = deployment != "AllAtOnce"
    assert sorted(groups) == (sorted(f"{name}FunctionDeploymentGroup" for name in FUNCTIONS) if gradual else [])
    for group in groups.values():
        assert group["DeploymentConfigName"]["Fn::Sub"][1] == {"ConfigName": deployment}
        assert {"DEPLOYMENT_STOP_ON_ALARM", "DEPLOYMENT_FAILURE"} <= set(group["AutoRollbackConfiguration"]["Events"])
        alarms = [alarm["Name"]["Ref"] for alarm in group["AlarmConfiguration"]["Alarms"]]
        assert {resources[name]["Type"] for name in alarms} == {"AWS::CloudWatch::Alarm"}
        assert {"ApiErrorAlarm", "RunnerErrorAlarm", "DeadLetterAlarm", "DueAgeAlarm"} <= set(alarms)
        assert len(alarms) <= 10  # the most that CodeDeploy watches
    for name in FUNCTIONS:
        alias = resources[f"{name}FunctionAliaslive"]
        assert ("CodeDeployLambdaAliasUpdate" in alias.get("UpdatePolicy", {})) is gradual
        version = resources[alias["Properties"]["FunctionVersion"]["Fn::GetAtt"][0]]
        assert version["Properties"] == {"Description": {"Ref": "Release"}, "FunctionName": {"Ref": f"{name}Function"}}
    mappings = [each["Properties"] for each in resources.values() if each["Type"] == "AWS::Lambda::EventSourceMapping"]
    assert all(str(mapping["FunctionName"]["Ref"]).endswith("FunctionAliaslive") for mapping in mappings)
    table = template["Mappings"]["Gradual"]
    assert list(table) == template["Parameters"]["Deployment"]["AllowedValues"]
    assert {name for name, row in table.items() if row["Enabled"] == "false"} == {"AllAtOnce"}


def test_the_sandbox_starts_with_the_standard_library_alone() -> None:
    code = "import sys, app; print(*sorted({'boto3', 'pydantic', 'orjson', 'aws_lambda_powertools'} & set(sys.modules)))"
    command = [sys.executable, "-c", code]
    variables = {"PYTHONPATH": str(ROOT / "engine")}
    done = subprocess.run(command, cwd=ROOT / "functions/sandbox", env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_the_runner_starts_without_the_web_framework() -> None:
    unwanted = {"fastapi", "starlette", "mangum", "aws_xray_sdk", "stepless.api"}
    code = f"import sys, app; print(*sorted({unwanted!r} & set(sys.modules)))"
    names = "TABLE QUEUE_URL BUCKET SCHEDULE_GROUP SCHEDULE_ROLE_ARN SCHEDULE_TARGET_ARN SCHEDULE_DEAD_LETTER_ARN SECRETS_PREFIX"
    names += " CALENDAR_GROUP CALENDAR_ROLE_ARN TRIGGER_QUEUE_ARN TRIGGER_DEAD_LETTER_ARN"
    settings = {f"STEPLESS_{name}": "x" for name in names.split()}
    variables = {**settings, "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1", "PYTHONPATH": str(ROOT / "engine")}
    for name in ("runner", "sweeper", "deadletter", "trigger"):
        folder = ROOT / "functions" / name
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_the_engine_is_built_with_bytecode_that_is_used_as_it_is(tmp_path: Path) -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    arguments = ["build-Engine", f"ARTIFACTS_DIR={tmp_path}", f"LAMBDA_PYTHON={version}"]
    done = subprocess.run(["make", "-s", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sources = list(tmp_path.rglob("*.py"))
    compiled = list(tmp_path.rglob(f"*.cpython-{version.replace('.', '')}.pyc"))
    assert len(sources) == len(compiled) > 100
    unchecked = b"\x01\x00\x00\x00"  # PEP 552: by hash, which nobody checks; a zip changes the times of files
    assert {path.read_bytes()[4:8] for path in compiled} == {unchecked}


@pytest.mark.usefixtures("sam")
def test_the_linters_of_the_template_find_nothing() -> None:
    """`make check-template`: before the transform and after, since neither alone sees every dangling reference."""
    done = subprocess.run(["make", "-s", "-C", str(ROOT), "check-template"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
