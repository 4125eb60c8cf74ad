"""Writes values of a CloudFormation template as expressions of Terraform, in the layout of `terraform fmt`.

The resources are those of the provider `awscc`, which is generated from the same schemas as CloudFormation: a property has the
same name in snake case. Policies and other free documents are JSON texts there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

REFERENCES: Final[Mapping[str, str]] = {  # the attribute that `Ref` of a resource stands for
    "AWS::ApiGatewayV2::Api": "api_id",
    "AWS::ApiGatewayV2::Authorizer": "authorizer_id",
    "AWS::ApiGatewayV2::Integration": "integration_id",
    "AWS::Cognito::UserPool": "user_pool_id",
    "AWS::Cognito::UserPoolClient": "client_id",
    "AWS::DynamoDB::Table": "table_name",
    "AWS::IAM::ManagedPolicy": "policy_arn",
    "AWS::IAM::Role": "role_name",
    "AWS::KMS::Key": "key_id",
    "AWS::Lambda::Alias": "alias_arn",
    "AWS::Lambda::Function": "function_name",
    "AWS::Lambda::LayerVersion": "layer_version_arn",
    "AWS::Lambda::Version": "function_arn",
    "AWS::Logs::LogGroup": "log_group_name",
    "AWS::S3::Bucket": "bucket_name",
    "AWS::SNS::Topic": "topic_arn",
    "AWS::SQS::Queue": "queue_url",
    "AWS::Scheduler::ScheduleGroup": "name",
    "AWS::SecretsManager::Secret": "secret_id",
}
PSEUDO: Final[Mapping[str, str]] = {
    "AWS::AccountId": "data.aws_caller_identity.current.account_id",
    "AWS::NoValue": "null",
    "AWS::Partition": "data.aws_partition.current.partition",
    "AWS::Region": "data.aws_region.current.region",
    "AWS::StackId": "local.stack_id",  # code.tf
    "AWS::StackName": "var.stack_name",
    "AWS::URLSuffix": "data.aws_partition.current.dns_suffix",
}
DOCUMENTS: Final = frozenset({
    "AssumeRolePolicyDocument", "EventPattern", "KeyPolicy", "PolicyDocument", "RedriveAllowPolicy", "RedrivePolicy",
})  # fmt: skip
TOP_DOCUMENTS: Final = frozenset({("AWS::DynamoDB::Table", "KeySchema")})  # a list of objects everywhere else
MAPS: Final = frozenset({"Variables"})  # whose keys are data


class NotConverted(Exception):
    """The template uses something that this generator does not know."""


def snake(name: str) -> str:
    """`SSESpecification` → sse_specification, `TimeoutInMillis` → timeout_in_millis."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)).lower()


def text(value: str) -> str:
    """A quoted text without interpolation."""
    return f'"{_escaped(value)}"'


def _escaped(value: str) -> str:
    for old, new in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("${", "$${"), ("%{", "%%{")):
        value = value.replace(old, new)
    return value


def block(pairs: Sequence[tuple[str, str]]) -> str:
    """Lines of `name = value`. As in `terraform fmt`, the signs of consecutive values of one line are aligned."""
    lines: list[str] = []
    group: list[tuple[str, str]] = []

    def close() -> None:
        width = max((len(name) for name, _ in group), default=0)
        lines.extend(f"{name:<{width}} = {value}" for name, value in group)
        group.clear()

    for name, value in pairs:
        if "\n" in value:
            close()
            lines.append(f"{name} = {value}")
        else:
            group.append((name, value))
    close()
    return "\n".join(lines)


def indented(lines: str) -> str:
    return "\n".join(f"  {line}" if line else line for line in lines.split("\n"))


class Expressions:
    """Expressions for one template: its resources by logical id with their types, and those that exist only under a condition."""

    def __init__(self, template: Mapping[str, Any], names: Mapping[str, str]) -> None:
        self._resources = template["Resources"]
        self._parameters = template["Parameters"]
        self._names = names

    def address(self, logical: str) -> str:
        kind = self._resources[logical]["Type"].removeprefix("AWS::").split("::")
        return f"awscc_{kind[0].lower()}_{snake(kind[1])}.{self._names[logical]}"

    def attribute(self, logical: str, name: str) -> str:
        if "Condition" in self._resources[logical]:
            return f"one({self.address(logical)}[*].{name})"
        return f"{self.address(logical)}.{name}"

    def value(self, value: Any, *, of: str = "", key: str = "", raw: bool = False) -> str:
        """The expression of a value. `raw` keeps the keys of objects, for documents."""
        if not raw and (key in DOCUMENTS or (of, key) in TOP_DOCUMENTS):
            return f"jsonencode({self.value(value, raw=True)})"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int | float):
            return str(value)
        if isinstance(value, str):
            return text(value)
        if isinstance(value, Mapping):
            intrinsic = self._intrinsic(value, raw)
            return intrinsic if intrinsic is not None else self._object(value, raw or key in MAPS)
        if isinstance(value, Sequence):
            return self._list(value, raw)
        raise NotConverted(f"{value!r}")

    def _list(self, items: Sequence[Any], raw: bool) -> str:
        parts = [self.value(item, raw=raw) for item in items]
        short = f"[{', '.join(parts)}]"
        if not any("\n" in part for part in parts) and len(short) <= 100:
            written = short
        else:
            written = "[\n" + indented("".join(f"{part},\n" for part in parts)[:-1]) + "\n]"
        return f"[for each in {written} : each if each != null]" if any(map(_may_be_absent, items)) else written

    def _object(self, value: Mapping[str, Any], raw: bool) -> str:
        if not value:
            return "{}"
        pairs = [(self._key(name, raw), self.value(inner, key="" if raw else name, raw=raw)) for name, inner in value.items()]
        written = "{\n" + indented(block(pairs)) + "\n}"
        if raw and any(map(_may_be_absent, value.values())):
            return f"{{ for name, each in {written} : name => each if each != null }}"
        return written

    @staticmethod
    def _key(name: str, raw: bool) -> str:
        if not raw:
            return snake(name)
        return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else text(name)

    # -- intrinsic functions ------------------------------------------------------------------------------------------

    def _intrinsic(self, value: Mapping[str, Any], raw: bool) -> str | None:
        if len(value) != 1:
            return None
        [(name, given)] = value.items()
        if name == "Ref":
            return self.ref(given)
        if name == "Condition":
            return f"local.{snake(given)}"
        convert = getattr(self, f"_{snake(name.removeprefix('Fn::'))}", None) if name.startswith("Fn::") else None
        if name.startswith("Fn::") and convert is None:
            raise NotConverted(f"the function {name}")
        return str(convert(given, raw)) if convert is not None else None

    def ref(self, name: str) -> str:
        if name in PSEUDO:
            return PSEUDO[name]
        if name == "Release":
            return "local.release"  # code.tf: that of the caller, or one made of the code and the parameters
        if name in self._parameters:
            return f"var.{snake(name)}"
        kind = self._resources[name]["Type"]
        if kind not in REFERENCES:
            raise NotConverted(f"a reference to a {kind}")
        return self.attribute(name, REFERENCES[kind])

    def _get_att(self, given: Sequence[str] | str, raw: bool) -> str:
        name, attribute = given.split(".", 1) if isinstance(given, str) else given
        if self._resources[name]["Type"] == "AWS::SecretsManager::Secret" and attribute == "Id":
            return self.attribute(name, "secret_id")
        return self.attribute(name, snake(attribute))

    def _sub(self, given: Any, raw: bool) -> str:
        template, local = (given, {}) if isinstance(given, str) else given
        parts = re.split(r"\$\{([^!][^}]*)\}", template)
        if len(parts) == 3 and not (parts[0] or parts[2]):
            return self._placed(parts[1], local)
        return '"' + "".join(_escaped(p) if i % 2 == 0 else f"${{{self._placed(p, local)}}}" for i, p in enumerate(parts)) + '"'

    def _placed(self, name: str, local: Mapping[str, Any]) -> str:
        if name in local:
            return self.value(local[name])
        return self._get_att(name, False) if "." in name else self.ref(name)

    def _if(self, given: Sequence[Any], raw: bool) -> str:
        condition, yes, no = given
        chosen = [self.value(branch, raw=raw) for branch in (yes, no)]
        if all("\n" in branch for branch in chosen):  # `terraform fmt` indents a line that closes one bracket and opens another
            chosen[0] = f"{chosen[0][:-1]}  {chosen[0][-1]}"
        return f"local.{snake(condition)} ? {chosen[0]} : {chosen[1]}"

    def _equals(self, given: Sequence[Any], raw: bool) -> str:
        return " == ".join(self._as_text(each) for each in given)

    def _as_text(self, value: Any) -> str:
        """CloudFormation compares numbers as texts; in Terraform a number never equals a text."""
        declared = self._parameters.get(value.get("Ref")) if isinstance(value, Mapping) else None
        written = self.value(value)
        return f"tostring({written})" if declared is not None and declared["Type"] == "Number" else written

    def _not(self, given: Sequence[Any], raw: bool) -> str:
        return f"!({self.value(given[0])})"

    def _and(self, given: Sequence[Any], raw: bool) -> str:
        return " && ".join(f"({self.value(each)})" for each in given)

    def _or(self, given: Sequence[Any], raw: bool) -> str:
        return " || ".join(f"({self.value(each)})" for each in given)

    def _contains(self, given: Sequence[Any], raw: bool) -> str:
        values = ", ".join(self.value(each) for each in given[0])
        return f"contains([{values}], tostring({self.value(given[1])}))"

    def _each_member_equals(self, given: Sequence[Any], raw: bool) -> str:
        return f"alltrue([for each in {self.value(given[0])} : each == {self.value(given[1])}])"

    def _join(self, given: Sequence[Any], raw: bool) -> str:
        return f"join({text(given[0])}, {self.value(given[1])})"

    def _split(self, given: Sequence[Any], raw: bool) -> str:
        return f"split({text(given[0])}, {self.value(given[1])})"

    def _select(self, given: Sequence[Any], raw: bool) -> str:
        return f"{self.value(given[1])}[{int(given[0])}]"


def _may_be_absent(value: Any) -> bool:
    """Whether a value is left out under a condition."""
    return isinstance(value, Mapping) and "Fn::If" in value and {"Ref": "AWS::NoValue"} in value["Fn::If"][1:]
