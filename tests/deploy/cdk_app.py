"""Synthesises the CDK construct, in the interpreter that has aws-cdk-lib: the folder of the build, then that of the output."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "layers" / "cdk"))

import aws_cdk as cdk  # noqa: E402
from aws_cdk import aws_iam, aws_s3  # noqa: E402
from stepless_cdk import Stepless  # noqa: E402

EMPTY = {"restored_table": "", "restored_bucket": "", "restored_signing_keys": ""}


def refused(scope: cdk.Stack, build: str) -> list[str]:
    """What the construct says to parameters that contradict each other."""
    wrong = (
        {"auth": "jwt"}, {"restored_bucket": "b"}, {"queue_visibility": "100", "runner_timeout": 300}, {"build": "none"},
        {"auth": "jwt", "jwt_issuer": "i"},
    )  # fmt: skip
    found = []
    for number, given in enumerate(wrong):
        try:
            Stepless(scope, f"Wrong{number}", **({"build": build, "secrets_source": "ssm"} | EMPTY | given))
        except ValueError as error:
            found.append(str(error))
    return found


def main(build: str, out: str) -> None:
    app = cdk.App(outdir=out)
    stack = cdk.Stack(app, "Flows")
    flows = Stepless(
        stack, "Stepless", build=build, secrets_source="ssm", runner_memory=1024, event_sources=["shop", "aws.s3"], **EMPTY
    )
    bucket = aws_s3.Bucket(stack, "Data")
    bucket.grant_read(flows.runner_role)
    user = aws_iam.User(stack, "Person")
    for grant in (flows.grant_call_api, flows.grant_send_events, flows.grant_put_secrets):
        grant(user)
    flows.resource("RunTable").add_property_override("DeletionProtectionEnabled", False)
    cdk.CfnOutput(stack, "Address", value=flows.url)
    cdk.CfnOutput(stack, "RunnerName", value=flows.function("runner").function_name)
    app.synth()
    sys.stdout.write(json.dumps({"refused": refused(cdk.Stack(cdk.App(), "Other"), build)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
