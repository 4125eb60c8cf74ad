"""The construct: the resources of template.yaml, with the code that `make build` has made as assets."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Unpack

from aws_cdk import CfnResource, Fn, Stack, Tags, Token, aws_iam, aws_lambda, aws_sqs
from aws_cdk.aws_s3_assets import Asset
from aws_cdk.cloudformation_include import CfnInclude
from constructs import Construct

from stepless_cdk.conditions import Conditions
from stepless_cdk.parameters import NAMES, Parameters

_TEMPLATE: Final = json.loads(Path(__file__).with_name("template.json").read_text("utf-8"))
_CODE: Final = (
    "ApiFunction", "RunnerFunction", "SweeperFunction", "DeadletterFunction", "TriggerFunction", "SandboxFunction",
    "SocketFunction", "Dependencies", "Engine", "Functions",
)  # fmt: skip


class Stepless(Construct):
    """One deployment of Stepless. `build` is the folder that `make build` writes, `.aws-sam/build`; `tags` are those of every
    resource; the other arguments are the parameters of template.yaml. The names of its functions begin with the name of the
    stack, so a stack has one deployment.

    A value may be a token (`topic.topic_arn`), except where it decides by its text which resources are made, such as `auth`.
    Without a `release`, the construct makes one of the code and the parameters, so that every change publishes new versions of
    the functions. Raises `ValueError` for parameters that do not exist, that the template refuses or that contradict each other,
    and for a folder without the built code.
    """

    def __init__(
        self, scope: Construct, id: str, *, build: str, tags: Mapping[str, str] | None = None, **parameters: Unpack[Parameters]
    ) -> None:
        super().__init__(scope, id)
        for name, value in (tags or {}).items():
            Tags.of(self).add(name, value)
        values = _checked(parameters)
        template = Conditions(_TEMPLATE, values, Token.is_unresolved).settled()
        code = {name: self._asset(name, build) for name in _CODE if name in template["Resources"]}
        if not values["Release"]:
            contents = [asset.asset_hash for asset in code.values()]
            values["Release"] = hashlib.sha256(json.dumps([contents, values], sort_keys=True).encode()).hexdigest()[:16]
        self.release = values["Release"]
        """What the versions of the functions are published with."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "template.json")
            file.write_text(json.dumps(template), "utf-8")
            filled = {name: _filled(name, value) for name, value in values.items()}
            self._include = CfnInclude(self, "Resources", template_file=str(file), parameters=filled)
        for name, asset in code.items():
            self._set_code(name, asset)
        self.url = self._output("Url")
        """The URL of the API."""
        self.table_name = self._output("Table")
        self.bucket_name = self._output("Bucket")
        self.signing_keys_arn = self._output("SigningKeys")
        self.schedule_group_name = self._output("Schedules")
        self.queue = aws_sqs.Queue.from_queue_arn(self, "RunQueue", self._attribute("RunQueue", "Arn"))
        """The queue of the runs."""
        self.trigger_queue = aws_sqs.Queue.from_queue_arn(self, "TriggerQueue", self._attribute("TriggerQueue", "Arn"))
        """The queue for events that start runs: a target for rules and buckets."""
        self.runner_role = aws_iam.Role.from_role_name(self, "Runner", self._include.get_resource("RunnerRole").ref)
        """The role of your nodes: `bucket.grant_read(stepless.runner_role)` lets workflows read a bucket."""

    def resource(self, logical_id: str) -> CfnResource:
        """A resource by its id in template.yaml, to change what no parameter changes."""
        return self._include.get_resource(logical_id)

    def function(self, name: str) -> aws_lambda.IFunction:
        """A function by its short name: api, runner, sweeper, deadletter, trigger, sandbox, with the console socket. For metrics
        and alarms."""
        arn = self._attribute(f"{name.capitalize()}Function", "Arn")
        return aws_lambda.Function.from_function_arn(self, f"{name.capitalize()}Reference", arn)

    def grant_call_api(self, grantee: aws_iam.IGrantable) -> aws_iam.Grant:
        """Lets a principal send requests to the API, if `auth` is `iam`."""
        api = self._include.get_resource("HttpApi").ref
        arn = Stack.of(self).format_arn(service="execute-api", resource=api, resource_name="*")
        return aws_iam.Grant.add_to_principal(grantee=grantee, actions=["execute-api:Invoke"], resource_arns=[arn])

    def grant_send_events(self, grantee: aws_iam.IGrantable) -> aws_iam.Grant:
        """Lets a principal send events that start runs."""
        return self.trigger_queue.grant_send_messages(grantee)

    def grant_put_secrets(self, grantee: aws_iam.IGrantable) -> aws_iam.Grant:
        """Lets a principal write the secrets of workflows in Parameter Store."""
        arn = Stack.of(self).format_arn(service="ssm", resource="parameter", resource_name=f"{Stack.of(self).stack_name}/*")
        return aws_iam.Grant.add_to_principal(grantee=grantee, actions=["ssm:PutParameter"], resource_arns=[arn])

    def _output(self, name: str) -> str:
        return str(self._include.get_output(name).value)

    def _attribute(self, logical_id: str, name: str) -> str:
        return self._include.get_resource(logical_id).get_att(name).to_string()

    def _asset(self, logical_id: str, build: str) -> Asset:
        folder = Path(build, logical_id)
        if not folder.is_dir():
            raise ValueError(f"{folder} does not exist: run `make build`, and give its folder .aws-sam/build as `build`")
        return Asset(self, f"{logical_id}Code", path=str(folder))

    def _set_code(self, logical_id: str, asset: Asset) -> None:
        resource = self._include.get_resource(logical_id)
        place = "Code" if logical_id.endswith("Function") else "Content"
        resource.add_property_override(f"{place}.S3Bucket", asset.s3_bucket_name)
        resource.add_property_override(f"{place}.S3Key", asset.s3_object_key)
        asset.add_resource_metadata(resource, place)


def _text(value: Any) -> str:
    """A value as CloudFormation's parameters take it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(Fn.join(",", value) if Token.is_unresolved(value) else ",".join(value))
    return str(Token.as_string(value) if Token.is_unresolved(value) else value)


def _filled(name: str, value: str) -> Any:
    """What takes the place of a parameter in the resources."""
    if _TEMPLATE["Parameters"][name]["Type"] != "CommaDelimitedList":
        return value
    if value.startswith("${Token[") and "," not in value:
        return Fn.split(",", value)
    return [each.strip() for each in value.split(",")]


def _checked(parameters: Mapping[str, Any]) -> dict[str, str]:
    """The value of every parameter as text, by its name in template.yaml, if the template takes them."""
    given = {}
    for name, value in parameters.items():
        if name not in NAMES:
            raise ValueError(f"{name} is no parameter of Stepless")
        text = given[NAMES[name]] = _text(value)
        declared = _TEMPLATE["Parameters"][NAMES[name]]
        if not Token.is_unresolved(text) and (why := _refusal(declared, text)):
            raise ValueError(f"{name} {why}")
    for name, cloud in NAMES.items():
        if cloud not in given and "Default" not in _TEMPLATE["Parameters"][cloud]:
            raise ValueError(f"{name} is required")
    values = {name: given.get(name, str(each.get("Default", ""))) for name, each in _TEMPLATE["Parameters"].items()}
    for broken in Conditions(_TEMPLATE, values, Token.is_unresolved).broken():
        raise ValueError(_in_snake_case(broken))
    visibility, timeout = values["QueueVisibility"], values["RunnerTimeout"]
    if visibility.isdecimal() and timeout.isdecimal() and int(visibility) <= int(timeout):
        raise ValueError("queue_visibility is shorter than runner_timeout: leave it empty, or make it longer")
    return values


def _refusal(declared: Mapping[str, Any], text: str) -> str | None:
    """What the declaration of a parameter says against its value."""
    if "AllowedValues" in declared and text not in map(str, declared["AllowedValues"]):
        return f"is not one of {', '.join(map(str, declared['AllowedValues']))}"
    if "AllowedPattern" in declared and not re.fullmatch(declared["AllowedPattern"], text):
        return f"does not fit {declared['AllowedPattern']}"
    if declared["Type"] == "Number":
        try:
            number = float(text)
        except ValueError:
            return "is not a number"
        if not declared.get("MinValue", number) <= number <= declared.get("MaxValue", number):
            return f"is not between {declared.get('MinValue')} and {declared.get('MaxValue')}"
    return None


def _in_snake_case(text: str) -> str:
    for name, cloud in NAMES.items():
        text = re.sub(rf"\b{cloud}\b", name, text)
    return text
