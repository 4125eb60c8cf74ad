"""The whole deployment on this machine: SAM builds template.yaml and deploys it to an emulator that enforces IAM, with
the functions in Lambda's own runtime under the roles that the template gives them.

The emulator forwards every invocation to this module, since it does not run Python as Lambda does. A tool that cannot be
installed raises `Missing`.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Thread
from typing import Any

import boto3
from emulators import Missing, ministack
from lambda_host import LambdaFunction, Server

ROOT = Path(__file__).resolve().parents[2]
SAM = ROOT / ".tools/sam/bin/sam"
RUNTIME = ROOT / ".tools/runtime/bin/python"
FUNCTIONS = ("api", "runner", "sweeper", "deadletter", "trigger", "sandbox")
LAYERS = ("Dependencies", "Engine", "Functions")
ROOT_KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
OWN_DATA = {"SecretsSource": "ssm", "RestoredTable": "", "RestoredBucket": "", "RestoredSigningKeys": ""}
TOOL_SECONDS = 300


class Cloud:
    """A deployed stack. `url` is the HTTP API's address in the form that needs no DNS."""

    def __init__(self, stack: str, logs: Path) -> None:
        self.stack = stack
        self.logs = logs
        self.url = ""
        self.outputs: dict[str, str] = {}
        self.functions: dict[str, LambdaFunction] = {}
        self.address = ""
        self.build = Path()

    def service(self, name: str) -> Any:
        """A client with the rights of the account's owner."""
        keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}
        return boto3.client(name, endpoint_url=self.address, **keys)

    def _take_up(self) -> None:
        """Reads the deployed functions; invocations are served by new environments from then on."""
        self.close()
        described = self.service("cloudformation").describe_stacks(StackName=self.stack)["Stacks"][0]
        self.outputs = {output["OutputKey"]: output["OutputValue"] for output in described["Outputs"]}
        api_id = self.outputs["Url"].split("//")[1].split(".")[0]
        self.url = f"{self.address}/_aws/execute-api/{api_id}/$default"
        for name in FUNCTIONS:
            layers = ("Engine",) if name == "sandbox" else LAYERS
            deployed = self.service("lambda").get_function_configuration(FunctionName=f"{self.stack}-{name}")
            self.functions[f"{self.stack}-{name}"] = LambdaFunction(
                f"{self.stack}-{name}",
                self.build / f"{name.capitalize()}Function",
                [self.build / layer / "python" for layer in layers],
                {**deployed["Environment"]["Variables"], "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": self.address},
                timeout_s=deployed["Timeout"],
                logs=self.logs,
                python=RUNTIME,
                credentials=lambda role=deployed["Role"]: self._credentials(role),
            )
            if name in ("api", "runner"):
                self._widen_for_schedules(deployed["Role"])

    def deploy(self, parameters: Mapping[str, str]) -> None:
        """Deploys what was built, over the stack if there is one."""
        overrides = [f'{name}="{value}"' for name, value in {**OWN_DATA, **parameters}.items()]
        deploy = [str(SAM), "deploy", "--template", str(self.build / "template.yaml"), "--stack-name", self.stack, "--resolve-s3"]
        deploy += ["--capabilities", "CAPABILITY_IAM", "--no-progressbar", "--parameter-overrides", *overrides]
        _run(deploy, {**ROOT_KEYS, "AWS_ENDPOINT_URL": self.address})
        self._take_up()

    def _widen_for_schedules(self, role_arn: str) -> None:
        """The emulator treats every schedule as one of the group `default`: it would refuse requests that AWS
        permits."""
        actions = ["scheduler:CreateSchedule", "scheduler:DeleteSchedule"]
        statement = {"Effect": "Allow", "Action": actions, "Resource": "arn:aws:scheduler:*:*:schedule/default/*"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        self.service("iam").put_role_policy(RoleName=role_arn.rpartition("/")[2], PolicyName="emulator", PolicyDocument=document)

    def _credentials(self, role: str) -> Mapping[str, str]:
        """The environment that Lambda gives a function: keys of its role, and nothing else."""
        given = self.service("sts").assume_role(RoleArn=role, RoleSessionName="function")["Credentials"]
        return {
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": given["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": given["SecretAccessKey"],
            "AWS_SESSION_TOKEN": given["SessionToken"],
        }

    def invoke(self, function: str, event: Any, seconds: float) -> tuple[int, Any]:
        answer = self.functions[function].invoke(event, timeout_s=seconds)
        return (200, answer.value) if answer.error is None else (500, answer.error)

    def close(self) -> None:
        for function in self.functions.values():
            function.close()


@contextmanager
def deployed(logs: Path, functions: Path, parameters: Mapping[str, str], **emulator: str) -> Iterator[Cloud]:
    """Builds, starts the emulator, and deploys. `functions` is the folder of the nodes' code, `emulator` are further settings of
    the emulator, as environment variables."""
    for tool in (SAM, RUNTIME):
        _run(["make", "-C", str(ROOT), str(tool.relative_to(ROOT))], {})
    build = logs / "build"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    target = {"LAMBDA_PYTHON": version, "LAMBDA_PLATFORM": f"{platform.machine()}-manylinux_2_28", "FUNCTIONS": str(functions)}
    _run([str(SAM), "build", "--build-in-source", "--parallel", "--build-dir", str(build)], target)
    cloud = Cloud("local", logs)
    server = Server(("127.0.0.1", 0), _invoker(cloud))
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    forward = {
        f"MINISTACK_LAMBDA_PROXY_{cloud.stack}-{name}": f"http://127.0.0.1:{server.server_address[1]}/{cloud.stack}-{name}"
        for name in FUNCTIONS
    }
    try:
        with ministack(AUTH="true", **ROOT_KEYS, **forward, **emulator) as address:
            cloud.address, cloud.build = address, build
            cloud.deploy(parameters)
            yield cloud
    finally:
        cloud.close()
        server.shutdown()
        server.server_close()


def _invoker(cloud: Cloud) -> type[BaseHTTPRequestHandler]:
    """Where the emulator sends invocations: `POST /{function}` with the event, and its deadline in a header."""

    class Invoker(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seconds = int(self.headers["X-Amzn-Lambda-Deadline-Ms"]) / 1000 - time.time()  # noqa: TID251 - the emulator's clock
            status, value = cloud.invoke(self.path[1:], event, seconds)
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            return

    return Invoker


def _run(command: list[str], variables: Mapping[str, str]) -> None:
    environment = {**os.environ, "SAM_CLI_TELEMETRY": "0", "AWS_DEFAULT_REGION": "us-east-1", **variables}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=TOOL_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"a tool cannot be run, {command[0]}: {error}") from error
    if done.returncode != 0:
        if command[0] == "make":
            said = done.stderr.strip()[-300:]
            raise Missing(f"{command[-1]} is missing, and cannot be installed from the package registry: {said}")
        raise RuntimeError(f"{' '.join(command[:2])} failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
