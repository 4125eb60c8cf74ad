"""`make deploy` against an emulator: asks once, on a terminal; later deployments ask nothing and lose no parameter."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import aws_commands
import pytest
from botocore.exceptions import ClientError
from deploy_project import PATIENCE_S, Project
from dialogue import talk
from emulators import Missing, ministack
from local_cloud import ROOT, ROOT_KEYS

pytestmark = [pytest.mark.long, pytest.mark.story]

STACK = "twice"
BUILD = ROOT / ".aws-sam/build"
CONFIRM = r"Deploy this changeset\? \[y/N\]:"
FIRST = {
    r"Auth \[api-key\]:": "",
    r"ApiKeyHashes \[a key is made and shown\]:": "",
    r"FunctionModules \[hello\]:": "deploy_steps",
    r"AlarmTopic \[none\]:": "",
    CONFIRM: "y",
}
PAGE = (ROOT / "docs/run/operations.md").read_text()
ITEM = {"pk": {"S": "RUN#run_1"}, "sk": {"S": "HEAD"}}
OLD, NEW = (f"sha256:{sha256(key).hexdigest()}" for key in (b"old", b"new"))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    tools = subprocess.run(["make", "-s", ".tools/sam/bin/sam"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tools.returncode != 0:
        pytest.skip(f"AWS SAM is not here, and cannot be installed from the package registry: {tools.stderr.strip()[-200:]}")
    try:
        with ministack(**ROOT_KEYS) as address:
            yield Project(tmp_path_factory.mktemp("project") / "samconfig.toml", address, STACK)
    except Missing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def first(project: Project) -> str:
    """What the first `make deploy` said, on a terminal."""
    command = [*project.command(built=False), f"FUNCTIONS={ROOT / 'tests/deploy/functions'}"]
    variables = project.variables(built=False)
    code, said, asked = talk(command, FIRST, folder=ROOT, variables=variables, seconds=PATIENCE_S)
    assert code == 0, said[-3000:]
    assert asked == list(FIRST) and len(asked) <= 6
    assert (BUILD / "Functions/python/deploy_steps.py").exists()
    for folder in (BUILD / "Dependencies/python").iterdir():
        if folder.is_dir():
            shutil.rmtree(folder)  # nothing is executed here, and each further deployment would upload 25 MB
    return said


def test_the_first_deployment_asks_and_records(project: Project, first: str) -> None:
    found = re.search(r"Your API key, shown once: (\S+)", first)
    assert found is not None
    hashed = f"sha256:{sha256(found[1].encode()).hexdigest()}"
    assert project.settings("api")["STEPLESS_API_KEYS"] == hashed
    assert project.settings("runner")["STEPLESS_MODULES"] == project.parameters()["FunctionModules"] == "deploy_steps"
    assert "CloudFormation stack changeset" in first
    assert hashed not in project.config.read_text()
    recorded = project.recorded()["deploy"]["parameters"]
    data = {"SecretsSource": "ssm", "RestoredTable": "", "RestoredBucket": "", "RestoredSigningKeys": ""}
    assert recorded["parameter_overrides"] == {"FunctionModules": "deploy_steps", **data}
    assert (recorded["stack_name"], recorded["region"]) == (STACK, "us-east-1")
    [stack] = project.service("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
    assert stack["EnableTerminationProtection"] is True


def test_the_second_asks_nothing_and_loses_nothing(project: Project, first: str) -> None:
    before, keys = project.parameters(), project.settings("api")["STEPLESS_API_KEYS"]
    given = "RunnerMemory=1024 CorsOrigins='https://a.example https://b.example'"
    code, said = project.deploy(given, tags="team=flows env=prod")
    assert code == 0, said[-3000:]
    assert f"build check-template FUNCTIONS={ROOT / 'tests/deploy/functions'}" in said
    assert "CloudFormation stack changeset" in said and "[y/N]" not in said and "shown once" not in said
    changed = {"RunnerMemory": "1024", "CorsOrigins": "https://a.example https://b.example"}
    assert project.parameters() == {**before, **changed}
    assert project.settings("api")["STEPLESS_API_KEYS"] == keys
    assert project.tags() == {"team": "flows", "env": "prod"}
    assert project.recorded()["deploy"]["parameters"]["tags"] == ["env=prod", "team=flows"]
    assert project.recorded()["stepless"]["stack"]["functions"] == str(ROOT / "tests/deploy/functions")
    live, release = project.versions(), project.release()
    assert set(live.values()) == {"2"}
    code, said = project.deploy()
    assert code == 0, said[-3000:]
    assert project.parameters() == {**before, **changed}
    assert (project.versions(), project.release()) == (live, release)


def test_an_update_and_going_back_publish_versions_of_every_function_and_lose_no_parameter(project: Project, first: str) -> None:
    """Another engine in what was built stands for the next release, and its absence for the former one."""
    before, live, added = project.parameters(), project.versions(), BUILD / "Engine/python/stepless/next.py"
    settings = project.settings("api")
    for number, deploy in enumerate((added.touch, added.unlink), 1):
        deploy()
        code, said = project.deploy()
        assert code == 0, said[-3000:]
        assert project.versions() == {name: str(int(version) + number) for name, version in live.items()}
        assert (project.parameters(), project.settings("api")) == (before, settings)


def test_keys_are_rotated_as_documented_and_a_changed_line_of_samconfig_is_deployed(project: Project, first: str) -> None:
    """An empty value is the default."""
    section = PAGE.partition("\n## API keys\n")[2].partition("\n## ")[0]
    both, new = (word.replace("$NEW", NEW).replace("$OLD", OLD)
                 for word in re.findall(r"^    make deploy SET=\"(\S+)\"$", section, re.MULTILINE))  # fmt: skip
    project.config.write_text(project.config.read_text().replace('RunnerMemory = "1024"', 'RunnerMemory = "2048"'))
    code, said = project.deploy(both)
    assert (code, project.parameters()["RunnerMemory"]) == (0, "2048"), said[-3000:]
    assert project.settings("api")["STEPLESS_API_KEYS"] == f"{NEW},{OLD}"
    assert project.tags() == {"team": "flows", "env": "prod"}
    code, said = project.deploy(f"{new} RunnerMemory=", tags="env=")
    assert project.tags() == {"team": "flows"} and "env=prod" not in project.config.read_text()
    assert (code, project.parameters()["RunnerMemory"]) == (0, "512"), said[-3000:]
    assert project.settings("api")["STEPLESS_API_KEYS"] == NEW
    assert "RunnerMemory" not in project.config.read_text()


def test_who_says_no_changes_nothing(project: Project, first: str) -> None:
    before, file = project.parameters(), project.config.read_text()
    variables = {**project.variables(built=True), "SET": "LogLevel=DEBUG"}
    code, said, asked = talk(project.command(built=True), {CONFIRM: "n"}, folder=ROOT, variables=variables, seconds=PATIENCE_S)
    assert (code, asked) == (0, [CONFIRM]), said[-3000:]
    assert project.parameters() == before
    project.config.write_text(file)


def test_signing_keys_are_rotated_as_documented_and_survive_deployments(project: Project, first: str) -> None:
    secrets, name = project.service("secretsmanager"), project.outputs()["SigningKeys"]
    before = secrets.get_secret_value(SecretId=name)["SecretString"]
    command = [sys.executable, "-m", "stepless", "keys", "rotate", "--signing", "-"]
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "engine")}
    done = subprocess.run(command, input=before, env=variables, capture_output=True, text=True, check=True)
    rotated = json.loads(done.stdout)
    assert list(rotated.values())[1:] == list(json.loads(before).values())
    secrets.put_secret_value(SecretId=name, SecretString=done.stdout)
    code, said = project.deploy("RunnerTimeout=600")
    assert code == 0, said[-3000:]
    assert json.loads(secrets.get_secret_value(SecretId=project.outputs()["SigningKeys"])["SecretString"]) == rotated
    assert project.settings("api")["STEPLESS_API_KEYS"] == NEW


def test_a_longer_invocation_takes_its_queue_along(project: Project, first: str) -> None:
    """Deployed by the test before."""
    assert project.parameters()["RunnerTimeout"] == "600"
    queue, names = project.outputs()["Queue"], ["VisibilityTimeout"]
    attributes = project.service("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"]
    assert int(attributes["VisibilityTimeout"]) == 960


def test_a_table_is_restored_as_documented_and_only_given_up_on_demand(project: Project, first: str) -> None:
    own = project.outputs()["Table"]
    project.service("dynamodb").put_item(TableName=own, Item=ITEM)
    commands = aws_commands.printed(PAGE, "Restore")
    assert len(commands) == 5
    for command in commands:
        aws_commands.run(command, {"TABLE": own}, project.service)
    described = project.service("dynamodb").describe_table(TableName="stepless-restored")["Table"]
    assert described["DeletionProtectionEnabled"] is True
    code, said = project.deploy("RestoredTable=stepless-restored")
    table = project.settings("runner")["STEPLESS_TABLE"]
    assert (code, table) == (0, "stepless-restored"), said[-3000:]
    assert project.service("dynamodb").get_item(TableName=table, Key=ITEM)["Item"] == ITEM
    before = project.parameters()
    project.config.unlink()
    code, said = project.deploy()
    assert (code, project.settings("runner")["STEPLESS_TABLE"]) == (0, "stepless-restored"), said[-3000:]
    assert (project.parameters(), project.tags()) == (before, {"team": "flows"})
    assert project.recorded()["deploy"]["parameters"]["parameter_overrides"]["RestoredTable"] == "stepless-restored"
    project.config.write_text(project.config.read_text().replace('RestoredTable = "stepless-restored"', 'RestoredTable = ""', 1))
    code, said = project.deploy()
    assert code != 0 and "RestoredTable=''" in said and "make deploy SET=" in said
    assert project.parameters() == before
    code, said = project.deploy("RestoredTable=")
    assert code == 0, said[-3000:]
    assert project.settings("runner")["STEPLESS_TABLE"] == project.outputs()["Table"] == own


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"RunnerTimeout": "900", "QueueVisibility": "180"}, "QueueVisibility is shorter than RunnerTimeout"),
        ({"Auth": "jwt", "JwtAudience": "a"}, "Auth jwt needs JwtIssuer"),
        ({"Auth": "jwt", "JwtIssuer": "https://issuer.example"}, "Auth jwt needs JwtAudience"),
        ({"Auth": "iam", "IamRoles": "*=admin"}, "IamRoles"),
        ({"JwtRoles": "everyone:admin"}, "JwtRoles"),
        ({"RestoredBucket": "somewhere"}, "RestoredBucket needs RestoredTable"),
        ({"RestoredTable": None}, "RestoredTable"),
        ({"SecretsSource": None}, "SecretsSource"),
    ],
)
def test_cloudformation_refuses_it_before_anything_is_changed(
    project: Project, first: str, given: dict[str, str | None], part: str
) -> None:
    """The template deployed without `make deploy`. None: the parameter is omitted."""
    before = project.parameters()
    body = json.dumps(project.service("cloudformation").get_template(StackName=STACK, TemplateStage="Original")["TemplateBody"])
    said = {name: given.get(name, value) for name, value in before.items() if name != "ApiKeyHashes"}
    parameters = [{"ParameterKey": name, "ParameterValue": value} for name, value in said.items() if value is not None]
    with pytest.raises(ClientError, match=part):
        project.service("cloudformation").update_stack(
            StackName=STACK, TemplateBody=body, Parameters=parameters, Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
        )
    assert project.parameters() == before


@pytest.mark.parametrize(
    ("given", "part"),
    [("Auth=iam IamRoles=*=admin", "IamRoles=*=admin is malformed"), ("RunnerMemory", "SET is Name=value")],
)
def test_what_cannot_go_well_is_refused_at_once(project: Project, first: str, given: str, part: str) -> None:
    """tests/deploy/test_deploy_values.py has more of these."""
    before = project.config.read_text()
    code, said = project.deploy(f"{given}")
    assert code == 1 and "Not deployed: " in said and part in said
    assert project.config.read_text() == before


def test_another_account_is_refused(project: Project, first: str) -> None:
    text = project.config.read_text()
    project.config.write_text(text.replace('account = "000000000000"', 'account = "999999999999"'))
    code, said = project.deploy()
    project.config.write_text(text)
    assert code == 1 and "999999999999" in said


def test_without_a_terminal_the_first_deployment_wants_a_key(project: Project, tmp_path: Path) -> None:
    another = replace(project, stack="another", config=tmp_path / "samconfig.toml")
    code, said = another.deploy()
    assert code == 1 and "ApiKeyHashes is not given" in said
    assert not another.config.exists()


def test_a_deleted_stack_is_found_again_with_its_data(project: Project, first: str) -> None:
    """Without a parameter: table, bucket and signing keys of the old stack are those of the new one."""
    cloudformation, before = project.service("cloudformation"), project.outputs()
    project.service("dynamodb").put_item(TableName=before["Table"], Item=ITEM)
    project.service("s3").put_object(Bucket=before["Bucket"], Key="blobs/1", Body=b"kept")
    keys = project.service("secretsmanager").get_secret_value(SecretId=before["SigningKeys"])["SecretString"]
    with pytest.raises(ClientError, match="TerminationProtection"):
        cloudformation.delete_stack(StackName=STACK)
    remove = aws_commands.printed(PAGE.replace("--stack-name stepless", f"--stack-name {STACK}"), "Take it away")
    assert [command.split()[2] for command in remove[:2]] == ["update-termination-protection", "delete-stack"]
    for command in remove[:2]:
        aws_commands.run(command, {}, project.service)
    cloudformation.get_waiter("stack_delete_complete").wait(StackName=STACK, WaiterConfig={"Delay": 1})
    # The emulator would give a stack of the same name a table of the same name, AWS does not.
    project.config.write_text(project.config.read_text().replace(f"[{STACK}.", "[found."))
    found = replace(project, stack="found")
    code, said = found.deploy(f"ApiKeyHashes={NEW}")
    assert code == 0, said[-3000:]
    assert "its data is there and is attached to the new one" in said
    data = {name: before[name] for name in ("Table", "Bucket", "SigningKeys")}
    assert {name: found.outputs()[name] for name in data} == data
    settings = found.settings("runner")
    assert found.service("dynamodb").get_item(TableName=settings["STEPLESS_TABLE"], Key=ITEM)["Item"] == ITEM
    assert found.service("s3").get_object(Bucket=settings["STEPLESS_BUCKET"], Key="blobs/1")["Body"].read() == b"kept"
    secret = found.service("secretsmanager").get_secret_value(SecretId=settings["STEPLESS_SIGNING_SECRET"])
    assert secret["SecretString"] == keys
    code, said = found.deploy()
    assert code == 0, said[-3000:]
    assert {name: found.outputs()[name] for name in data} == data
