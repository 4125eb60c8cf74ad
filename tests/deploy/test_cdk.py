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
DECLARED = (ROOT / "infrastructure/cdk/stepless_cdk/parameters.py").read_text()
NAMES = re.findall(r'^    "(\w+)": "(\w+)",$', DECLARED, re.MULTILINE)
CODE = (
    "ApiFunction", "RunnerFunction", "SweeperFunction", "DeadletterFunction", "TriggerFunction", "SandboxFunction",
    "SocketFunction", "Dependencies", "Engine", "Functions",
)  # fmt: skip


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What cdk_app.py has synthesised: most of the time is aws-cdk-lib's own validation."""
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed: aws-cdk-lib needs it")
    installed = subprocess.run(["make", "-s", "-C", str(ROOT), ".tools/cdk/.ready"], capture_output=True, text=True, check=False)
    assert installed.returncode == 0, installed.stderr
    build, out = tmp_path_factory.mktemp("build"), tmp_path_factory.mktemp("out")
    for name in CODE:
        (build / name).mkdir()
        (build / name / "app.py").write_text(name)
    silent = {f"JSII_SILENCE_WARNING_{kind}_NODE_VERSION": "1" for kind in ("UNTESTED", "DEPRECATED")}
    environment = {**os.environ, **silent}
    done = subprocess.run(
        [str(ROOT / ".tools/cdk/bin/python"), str(ROOT / "tests/deploy/cdk_app.py"), str(build), str(out)],
        capture_output=True, text=True, timeout=240, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    template = json.loads((out / "Flows.template.json").read_text())
    assets = json.loads((out / "Flows.assets.json").read_text())
    report = json.loads((out / "validation-report.json").read_text())
    names = ("Plain", "Full", "Pool", "Iam", "Later")
    variants = {name: json.loads((out / f"variants/{name}.template.json").read_text()) for name in names}
    said = json.loads(done.stdout[done.stdout.rindex('{"refused"') :])
    return {"template": template, "assets": assets, "report": report, "variants": variants, **said}


@pytest.fixture(scope="module")
def source() -> dict[str, Any]:
    return dict(json.loads((ROOT / "infrastructure/cdk/stepless_cdk/template.json").read_text()))


class Reading:
    """What CloudFormation makes of the template, written anew here: the construct's own reading would hide its mistakes."""

    def __init__(self, template: dict[str, Any], given: dict[str, Any]) -> None:
        self.template = template
        declared = template["Parameters"]
        self.values = {name: str(each.get("Default", "")) for name, each in declared.items()} | {"SecretsSource": "ssm"} | given
        self.lists = {name for name, each in declared.items() if each["Type"] == "CommaDelimitedList"}
        self.conditions = {name: self.read(each) for name, each in template["Conditions"].items()}

    def read(self, value: Any) -> Any:
        match value:
            case {"Fn::Equals": [first, second]}:
                return self.read(first) == self.read(second)
            case {"Fn::Not": [inner]}:
                return not self.read(inner)
            case {"Fn::If": [name, yes, no]}:
                return self.read(yes if self.conditions[name] else no)
            case {"Fn::Join": [str(sign), {"Ref": str(name)}]} if name in self.lists:
                return self.values[name].replace(",", sign)
            case {"Ref": str(name)} if name in self.values:
                return self.values[name].split(",") if name in self.lists else self.values[name]
            case {"Fn::Sub": str(text)}:
                return {"Fn::Sub": self.filled(text)}
            case {"Fn::Sub": [str(text), dict(local)]}:
                return {"Fn::Sub": [self.filled(text), self.read(local)]}
            case dict():
                read = {name: self.read(each) for name, each in value.items()}
                return {name: each for name, each in read.items() if each != {"Ref": "AWS::NoValue"}}
            case list():
                return [each for each in map(self.read, value) if each != {"Ref": "AWS::NoValue"}]
        return value

    def filled(self, text: str) -> str:
        return re.sub(r"\$\{(\w+)\}", lambda found: self.values.get(found[1], found[0]), text)

    def resources(self) -> dict[str, Any]:
        conditional = {**self.conditions, None: True}
        return {
            name: (each["Type"], self.read(each["Properties"]))
            for name, each in self.template["Resources"].items() if conditional[each.get("Condition")]
        }  # fmt: skip


def plain(value: Any) -> Any:
    """A value with its numbers as texts, and references in one form: CloudFormation reads both alike."""
    match value:
        case {"Fn::GetAtt": str(name)}:
            return {"Fn::GetAtt": name.split(".", 1)}
        case {"Fn::Sub": str(text)} if "${" not in text:
            return text
        case {"Fn::Join": [str(sign), [*parts]]} if all(isinstance(part, str) for part in parts):
            return sign.join(parts)
        case {"Fn::Select": [index, {"Fn::Split": [str(sign), str(text)]}]}:
            return text.split(sign)[int(index)]
        case dict():
            return {name: plain(each) for name, each in value.items()}
        case list():
            return [plain(each) for each in value]
        case bool():
            return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


@pytest.mark.parametrize("name", ["Plain", "Full", "Pool", "Iam"])
def test_every_resource_is_what_cloudformation_would_make(name: str, app: dict[str, Any], source: dict[str, Any]) -> None:
    names, given = dict(NAMES), app["given"][name]
    texts = {names[key]: ",".join(value) if isinstance(value, list) else str(value) for key, value in given.items()}
    made = app["variants"][name]
    texts["Release"] = made["Resources"]["ApiFunction"]["Properties"]["Environment"]["Variables"]["STEPLESS_RELEASE"]
    wanted = Reading(source, texts).resources()
    assert "Conditions" not in made and set(made["Parameters"]) == {"BootstrapVersion"}  # the CDK's own
    assert set(made["Resources"]) - {"CDKMetadata"} == set(wanted)
    for logical, (kind, properties) in wanted.items():
        resource = made["Resources"][logical]
        ours = {key: value for key, value in resource["Properties"].items() if key not in ("Code", "Content")}
        theirs = {key: value for key, value in properties.items() if key not in ("Code", "Content")}
        assert (logical, resource["Type"], plain(ours)) == (logical, kind, plain(theirs))


def test_every_condition_is_turned_both_ways(app: dict[str, Any], source: dict[str, Any]) -> None:
    names = dict(NAMES)
    turned: dict[str, set[bool]] = {name: set() for name in source["Conditions"]}
    for given in app["given"].values():
        texts = {names[key]: ",".join(value) if isinstance(value, list) else str(value) for key, value in given.items()}
        for name, value in Reading(source, texts).conditions.items():
            turned[name].add(value)
    assert {name for name, values in turned.items() if values != {True, False}} == set()


def test_the_app_is_synthesised_and_validated_in_seconds(app: dict[str, Any]) -> None:
    """aws-cdk-lib's validation takes minutes for a template with many parameters and conditions."""
    found = [each for report in app["report"]["pluginReports"] for each in report["violations"]]
    assert {(each["ruleName"], each["severity"]) for each in found} <= {("W9003", "warning")}
    assert app["seconds"] < 60  # about 8 on a quiet machine


def test_every_change_of_code_or_parameters_publishes_versions(app: dict[str, Any]) -> None:
    releases = {}
    for name, template in {**app["variants"], "Flows": app["template"]}.items():
        versions = [each for each in template["Resources"].values() if each["Type"] == "AWS::Lambda::Version"]
        [releases[name]] = {each["Properties"]["Description"] for each in versions}
        assert len(versions) == (7 if name in ("Flows", "Full", "Pool") else 6)
        assert not any("DeletionPolicy" in each for each in versions)
    assert releases["Full"] == "r7" and len(set(releases.values())) == len(releases)
    assert releases["Plain"] == app["unchanged"] != app["changed"]


def test_values_that_only_the_deployment_knows_count_as_given(app: dict[str, Any]) -> None:
    resources = app["variants"]["Later"]["Resources"]
    [topic] = [name for name, each in resources.items() if each["Type"] == "AWS::SNS::Topic"]
    alarms = [each["Properties"] for each in resources.values() if each["Type"] == "AWS::CloudWatch::Alarm"]
    assert alarms and all(each["AlarmActions"] == [{"Ref": topic}] for each in alarms)
    runner = resources["RunnerFunction"]["Properties"]
    assert runner["MemorySize"] == {"Ref": "Memory"}
    assert runner["VpcConfig"]["SubnetIds"] == {"Fn::Split": [",", {"Fn::Join": [",", {"Ref": "Subnets"}]}]}
    assert runner["VpcConfig"]["SecurityGroupIds"] == ["g1", {"Fn::GetAtt": [topic, "TopicName"]}]


def test_tags_are_those_of_every_resource_that_can_have_some(app: dict[str, Any]) -> None:
    resources = app["template"]["Resources"]
    tagged = {name: each["Properties"]["Tags"] for name, each in resources.items() if "Tags" in each.get("Properties", {})}
    kinds = {resources[name]["Type"] for name in tagged}
    assert kinds >= {
        "AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::SQS::Queue", "AWS::Lambda::Function", "AWS::IAM::Role",
        "AWS::Logs::LogGroup", "AWS::SecretsManager::Secret", "AWS::ApiGatewayV2::Api",
        "AWS::Scheduler::ScheduleGroup", "AWS::CloudWatch::Alarm",
    }  # fmt: skip
    for name, tags in tagged.items():
        assert tags == {"team": "flows"} if isinstance(tags, dict) else {"Key": "team", "Value": "flows"} in tags, name


def test_the_code_of_every_function_and_layer_is_an_asset(app: dict[str, Any]) -> None:
    keys = {f"{name}.zip" for name in app["assets"]["files"]}
    for name in CODE:
        properties = app["template"]["Resources"][name]["Properties"]
        assert properties.get("Code", properties.get("Content"))["S3Key"] in keys, name
    assert len({json.dumps(each["source"]) for each in app["assets"]["files"].values()}) >= len(CODE)


def test_parameters_are_set_in_the_app(app: dict[str, Any], source: dict[str, Any]) -> None:
    assert not set(app["template"].get("Parameters", {})) & set(source["Parameters"])
    assert app["template"]["Resources"]["RunnerFunction"]["Properties"]["MemorySize"] in (1024, "1024")
    assert app["template"]["Resources"]["RunTable"]["Properties"]["DeletionProtectionEnabled"] is False
    of_pool = {name for name, each in source["Outputs"].items() if each.get("Condition") == "WithPool"}
    assert set(app["template"]["Outputs"]) == {"Address", "RunnerName", *source["Outputs"]} - of_pool
    assert of_pool and set(app["variants"]["Pool"]["Outputs"]) == set(source["Outputs"])


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
    expected = (
        "needs jwt_issuer", "restored_bucket needs", "shorter than runner_timeout", "make build", "needs jwt_audience",
        "runner_timeout is not between", "log_level is not one of", "retention does not fit",
        "console yes needs auth api-key or jwt", "needs console_client_id", "with_cognito yes needs auth jwt",
        "leave jwt_issuer empty", "security_group_ids needs subnet_ids",
        "deployment is no parameter", "SecretsSource decides",
    )  # fmt: skip
    assert len(app["refused"]) == len(expected)
    assert all(part in said for part, said in zip(expected, app["refused"], strict=True))


def test_the_properties_are_the_parameters_of_the_template(source: dict[str, Any]) -> None:
    written = (ROOT / "infrastructure/cdk/stepless_cdk/parameters.py").read_text()
    names = dict(NAMES)
    assert set(names.values()) == set(source["Parameters"])
    optional = {name for name in names if re.search(rf"^    {name}: NotRequired\[", written, re.MULTILINE)}
    with_default = {name for name, declared in source["Parameters"].items() if "Default" in declared}
    assert {names[name] for name in optional} == with_default
