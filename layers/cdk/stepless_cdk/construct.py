"""The construct: the resources of template.yaml, with the code that `make build` has made as assets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Unpack

from aws_cdk import CfnResource, Stack, aws_iam, aws_lambda, aws_sqs
from aws_cdk.aws_s3_assets import Asset
from aws_cdk.cloudformation_include import CfnInclude
from constructs import Construct

from stepless_cdk.parameters import NAMES, Parameters

_TEMPLATE: Final = Path(__file__).with_name("template.json")
_FUNCTIONS: Final = ("Api", "Runner", "Sweeper", "Deadletter", "Trigger", "Sandbox")
_LAYERS: Final = ("Dependencies", "Engine", "Functions")


class Stepless(Construct):
    """One deployment of Stepless. `build` is the folder that `make build` writes, `.aws-sam/build`; the other arguments are the
    parameters of template.yaml. The names of its functions begin with the name of the stack, so a stack has one deployment.

    Raises `ValueError` for parameters that contradict each other, and for a folder without the built code.
    """

    def __init__(self, scope: Construct, id: str, *, build: str, **parameters: Unpack[Parameters]) -> None:
        super().__init__(scope, id)
        given = {NAMES[name]: _text(value) for name, value in parameters.items()}
        _check(parameters)
        self._include = CfnInclude(self, "Resources", template_file=str(_TEMPLATE), parameters=given)
        for name in _FUNCTIONS:
            self._set_code(f"{name}Function", build)
        for name in _LAYERS:
            self._set_code(name, build)
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
        """A function by its short name: api, runner, sweeper, deadletter, trigger or sandbox. For metrics and alarms."""
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

    def _set_code(self, logical_id: str, build: str) -> None:
        folder = Path(build, logical_id)
        if not folder.is_dir():
            raise ValueError(f"{folder} does not exist: run `make build`, and give its folder .aws-sam/build as `build`")
        asset = Asset(self, f"{logical_id}Code", path=str(folder))
        resource = self._include.get_resource(logical_id)
        place = "Code" if logical_id.endswith("Function") else "Content"
        resource.add_property_override(f"{place}.S3Bucket", asset.s3_bucket_name)
        resource.add_property_override(f"{place}.S3Key", asset.s3_object_key)
        asset.add_resource_metadata(resource, place)


def _text(value: Any) -> Any:
    """A value as CloudFormation's parameters take it."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else ",".join(value)


def _check(parameters: Mapping[str, Any]) -> None:
    """The rules of template.yaml."""
    if parameters.get("auth") == "jwt" and not (parameters.get("jwt_issuer") and parameters.get("jwt_audience")):
        raise ValueError("auth jwt needs jwt_issuer and jwt_audience")
    if not parameters["restored_table"]:
        for name in ("restored_bucket", "restored_signing_keys"):
            if parameters[name]:
                raise ValueError(f"{name} needs restored_table")
    visibility = parameters.get("queue_visibility")
    if visibility and int(visibility) <= parameters.get("runner_timeout", 120):
        raise ValueError("queue_visibility is shorter than runner_timeout: leave it empty, or make it longer")
