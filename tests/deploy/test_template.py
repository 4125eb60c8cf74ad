"""template.yaml has what the engine needs."""

from __future__ import annotations

import ast
import json
import re
from itertools import chain
from typing import Any

import pytest
from sam_template import FUNCTIONS, ROOT, listed, properties, statements

from stepless.adapters.aws.dynamo.table.layout import create_table_arguments, time_to_live_arguments
from stepless.errors import ConfigError
from stepless.limits import BUDGET_MARGIN_MS, LEASE_MS
from stepless.runtime.access.bearers import BearerRoles
from stepless.runtime.access.grants import parse_grants
from stepless.runtime.access.principals import PrincipalRoles
from stepless.runtime.access.roles import Role

pytestmark = pytest.mark.long

PATTERNS = [
    "arn:aws:iam::123456789012:root", "arn:aws:iam::123456789012:user/ops/*", "arn:aws:iam::123456789012:user/with=equals",
    "arn:aws:iam::123456789012:role/ops-*", "arn:aws:iam::123456789012:role/team/blue/ops",
    "arn:aws-cn:sts::123456789012:assumed-role/ops-*/*", "arn:aws:sts::123456789012:assumed-role/ops/ada@example.com",
    "arn:aws:sts::123456789012:federated-user/ada*",
]  # fmt: skip
WRONG = {
    "JwtRolesClaim": ["a b", "a,,b", ",", "a\n"],
    "JwtRoles": [
        "ops", "ops=", "=run", "ops=Run", "*=run", "op*=run", "ops=run;dev=read", "ops=run dev=read", "a=b=run", "o\nps=run",
    ],
    "IamRoles": [
        "*=run", "ops=run", "arn:aws:iam::*:role/ops=run", "arn:aws:iam::123456789012:*=run", "arn:aws:iam::1234:root=run",
        "arn:aws:iam::123456789012:role/team/*=run", "arn:aws:iam::123456789012:role/*/ops=run",
        "arn:aws:sts::123456789012:assumed-role/*/ada=run", "arn:aws:sts::123456789012:assumed-role/ops=run",
        "arn:aws:iam::123456789012:root", "arn:aws:iam::123456789012:root=owner", "arn:aws:iam::123456789012:root=run\n",
    ],
}  # fmt: skip


def test_the_table_is_the_one_of_the_store(template: dict[str, Any]) -> None:
    table = properties(template, "RunTable")
    wanted = create_table_arguments("any")
    assert {key: table[key] for key in wanted if key != "TableName"} == {k: v for k, v in wanted.items() if k != "TableName"}
    assert table["TimeToLiveSpecification"] == time_to_live_arguments("any")["TimeToLiveSpecification"]


def test_the_queue_outlives_an_invocation(template: dict[str, Any]) -> None:
    parameters = template["Parameters"]
    timeout = parameters["RunnerTimeout"]
    by_template = {"If": ["WithDefaultTimeout", timeout["Default"] + 60, timeout["MaxValue"] + 60]}
    visibility = {"If": ["WithVisibility", {"Ref": "QueueVisibility"}, by_template]}
    assert properties(template, "RunQueue")["VisibilityTimeout"] == visibility
    assert template["Conditions"]["WithDefaultTimeout"] == {"Equals": [{"Ref": "RunnerTimeout"}, str(timeout["Default"])]}
    allowed = re.compile(parameters["QueueVisibility"]["AllowedPattern"])
    accepted = [seconds for seconds in range(50_000) if allowed.fullmatch(str(seconds))]
    assert accepted == list(range(LEASE_MS // 1_000 + 5, 43_201)) and allowed.fullmatch("")
    assert parameters["MaxReceives"]["MinValue"] >= 5
    assert timeout["MinValue"] * 1_000 > BUDGET_MARGIN_MS
    runner = properties(template, "RunnerFunction")
    assert runner["RecursiveLoop"] == "Allow"
    assert runner["Events"]["Hints"]["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert parameters["RunnerBatchSize"]["Default"] == 1


def test_the_gateway_limits_its_requests(template: dict[str, Any]) -> None:
    settings = properties(template, "ApiStage")["DefaultRouteSettings"]
    assert settings == {"ThrottlingBurstLimit": {"Ref": "ApiBurst"}, "ThrottlingRateLimit": {"Ref": "ApiRate"}}
    limits = [template["Parameters"][name] for name in ("ApiBurst", "ApiRate")]
    assert [(each["Default"], each["MinValue"]) for each in limits] == [(500, 1), (1000, 1)]


def test_what_decides_where_data_is_kept_has_no_default_and_nothing_else_is_without(template: dict[str, Any]) -> None:
    without = {name for name, parameter in template["Parameters"].items() if "Default" not in parameter}
    assert without == {"SecretsSource", "RestoredTable", "RestoredBucket", "RestoredSigningKeys"}
    groups = template["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    assert sorted(chain(*(group["Parameters"] for group in groups))) == sorted(template["Parameters"])


def test_data_outlives_its_stack(template: dict[str, Any]) -> None:
    for name in ("RunTable", "BlobBucket", "SigningSecret"):
        resource = template["Resources"][name]
        assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == ("Retain", "Retain")
    assert properties(template, "RunTable")["DeletionProtectionEnabled"] is True


def test_the_rule_about_the_queue_refuses_no_pair_that_lambda_accepts(template: dict[str, Any]) -> None:
    rule = template["Rules"]["QueueOutlivesInvocation"]
    (listed_short, _), [assertion] = rule["RuleCondition"]["Not"][0]["Contains"], rule["Assertions"]
    assert assertion["Assert"]["Not"][0]["Contains"] == [listed_short, {"Ref": "QueueVisibility"}]
    assert listed_short == [str(seconds) for seconds in range(10, 181)]  # refused: a longer invocation, a visibility of these


def test_every_setting_that_the_functions_read_is_set(template: dict[str, Any]) -> None:
    given = set(template["Globals"]["Function"]["Environment"]["Variables"])
    given |= set(properties(template, "ApiFunction")["Environment"]["Variables"])
    read = set()
    for path in (ROOT / "engine/stepless/runtime/wiring/aws.py", *ROOT.glob("functions/*/app.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(func=ast.Name(id="setting"), args=[ast.Constant(value=str(name))]):
                    read.add(name)
    assert len(read) >= 10
    assert read <= given


def test_only_the_open_routes_pass_the_gateway_without_an_authorizer(template: dict[str, Any]) -> None:
    found = {name: each["Properties"] for name, each in template["Resources"].items() if each["Type"].endswith("V2::Route")}
    routes = {name: route for name, route in found.items() if route["ApiId"] == {"Ref": "HttpApi"}}
    assert {route["RouteKey"] for name, route in found.items() if name not in routes} == {"$connect", "$default", "$disconnect"}
    guarded = routes.pop("GuardedRoute")
    assert guarded["RouteKey"] == "$default"
    assert guarded["AuthorizationType"] == {"If": ["WithIam", "AWS_IAM", {"If": ["WithJwt", "JWT", "NONE"]}]}
    assert guarded["AuthorizerId"] == {"If": ["WithJwt", {"Ref": "ApiAuthorizer"}, {"Ref": "AWS::NoValue"}]}
    assert {route["RouteKey"] for route in routes.values()} == {
        "ANY /hooks/{path+}", "ANY /resume/{token}", "GET /health", "GET /runs/{run_id}/view", "GET /", "GET /docs",
        "GET /openapi.json", "OPTIONS /{path+}", "GET /console", "GET /console/{path+}",
    }  # fmt: skip
    assert all(set(route) == {"ApiId", "RouteKey", "Target"} for route in routes.values())


@pytest.mark.parametrize(
    ("name", "accepted"),
    [
        ("JwtRolesClaim", ["", "cognito:groups", "https://shop.example/roles", "realm_access.roles", "groups, scope"]),
        ("JwtRoles", ["", "ops=admin", "Ops Team=run, /admins=admin,read:runs = read", "Zoë's=approve"]),
        ("IamRoles", ["", *(f"{pattern}=run" for pattern in PATTERNS), ",".join(f"{pattern} = read" for pattern in PATTERNS)]),
    ],
)
def test_a_parameter_that_gives_roles_takes_what_the_function_reads_and_nothing_else(
    template: dict[str, Any], name: str, accepted: list[str]
) -> None:
    """What the pattern accepts, the function must read: otherwise a deployment would go through and refuse every caller."""
    pattern = template["Parameters"][name]["AllowedPattern"]
    read = {
        "JwtRolesClaim": lambda text: BearerRoles("https://issuer.example", "stepless", text, ""),
        "JwtRoles": lambda text: BearerRoles("https://issuer.example", "stepless", "groups", text),
        "IamRoles": PrincipalRoles,
    }[name]
    refused = [*(text + "," for text in accepted if text), *("," + text for text in accepted if text), *WRONG[name]]
    for text in accepted:
        assert re.fullmatch(pattern, text) is not None, text
        read(text)
    for text in refused:
        assert re.fullmatch(pattern, text) is None, text
        with pytest.raises(ConfigError):
            read(text)
    assert re.fullmatch(pattern, template["Parameters"][name]["Default"]) is not None


def test_groups_of_a_new_deployment_name_the_project(template: dict[str, Any]) -> None:
    """No group that an issuer has for something else gives a role."""
    default = parse_grants(template["Parameters"]["JwtRoles"]["Default"], "JwtRoles")
    assert {grant.name: grant.role.value for grant in default} == {f"stepless-{role}": role for role in Role}


def test_everything_that_invokes_a_function_invokes_its_alias(template: dict[str, Any]) -> None:
    """Versions have their settings from `$LATEST` at publication, so `Release`, which changes with every parameter, is one."""
    assert template["Globals"]["Function"]["AutoPublishAlias"] == "live"
    for name in FUNCTIONS:
        function = properties(template, f"{name}Function")
        assert (function["AutoPublishAliasAllProperties"], function["VersionDescription"]) == (True, {"Ref": "Release"})
        given = function if name == "Sandbox" else template["Globals"]["Function"]
        assert given["Environment"]["Variables"]["STEPLESS_RELEASE"] == {"Ref": "Release"}
        places = str([*template["Resources"].values(), template["Outputs"]])
        references = re.findall(rf"'(?:Ref|GetAtt)': '{name}Function[^']*'", places)
        assert set(references) <= {f"'Ref': '{name}Function.Alias'"}
    variables = template["Globals"]["Function"]["Environment"]["Variables"]
    assert variables["STEPLESS_SANDBOX_FUNCTION"]["Sub"].endswith("-sandbox:live")
    for layer in ("Dependencies", "Engine", "Functions"):
        assert properties(template, layer)["PublishLambdaVersion"] is True


def test_without_the_parameter_the_console_has_its_pages_and_nothing_of_drafts_is_deployed(template: dict[str, Any]) -> None:
    assert template["Parameters"]["Console"]["Default"] == "no"
    named = {name for name in template["Resources"] if name.startswith("Socket")}
    named |= {"ConnectRoute", "MessageRoute", "DisconnectRoute"}
    assert len(named) >= 10
    conditional = {name for name, each in template["Resources"].items() if each.get("Condition") == "WithConsole"}
    assert conditional == named
    of_console = {name for name, output in template["Outputs"].items() if output.get("Condition") == "WithConsole"}
    assert of_console == {"SocketUrl"}
    for name in ("PageRoute", "ConsoleRoute", "ConsoleFilesRoute"):
        assert "Condition" not in template["Resources"][name]
    assert "Condition" not in template["Outputs"]["ConsoleUrl"]
    variables = properties(template, "ApiFunction")["Environment"]["Variables"]
    for name in ("STEPLESS_SOCKET_URL", "AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI"):
        assert variables[name]["If"][0] == "WithConsole" and variables[name]["If"][2] == {"Ref": "AWS::NoValue"}
    api = properties(template, "ApiRole")["Policies"][0]["PolicyDocument"]["Statement"]
    [managed] = [part["If"] for part in api if "ManageConnections" in json.dumps(part)]
    assert managed[0] == "WithConsole" and managed[2] == {"Ref": "AWS::NoValue"}
    assert "Socket" not in json.dumps(template["Globals"])


def test_the_console_is_refused_where_nobody_could_sign_in(template: dict[str, Any]) -> None:
    rule = template["Rules"]["ConsoleCanSignIn"]
    assert rule["RuleCondition"] == {"Equals": [{"Ref": "Console"}, "yes"]}
    first, second = rule["Assertions"]
    assert first["Assert"] == {"Not": [{"Equals": [{"Ref": "Auth"}, "iam"]}]}
    named = (("Auth", "jwt"), ("ConsoleClientId", ""), ("WithCognito", "yes"))
    jwt, client, pool = ({"Equals": [{"Ref": name}, value]} for name, value in named)
    assert second["Assert"] == {"Or": [{"Not": [jwt]}, {"Not": [client]}, pool]}


def test_nothing_starts_runs_by_events_unless_their_sources_are_named(template: dict[str, Any]) -> None:
    rule = template["Resources"]["EventRule"]
    assert template["Parameters"]["EventSources"]["Default"] == ""
    assert (rule["Condition"], rule["Properties"]["EventPattern"]) == ("WithEvents", {"source": {"Ref": "EventSources"}})
    policy = properties(template, "EventPolicy")["PolicyDocument"]["Statement"]
    assert [statement["Condition"] for statement in policy] == [{"ArnEquals": {"aws:SourceArn": {"GetAtt": "EventRule.Arn"}}}]


def test_functions_whose_start_someone_waits_for_may_start_from_snapshots(template: dict[str, Any]) -> None:
    assert template["Parameters"]["SnapStart"]["Default"] == "off"
    functions = {name: each["Properties"] for name, each in template["Resources"].items() if each["Type"].endswith("::Function")}
    found = {name: given["SnapStart"] for name, given in functions.items() if "SnapStart" in given}
    wanted = {"If": ["WithSnapStart", {"ApplyOn": "PublishedVersions"}, {"Ref": "AWS::NoValue"}]}
    assert found == dict.fromkeys(("RunnerFunction", "ApiFunction", "TriggerFunction", "SocketFunction"), wanted)
    assert template["Globals"]["Function"]["Runtime"] >= "python3.12"  # older ones have no SnapStart


def test_people_are_told_and_pages_are_served_only_where_the_operator_says_so(template: dict[str, Any]) -> None:
    policies = properties(template, "RunnerRole")["Policies"][0]["PolicyDocument"]["Statement"]
    told = {part["If"][0]: part["If"][1]["Action"] for part in policies if "If" in part}
    for other in ("WithSecretsManager", "WithKey", "WithVpc"):
        told.pop(other)
    assert told == {
        "WithRunEvents": "events:PutEvents", "WithTopic": "sns:Publish", "WithMail": "ses:SendEmail",
        "WithTracing": told["WithTracing"],
    }  # fmt: skip
    assert template["Resources"]["PreflightRoute"]["Condition"] == "WithCors"
    variables = template["Globals"]["Function"]["Environment"]["Variables"]
    assert {"STEPLESS_BASE_URL", "STEPLESS_SIGNING_SECRET", "STEPLESS_NOTIFY_FROM"} <= set(variables)  # notices carry links


def test_events_of_runs_leave_only_for_the_bus_that_the_operator_names(template: dict[str, Any]) -> None:
    permitted = [(name, part) for name, part in statements(template) if "events:PutEvents" in listed(part["Action"])]
    assert [name for name, _ in permitted] == ["RunnerRole"]
    (_, statement), = permitted
    assert statement["Resource"]["Sub"].endswith(":event-bus/${RunEventsBus}")
    variables = properties(template, "RunnerFunction")["Environment"]["Variables"]
    assert statement["Condition"] == {"StringEquals": {"events:source": variables["STEPLESS_EVENTS_SOURCE"]}}
    assert variables["STEPLESS_EVENTS_BUS"]["If"][0] == "WithRunEvents"
    assert template["Parameters"]["RunEventsBus"]["Default"] == template["Parameters"]["OnFailureNotify"]["Default"] == ""
    parts = properties(template, "RunnerRole")["Policies"][0]["PolicyDocument"]["Statement"]
    assert [part["If"][0] for part in parts if statement in part.get("If", [])] == ["WithRunEvents"]


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ("", True), ("${SLACK_URL}", True), ("slack:${SLACK_URL} mailto:ops@example.com", True),
        ("arn:aws:sns:eu-west-1:123456789012:ops", True), ("https://hooks.slack.com/services/T/B/x", False), ("ops", False),
    ],
)
def test_targets_of_failures_are_no_plain_urls(template: dict[str, Any], value: str, fits: bool) -> None:
    pattern = template["Parameters"]["OnFailureNotify"]["AllowedPattern"]
    assert (re.fullmatch(pattern, value) is not None) is fits
