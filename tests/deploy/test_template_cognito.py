"""With `WithCognito`, template.yaml makes a user pool, and the API takes its tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from typing import Any

import pytest
from sam_template import ROOT, properties, transformed

from stepless.runtime.access.grants import parse_grants

pytestmark = pytest.mark.long

POOL = {"Auth": "jwt", "Console": "yes", "WithCognito": "yes"}
OTHER = {"Auth": "jwt", "Console": "yes", "JwtIssuer": "https://i", "JwtAudience": "a", "ConsoleClientId": "c"}
KINDS = {"UserPool": 1, "UserPoolDomain": 1, "UserPoolClient": 1, "UserPoolGroup": 6}


class Given:
    """The template with values of its parameters, as CloudFormation reads it."""

    def __init__(self, template: dict[str, Any], given: Mapping[str, str]) -> None:
        self.template = template
        defaults = {name: str(each.get("Default", "")) for name, each in template["Parameters"].items()}
        self.values = defaults | {"SecretsSource": "ssm"} | given

    def holds(self, condition: Any) -> bool:
        match condition:
            case {"Equals": [first, second]}:
                return self.text(first) == self.text(second)
            case {"EachMemberEquals": [each, wanted]}:
                return all(part == wanted for part in self.text(each).split(","))
            case {"Contains": [some, each]}:
                return self.text(each) in some
            case {"Not": [inner]}:
                return not self.holds(inner)
            case {"And": parts}:
                return all(map(self.holds, parts))
            case {"Or": parts}:
                return any(map(self.holds, parts))
        raise NotImplementedError(condition)

    def text(self, value: Any) -> str:
        match value:
            case {"Ref": name}:
                return self.values[name]
            case {"Join": [sign, inner]}:
                return self.text(inner).replace(",", sign)
        return str(value)

    def refusals(self) -> list[str]:
        rules = [rule for rule in self.template["Rules"].values() if self.holds(rule["RuleCondition"])]
        return [each["AssertDescription"] for rule in rules for each in rule["Assertions"] if not self.holds(each["Assert"])]

    def chosen(self, value: Any) -> Any:
        """A value with its conditions decided."""
        match value:
            case {"If": [name, yes, no]}:
                return self.chosen(yes if self.holds(self.template["Conditions"][name]) else no)
            case dict():
                return {name: self.chosen(each) for name, each in value.items()}
            case list():
                return [self.chosen(each) for each in value]
        return value

    def made(self) -> dict[str, Any]:
        conditions = self.template["Conditions"]
        every = self.template["Resources"].items()
        found = {name: each for name, each in every if "Condition" not in each or self.holds(conditions[each["Condition"]])}
        return {name: self.chosen(each) for name, each in found.items()}


def cognito(resources: Mapping[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in resources.items() if each["Type"].startswith("AWS::Cognito::")}


def test_without_the_parameter_nothing_of_a_pool_is_made_or_named(template: dict[str, Any]) -> None:
    assert template["Parameters"]["WithCognito"]["Default"] == "no"
    pool = cognito(template["Resources"])
    assert {each["Condition"] for each in pool.values()} == {"WithPool"}
    for given in ({}, OTHER):
        made = Given(template, given).made()
        assert not cognito(made)
        assert not [name for name in pool if re.search(rf'(": "|\${{){name}["}}.]', json.dumps(made))]
    made = cognito(Given(template, POOL).made())
    kinds = [each["Type"].rpartition("::")[2] for each in made.values()]
    assert {kind: kinds.count(kind) for kind in kinds} == KINDS
    output = template["Outputs"]["UserPoolId"]
    assert (output["Condition"], output["Value"]) == ("WithPool", {"Ref": "UserPool"})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, []),
        (OTHER, []),
        (POOL, []),
        (POOL | {"PublicUrl": "https://flows.example"}, []),
        ({"WithCognito": "yes"}, ["WithCognito yes needs Auth jwt"]),
        ({"WithCognito": "yes", "Auth": "jwt"}, []),
        ({"WithCognito": "yes", "Console": "yes"}, ["WithCognito yes needs Auth jwt"]),
        (POOL | {"JwtIssuer": "https://i"}, ["WithCognito yes makes the issuer: leave JwtIssuer empty"]),
        (POOL | {"JwtAudience": "a,b"}, ["WithCognito yes makes the audience: leave JwtAudience empty"]),
        (POOL | {"ConsoleClientId": "c"}, ["WithCognito yes makes the client: leave ConsoleClientId empty"]),
        (POOL | {"ConsoleScope": "openid email"},
         ["WithCognito yes makes a client for the scope openid: leave ConsoleScope at its default"]),
        ({"Auth": "jwt"}, ["Auth jwt needs JwtIssuer, or WithCognito yes", "Auth jwt needs JwtAudience"]),
        (OTHER | {"ConsoleClientId": ""}, ["Console yes with Auth jwt needs ConsoleClientId, or WithCognito yes"]),
    ],
)  # fmt: skip
def test_what_does_not_go_with_a_pool_is_refused(template: dict[str, Any], given: dict[str, str], said: list[str]) -> None:
    assert Given(template, given).refusals() == said


def test_issuer_and_audience_are_those_of_the_pool_or_of_the_parameters(template: dict[str, Any]) -> None:
    issuer = {"Sub": "https://cognito-idp.${AWS::Region}.${AWS::URLSuffix}/${UserPool}"}
    client = {"Ref": "PoolClient"}
    made = Given(template, POOL).made()
    assert made["ApiAuthorizer"]["Properties"]["JwtConfiguration"] == {"Issuer": issuer, "Audience": [client]}
    variables = made["ApiFunction"]["Properties"]["Environment"]["Variables"]
    assert (variables["STEPLESS_JWT_ISSUER"], variables["STEPLESS_JWT_AUDIENCE"]) == (issuer, client)
    assert (variables["STEPLESS_CONSOLE_CLIENT_ID"], variables["STEPLESS_CONSOLE_SCOPE"]) == (client, {"Ref": "ConsoleScope"})
    assert template["Parameters"]["ConsoleScope"]["Default"] == "openid"
    made = Given(template, OTHER).made()
    given = {"Issuer": {"Ref": "JwtIssuer"}, "Audience": {"Ref": "JwtAudience"}}
    assert made["ApiAuthorizer"]["Properties"]["JwtConfiguration"] == given
    variables = made["ApiFunction"]["Properties"]["Environment"]["Variables"]
    assert (variables["STEPLESS_JWT_ISSUER"], variables["STEPLESS_CONSOLE_CLIENT_ID"]) == (
        {"Ref": "JwtIssuer"}, {"Ref": "ConsoleClientId"},
    )  # fmt: skip
    assert variables["STEPLESS_JWT_AUDIENCE"] == {"Join": [",", {"Ref": "JwtAudience"}]}


def test_people_come_back_to_the_address_that_the_page_names(template: dict[str, Any]) -> None:
    login = (ROOT / "console/src/wire/login/login.ts").read_text("utf-8")
    [path] = re.findall(r"return `\$\{location\.origin\}(/[^`$]+)`;", login)
    assert path.startswith("/console/")
    [callback] = properties(template, "PoolClient")["CallbackURLs"]
    text, local = callback["Sub"]
    assert (text, local) == (f"${{Base}}{path}", template["Outputs"]["ConsoleUrl"]["Value"]["Sub"][1])
    for given, base in ((POOL, {"GetAtt": "HttpApi.ApiEndpoint"}), (POOL | {"PublicUrl": "https://f"}, {"Ref": "PublicUrl"})):
        assert Given(template, given).chosen(local) == {"Base": base}


def test_the_client_is_public_and_gives_tokens_to_its_page_only(template: dict[str, Any]) -> None:
    client = properties(template, "PoolClient")
    assert (client["GenerateSecret"], client["AllowedOAuthFlows"], client["AllowedOAuthScopes"]) == (False, ["code"], ["openid"])
    assert client["AllowedOAuthFlowsUserPoolClient"] is True and client["SupportedIdentityProviders"] == ["COGNITO"]
    assert client["ExplicitAuthFlows"] == ["ALLOW_REFRESH_TOKEN_AUTH"]
    assert (client["EnableTokenRevocation"], client["PreventUserExistenceErrors"]) == (True, "ENABLED")


def test_the_users_are_made_by_an_admin_and_outlive_the_stack(template: dict[str, Any]) -> None:
    pool = properties(template, "UserPool")
    assert pool["DeletionProtection"] == "ACTIVE"
    assert pool["AdminCreateUserConfig"] == {"AllowAdminCreateUserOnly": True}
    assert (pool["UsernameAttributes"], pool["UsernameConfiguration"]) == (["email"], {"CaseSensitive": False})
    assert (pool["MfaConfiguration"], pool["EnabledMfas"]) == ("OPTIONAL", ["SOFTWARE_TOKEN_MFA"])
    policy = pool["Policies"]["PasswordPolicy"]
    assert policy["MinimumLength"] >= 12 and all(value is True for name, value in policy.items() if name.startswith("Require"))
    kept = {name: each for name, each in cognito(template["Resources"]).items() if "DeletionPolicy" in each}
    assert {each["Type"].rpartition("::")[2] for each in kept.values()} == {"UserPool", "UserPoolGroup"}
    assert {(each["DeletionPolicy"], each["UpdateReplacePolicy"]) for each in kept.values()} == {("Retain", "Retain")}


def test_there_is_a_group_for_each_role(template: dict[str, Any]) -> None:
    groups = [each["Properties"] for each in cognito(template["Resources"]).values() if each["Type"].endswith("Group")]
    default = parse_grants(template["Parameters"]["JwtRoles"]["Default"], "JwtRoles")
    assert {group["GroupName"] for group in groups} == {grant.name for grant in default}
    assert all(group["UserPoolId"] == {"Ref": "UserPool"} for group in groups)


def test_the_domain_is_one_that_cognito_takes_and_no_other_stack_has(template: dict[str, Any]) -> None:
    stack = "arn:aws:cloudformation:us-east-1:123456789012:stack/Aws_Cognito-1/9c0c3ab0-1a2b-11ef-9e1d-0affe3b2c4d5"
    sign, [prefix, select] = properties(template, "PoolDomain")["Domain"]["Join"]
    assert select == {"Select": [2, {"Split": ["/", {"Ref": "AWS::StackId"}]}]}
    domain = sign.join([prefix, stack.split("/")[2]])
    assert domain == "stepless-9c0c3ab0-1a2b-11ef-9e1d-0affe3b2c4d5"
    assert re.fullmatch(r"[a-z0-9](?:[a-z0-9\-]{0,61}[a-z0-9])?", domain)
    assert not re.search("aws|amazon|cognito", domain)  # words that a prefix must not contain; a UUID cannot


def references(value: Any) -> Iterator[str]:
    match value:
        case {"Ref": str(name)}:
            yield name
        case {"Fn::GetAtt": [str(name), *_]}:
            yield name
        case {"Fn::GetAtt": str(name)}:
            yield name.partition(".")[0]
        case {"Fn::Sub": text}:
            yield from (name.partition(".")[0] for name in re.findall(r"\$\{([^!}]+)\}", json.dumps(text)))
            yield from references(text)
        case dict():
            for name, each in value.items():
                yield from [each] if name == "DependsOn" and isinstance(each, str) else references(each)
        case list():
            for each in value:
                yield from references(each)


def test_no_resource_waits_for_itself() -> None:
    resources = transformed("Auth=jwt", "Console=yes", "WithCognito=yes")
    graph = {name: {other for other in references(each) if other in resources} for name, each in resources.items()}
    assert {"UserPool", "PoolClient", "HttpApi"} <= graph["ApiAuthorizer"] and "HttpApi" in graph["PoolClient"]
    order = [*TopologicalSorter(graph).static_order()]  # raises CycleError
    assert order.index("PoolClient") < order.index("ApiAuthorizer")
