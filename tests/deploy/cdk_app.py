"""Synthesises the CDK construct, in the interpreter that has aws-cdk-lib: the folder of the build, then that of the output."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "infrastructure" / "cdk"))

import aws_cdk as cdk  # noqa: E402
from aws_cdk import aws_iam, aws_s3, aws_sns  # noqa: E402
from stepless_cdk import Stepless  # noqa: E402

EMPTY = {"restored_table": "", "restored_bucket": "", "restored_signing_keys": ""}


VARIANTS: dict[str, dict[str, Any]] = {
    "Plain": {},
    "Full": {
        "auth": "jwt", "jwt_issuer": "https://issuer", "jwt_audience": ["a", "b"], "jwt_roles_claim": "groups",
        "console": "yes", "console_client_id": "page", "console_scope": "openid email",
        "public_url": "https://flows.example", "cors_origins": "https://app.example https://b.example",
        "kms_key": "arn:aws:kms:eu-west-1:123456789012:key/k", "subnet_ids": ["s1", "s2"], "security_group_ids": ["g1"],
        "permissions_boundary": "arn:aws:iam::123456789012:policy/p", "retention": "90d", "alarm_topic": "arn:aws:sns:a:b:t",
        "event_sources": ["shop", "aws.s3"], "event_queues": ["arn:aws:sqs:a:b:q"], "run_events_bus": "default",
        "on_failure_notify": "${HOOK}", "notify_from": "a@b.c", "notify_topic": "arn:aws:sns:a:b:t", "otel_endpoint": "https://otel",
        "runner_policies": ["arn:aws:iam::aws:policy/A", "arn:aws:iam::aws:policy/B"], "release": "r7",
    },
    "Pool": {"auth": "jwt", "console": "yes", "with_cognito": "yes"},
    "Iam": {
        "auth": "iam", "iam_roles": "arn:aws:iam::123456789012:role/x=admin", "tracing": "on", "snap_start": "on",
        "restored_table": "t", "restored_bucket": "b", "restored_signing_keys": "arn:aws:secretsmanager:a:b:secret:c",
        "runner_timeout": 300, "runner_concurrency": "10", "runner_pollers": "4", "queue_visibility": "400",
        "api_key_hashes": "sha256:0", "secrets_source": "secretsmanager",
    },
}  # fmt: skip
"""Parameters that turn every condition of the template, for comparison with CloudFormation's reading of them."""


def refused(scope: cdk.Stack, build: str) -> list[str]:
    """What the construct says to parameters that contradict each other."""
    wrong = (
        {"auth": "jwt"}, {"restored_bucket": "b"}, {"queue_visibility": "100", "runner_timeout": 300}, {"build": "none"},
        {"auth": "jwt", "jwt_issuer": "https://i"}, {"runner_timeout": 901}, {"log_level": "LOUD"}, {"retention": "1y"},
        {"auth": "iam", "console": "yes"}, {"auth": "jwt", "jwt_issuer": "https://i", "jwt_audience": ["a"], "console": "yes"},
        {"with_cognito": "yes"}, {"auth": "jwt", "console": "yes", "with_cognito": "yes", "jwt_issuer": "https://i"},
        {"security_group_ids": ["g"]}, {"deployment": "AllAtOnce"}, {"secrets_source": cdk.Aws.REGION},
    )  # fmt: skip
    found = []
    for number, given in enumerate(wrong):
        try:
            Stepless(scope, f"Wrong{number}", **({"build": build, "secrets_source": "ssm"} | EMPTY | given))
        except ValueError as error:
            found.append(str(error))
    return found


def later(stack: cdk.Stack, build: str) -> None:
    """Values that only the deployment knows."""
    topic, memory = aws_sns.Topic(stack, "Topic"), cdk.CfnParameter(stack, "Memory", type="Number", default=512)
    subnets = cdk.CfnParameter(stack, "Subnets", type="List<String>")
    Stepless(
        stack, "S", build=build, secrets_source="ssm", alarm_topic=topic.topic_arn, runner_memory=memory.value_as_number,
        subnet_ids=subnets.value_as_list, security_group_ids=["g1", topic.topic_name], **EMPTY,
    )  # fmt: skip


def release(build: str) -> str:
    return Stepless(cdk.Stack(cdk.App(), "Again"), "S", build=build, secrets_source="ssm", **EMPTY).release


def main(build: str, out: str) -> None:
    app = cdk.App(outdir=out)  # with the validation of templates that aws-cdk-lib has for every app
    stack = cdk.Stack(app, "Flows")
    flows = Stepless(
        stack, "Stepless", build=build, secrets_source="ssm", runner_memory=1024, event_sources=["shop", "aws.s3"], console="yes",
        tags={"team": "flows"}, **EMPTY,
    )  # fmt: skip
    bucket = aws_s3.Bucket(stack, "Data")
    bucket.grant_read(flows.runner_role)
    user = aws_iam.User(stack, "Person")
    for grant in (flows.grant_call_api, flows.grant_send_events, flows.grant_put_secrets):
        grant(user)
    flows.resource("RunTable").add_property_override("DeletionProtectionEnabled", False)
    cdk.CfnOutput(stack, "Address", value=flows.url)
    cdk.CfnOutput(stack, "RunnerName", value=flows.function("runner").function_name)
    started = time.monotonic()
    app.synth()
    seconds = time.monotonic() - started
    variants = cdk.App(outdir=f"{out}/variants", builtin_cloud_formation_validation=False)
    for name, given in VARIANTS.items():
        Stepless(cdk.Stack(variants, name), "S", **({"build": build, "secrets_source": "ssm"} | EMPTY | given))
    later(cdk.Stack(variants, "Later"), build)
    variants.synth()
    unchanged = release(build)
    Path(build, "Engine", "app.py").write_text("another")
    said = {"given": VARIANTS, "seconds": seconds, "unchanged": unchanged, "changed": release(build)}
    sys.stdout.write(json.dumps({"refused": refused(cdk.Stack(cdk.App(), "Other"), build), **said}))



if __name__ == "__main__":
    main(*sys.argv[1:])
