"""Roles of template.yaml permit what the functions do and nothing else."""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

import pytest
from sam_template import FUNCTIONS, listed, properties, statements

pytestmark = pytest.mark.long

KNOWS_NO_RESOURCES = {
    "cloudwatch:DescribeAlarms", "scheduler:ListSchedules", "xray:PutTraceSegments", "xray:PutTelemetryRecords",
    "ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets",
}  # fmt: skip


def test_no_role_may_do_everything(template: dict[str, Any]) -> None:
    found = list(statements(template))
    assert len(found) > 20
    for role, statement in found:
        for action in listed(statement["Action"]):
            assert "*" not in action, role
        if "*" in listed(statement["Resource"]):
            assert set(listed(statement["Action"])) <= KNOWS_NO_RESOURCES, role


def test_every_function_has_its_own_role_and_a_log_that_ends(template: dict[str, Any]) -> None:
    for name in FUNCTIONS:
        function = properties(template, f"{name}Function")
        assert function["Role"] == {"GetAtt": f"{name}Role.Arn"}
        assert function["LoggingConfig"] == {"LogGroup": {"Ref": f"{name}Logs"}}
        assert properties(template, f"{name}Logs")["RetentionInDays"] == {"Ref": "LogRetentionDays"}


def test_the_data_that_is_used_is_the_data_that_is_permitted(template: dict[str, Any]) -> None:
    own = {"BlobBucket": "WithRestoredBucket", "SigningSecret": "WithRestoredKeys"}
    variables = template["Globals"]["Function"]["Environment"]["Variables"]
    texts = [str(statement["Resource"]) for _, statement in statements(template)]
    texts += [str(variables[name]) for name in ("STEPLESS_BUCKET", "STEPLESS_SIGNING_SECRET")]
    for resource, condition in own.items():
        found = [text for text in texts if resource in text]
        assert len(found) >= 3
        assert [text for text in found if condition not in text] == []


def test_the_sandbox_may_write_its_log_and_nothing_else(template: dict[str, Any]) -> None:
    allowed = [listed(statement["Action"]) for role, statement in statements(template) if role == "SandboxRole"]
    assert [*chain(*allowed)] == ["logs:CreateLogStream", "logs:PutLogEvents"]
    function = template["Resources"]["SandboxFunction"]
    assert function["IgnoreGlobals"] == ["Environment", "Layers", "Tracing", "VpcConfig"]
    assert function["Properties"]["Layers"] == [{"Ref": "Engine"}]
    assert set(function["Properties"]["Environment"]["Variables"]) == {"STEPLESS_CODE_UNSAFE", "STEPLESS_RELEASE"}


def test_only_the_runner_may_run_author_code_and_only_the_api_plans_schedules(template: dict[str, Any]) -> None:
    invoked = {"Ref": "SandboxFunction.Alias"}
    assert [role for role, statement in statements(template) if invoked in listed(statement["Resource"])] == ["RunnerRole"]
    passed = [role for role, statement in statements(template) if {"GetAtt": "CalendarRole.Arn"} in listed(statement["Resource"])]
    assert passed == ["ApiRole"]


def test_the_socket_function_writes_drafts_connections_and_tickets_only(template: dict[str, Any]) -> None:
    statements = properties(template, "SocketRole")["Policies"][0]["PolicyDocument"]["Statement"]
    writes = [each for each in statements if "dynamodb:PutItem" in listed(each.get("Action", []))]
    assert [each["Condition"] for each in writes] == [
        {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["DRAFT*", "ROOM#*", "CONN#*", "CLAIM#ticket:*"]}}
    ]
    puts = [each["Resource"] for each in statements if each.get("Action") == "s3:PutObject"]
    assert len(puts) == 1 and "workflow-drafts/*" in json.dumps(puts)
    assert "AccessLogSettings" not in properties(template, "SocketStage")  # a ticket is in the query


@pytest.mark.parametrize("role", ["ApiRole", "RunnerRole"])
def test_workflows_secrets_are_read_from_one_place_and_under_the_name_of_the_stack(template: dict[str, Any], role: str) -> None:
    policies = properties(template, role)["Policies"][0]["PolicyDocument"]["Statement"]
    [(_, one, other)] = [part["If"] for part in policies if part.get("If", [""])[0] == "WithSecretsManager"]
    assert (one["Action"], other["Action"]) == ("secretsmanager:GetSecretValue", "ssm:GetParameter")
    assert one["Resource"]["Sub"].endswith(":secret:/${AWS::StackName}/*")
    assert other["Resource"]["Sub"].endswith(":parameter/${AWS::StackName}/*")
    assert template["Parameters"]["SecretsSource"]["AllowedValues"] == ["ssm", "secretsmanager"]


def test_an_own_key_is_used_for_all_data_and_permitted_to_every_role_that_touches_it(template: dict[str, Any]) -> None:
    resources = template["Resources"]
    key = {"Ref": "KmsKey"}
    assert template["Parameters"]["KmsKey"]["Default"] == ""
    assert properties(template, "RunTable")["SSESpecification"]["If"][1]["KMSMasterKeyId"] == key
    (rule,) = properties(template, "BlobBucket")["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["If"][1]["ServerSideEncryptionByDefault"]["KMSMasterKeyID"] == key
    assert properties(template, "SigningSecret")["KmsKeyId"]["If"][1] == key
    queues = [name for name, each in resources.items() if each["Type"] == "AWS::SQS::Queue"]
    assert len(queues) == 5
    for name in queues:
        assert properties(template, name)["KmsMasterKeyId"]["If"][1] == key
        assert properties(template, name)["SqsManagedSseEnabled"]["If"] == ["WithKey", {"Ref": "AWS::NoValue"}, True]
    roles = {name: json.dumps(each) for name, each in resources.items() if each["Type"] == "AWS::IAM::Role"}
    permitted = {name for name, text in roles.items() if "kms:Decrypt" in text}
    assert permitted == set(roles) - {"SandboxRole", "SweeperScheduleRole", "DeploymentRole"}  # neither touches data


def test_every_role_has_the_boundary_and_every_function_but_the_sandbox_the_vpc(template: dict[str, Any]) -> None:
    resources = template["Resources"]
    for name, each in resources.items():
        if each["Type"] == "AWS::IAM::Role":
            assert each["Properties"]["PermissionsBoundary"]["If"][1] == {"Ref": "PermissionsBoundary"}, name
    assert template["Globals"]["Function"]["VpcConfig"]["If"][1]["SubnetIds"] == {"Ref": "SubnetIds"}
    joined = {name for name, each in resources.items() if "ec2:CreateNetworkInterface" in json.dumps(each)}
    assert joined == {"TriggerRole", "ApiRole", "RunnerRole", "SweeperRole", "DeadletterRole", "SocketRole"}
    for name in ("KmsKey", "PermissionsBoundary", "SubnetIds", "SecurityGroupIds"):
        assert template["Parameters"][name]["Default"] == ""
