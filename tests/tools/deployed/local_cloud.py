"""The whole deployment on this machine: SAM builds template.yaml and deploys it to an emulator that enforces IAM, with
the functions in Lambda's own runtime under the roles that the template gives them.

The emulator forwards every invocation to this module, since it does not run Python as Lambda does. A tool that cannot be
installed raises `Missing`.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import subprocess
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import boto3
import yaml
from emulators import Missing, ministack
from lambda_host import Answer, LambdaFunction, Server
from shipped import Shipped

ROOT = Path(__file__).resolve().parents[3]
SAM = ROOT / ".tools/sam/bin/sam"
RUNTIME = ROOT / ".tools/runtime/bin/python"
FUNCTIONS = ("api", "runner", "sweeper", "deadletter", "trigger", "sandbox")
OPTIONAL = ("socket",)  # with the parameter `Console`
MANAGED = "AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI"
STACKS = ("local", "again", "moved")  # the emulator must know at its start where to forward their invocations
ROOT_KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
OWN_DATA = {"SecretsSource": "ssm", "RestoredTable": "", "RestoredBucket": "", "RestoredSigningKeys": ""}
TOOL_SECONDS = 300


class Machine:
    """An emulator with functions. `address` is the address of all its services, `build` the folder that SAM built; it is only
    read."""

    def __init__(self, folder: Path, build: Path) -> None:
        self.logs = folder
        self.build = build
        self.address = ""
        self.clock = folder / "clock"  # how many seconds the clocks of all functions are ahead
        self.variables: dict[str, str] = {}  # for every function, besides those that the template gives it
        self._shipped = Shipped(folder / "shipped", self.service)
        self._functions: dict[str, LambdaFunction] = {}
        self._lock = Lock()

    def service(self, name: str, region: str = "us-east-1", account: str = "test") -> Any:
        """A client with the rights of the account's owner."""
        keys = {"aws_access_key_id": account, "aws_secret_access_key": "test", "region_name": region}
        return boto3.client(name, endpoint_url=self.address, **keys)

    def invoke(self, name: str, version: str, arn: str, event: Any, seconds: float) -> Answer:
        """Invokes a version of a function. `arn` is that of the function, with or without the version."""
        return self.function(name, version, arn).invoke(event, timeout_s=seconds)

    def function(self, name: str, version: str, arn: str) -> LambdaFunction:
        region, account = arn.split(":")[3:5]
        with self._lock:
            key = f"{account} {region} {name} {version}"
            if key not in self._functions:
                self._functions[key] = self._function(name, version, region, account)
        return self._functions[key]

    def _function(self, name: str, version: str, region: str, account: str) -> LambdaFunction:
        owner = "test" if account == "000000000000" else account
        shipped = self._shipped.function(name, version, region, owner)
        return LambdaFunction(
            name,
            shipped.code,
            [*shipped.layers, ROOT / "tests/tools/deployed/moved_clock"],
            {**shipped.variables, "AWS_REGION": region, "AWS_LAMBDA_FUNCTION_VERSION": version, "AWS_ENDPOINT_URL": self.address,
             "MOVED_CLOCK": str(self.clock), **self._sockets(shipped.variables), **self.variables},
            timeout_s=shipped.timeout_s,
            memory=shipped.memory,
            logs=self.logs,
            python=RUNTIME,
            credentials=lambda: self._credentials(shipped.role, region, owner),
        )  # fmt: skip

    def _sockets(self, variables: Mapping[str, str]) -> Mapping[str, str]:
        """The address of a WebSocket API in the form that needs no DNS."""
        if MANAGED not in variables:
            return {}
        host, _, stage = variables[MANAGED].removeprefix("https://").partition("/")
        return {MANAGED: f"{self.address}/_aws/execute-api/{host.partition('.')[0]}/{stage}"}

    def _credentials(self, role: str, region: str, owner: str) -> Mapping[str, str]:
        """The environment that Lambda gives a function: keys of its role, and nothing else."""
        given = self.service("sts", region, owner).assume_role(RoleArn=role, RoleSessionName="function")["Credentials"]
        return {
            "AWS_DEFAULT_REGION": region,
            "AWS_ACCESS_KEY_ID": given["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": given["SecretAccessKey"],
            "AWS_SESSION_TOKEN": given["SessionToken"],
        }

    def invoked(self) -> set[str]:
        """The versions that were invoked, as account, region, name and number."""
        return set(self._functions)

    def close(self) -> None:
        for function in self._functions.values():
            function.close()


class Cloud:
    """A deployed stack. `url` is the HTTP API's address in the form that needs no DNS."""

    def __init__(self, machine: Machine, stack: str = "local", region: str = "us-east-1", account: str = "test") -> None:
        self.machine = machine
        self.stack = stack
        self.region = region
        self.account = account

    @property
    def logs(self) -> Path:
        return self.machine.logs

    def service(self, name: str) -> Any:
        return self.machine.service(name, self.region, self.account)

    def deploy(self, parameters: Mapping[str, str]) -> None:
        """`sam deploy` of what was built, over the stack if there is one. `Release` follows from the parameters unless given."""
        release = sha256(json.dumps(dict(parameters), sort_keys=True).encode()).hexdigest()[:12]
        given = {"Release": release, **OWN_DATA, **parameters}
        overrides = [f'{name}="{value}"' for name, value in given.items()]
        command = [str(SAM), "deploy", "--template", str(self.machine.build / "template.yaml"), "--stack-name", self.stack]
        command += ["--resolve-s3", "--capabilities", "CAPABILITY_IAM", "--no-progressbar", "--region", self.region]
        keys = {**ROOT_KEYS, "AWS_ACCESS_KEY_ID": self.account, "AWS_DEFAULT_REGION": self.region}
        tool([*command, "--parameter-overrides", *overrides], {**keys, "AWS_ENDPOINT_URL": self.machine.address})
        self._unpack()

    def _unpack(self) -> None:
        """What is live now, before the first invocation: its time is not for unpacking."""
        assert self.functions

    def update(self, engine: Path, release: str, broken: bool = False) -> str:
        """Another engine: uploads its layer and updates the stack. A `broken` update fails after it has published everything.
        Returns the status of the stack, which keeps its parameters."""
        template = self.template()
        layer = template["Resources"]["Engine"]["Properties"]
        bucket = layer["ContentUri"].split("/")[2]
        layer["ContentUri"] = f"s3://{bucket}/{release}"
        self.service("s3").put_object(Bucket=bucket, Key=release, Body=zipped(engine))
        if broken:
            template["Resources"]["Never"] = {"Type": "AWS::CloudFormation::WaitConditionHandle"}
            waits = {"Handle": {"Ref": "Never"}, "Timeout": "1", "Count": 1}
            published = [f"{name.capitalize()}FunctionAliaslive" for name in FUNCTIONS]
            template["Resources"]["Broken"] = {
                "Type": "AWS::CloudFormation::WaitCondition", "DependsOn": published, "Properties": waits,
            }  # fmt: skip
        names = [name for name in template["Parameters"] if name != "Release"]
        given = [{"ParameterKey": name, "UsePreviousValue": True} for name in names]
        given.append({"ParameterKey": "Release", "ParameterValue": release})
        return self._apply("update", template, given)

    def create(self, template: dict[str, Any], parameters: Mapping[str, str]) -> str:
        """A stack of a template that was packaged for another one."""
        given = [{"ParameterKey": name, "ParameterValue": value} for name, value in {**OWN_DATA, **parameters}.items()]
        return self._apply("create", template, given)

    def _apply(self, verb: str, template: dict[str, Any], given: list[dict[str, Any]]) -> str:
        called = self.service("cloudformation")
        capabilities = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
        bucket = template["Resources"]["Engine"]["Properties"]["ContentUri"].split("/")[2]
        self.service("s3").put_object(Bucket=bucket, Key="template", Body=json.dumps(template).encode())
        url = f"https://s3.{self.region}.amazonaws.com/{bucket}/template"  # as `sam deploy` does: it is too long for a request
        getattr(called, f"{verb}_stack")(StackName=self.stack, TemplateURL=url, Parameters=given, Capabilities=capabilities)
        pause, deadline = Event(), time.monotonic() + TOOL_SECONDS
        while True:
            [found] = called.describe_stacks(StackName=self.stack)["Stacks"]
            if not found["StackStatus"].endswith("_IN_PROGRESS"):
                self._unpack()
                return str(found["StackStatus"])
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.stack} is {found['StackStatus']}")
            pause.wait(0.2)

    def template(self) -> dict[str, Any]:
        """The template of the stack, with the addresses of what was uploaded."""
        found = self.service("cloudformation").get_template(StackName=self.stack, TemplateStage="Original")["TemplateBody"]
        return dict(yaml.safe_load(found) if isinstance(found, str) else found)  # boto3 reads JSON, and leaves YAML

    def live(self, function: str) -> str:
        """The version that is invoked."""
        alias = self.service("lambda").get_alias(FunctionName=f"{self.stack}-{function}", Name="live")
        return str(alias["FunctionVersion"])

    @property
    def outputs(self) -> dict[str, str]:
        [described] = self.service("cloudformation").describe_stacks(StackName=self.stack)["Stacks"]
        return {output["OutputKey"]: output["OutputValue"] for output in described["Outputs"]}

    @property
    def url(self) -> str:
        api_id = self.outputs["Url"].split("//")[1].split(".")[0]
        return f"{self.machine.address}/_aws/execute-api/{api_id}/$default"

    @property
    def socket_url(self) -> str:
        """The address of the WebSocket API, without its stage's ticket."""
        host, _, stage = self.outputs["SocketUrl"].split("//")[1].partition("/")
        return f"{self.machine.address.replace('http', 'ws', 1)}/_aws/execute-api/{host.partition('.')[0]}/{stage}"

    @property
    def functions(self) -> dict[str, LambdaFunction]:
        """What is live, by name."""
        called = self.service("lambda")
        there = FUNCTIONS + OPTIONAL if "SocketUrl" in self.outputs else FUNCTIONS
        names = [f"{self.stack}-{name}" for name in there]
        found = [called.get_function(FunctionName=name, Qualifier="live")["Configuration"] for name in names]
        live = [(each["FunctionName"], each["Version"], each["FunctionArn"]) for each in found]
        return {name: self.machine.function(name, version, arn) for name, version, arn in live}

    def log(self, function: str) -> Path:
        return self.logs / f"{self.stack}-{function}.log"


@contextmanager
def deployed(
    folder: Path, build: Path, parameters: Mapping[str, str], variables: Mapping[str, str] | None = None, **emulator: str
) -> Iterator[Cloud]:
    """`emulated`, with a deployed stack. `variables` are further ones of every function."""
    with emulated(folder, build, **emulator) as machine:
        machine.variables.update(variables or {})
        cloud = Cloud(machine)
        cloud.deploy(parameters)
        yield cloud


def built(folder: Path, functions: Path) -> Path:
    """What SAM builds, in `folder`: several processes may ask at once, and one of them builds. `functions` is the folder of the
    nodes' code."""
    build, stamp = folder / "build", folder / "built"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not stamp.exists():
            _build(build, functions)
            stamp.touch()
    return build


def _build(build: Path, functions: Path) -> None:
    for program in (SAM, RUNTIME):
        tool(["make", "-C", str(ROOT), str(program.relative_to(ROOT))], {})
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    version = subprocess.run([str(RUNTIME), "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    target = {
        "LAMBDA_PYTHON": version, "LAMBDA_PLATFORM": f"{platform.machine()}-manylinux_2_28", "COMPILER": str(RUNTIME),
        "FUNCTIONS": str(functions),
    }  # fmt: skip
    tool([str(SAM), "build", "--build-dir", str(build)], target)


@contextmanager
def emulated(folder: Path, build: Path, **emulator: str) -> Iterator[Machine]:
    """Starts the emulator for what was `built`. `emulator` are its further settings, as environment variables."""
    machine = Machine(folder, build)
    server = Server(("127.0.0.1", 0), _invoker(machine))
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    names = [f"{stack}-{name}" for stack in STACKS for name in FUNCTIONS + OPTIONAL]
    forward = {f"MINISTACK_LAMBDA_PROXY_{name}": f"http://127.0.0.1:{server.server_address[1]}" for name in names}
    try:
        with ministack(AUTH="true", **ROOT_KEYS, **forward, **emulator) as machine.address:
            yield machine
    finally:
        machine.close()
        server.shutdown()
        server.server_close()


def zipped(folder: Path) -> bytes:
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for file in sorted(folder.rglob("*")):
            packed.write(file, file.relative_to(folder))
    return data.getvalue()


def _invoker(machine: Machine) -> type[BaseHTTPRequestHandler]:
    """Where the emulator sends invocations: `POST /` with the event, and what is invoked in headers."""

    class Invoker(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            what = [self.headers[f"X-Amzn-Lambda-Function-{part}"] for part in ("Name", "Version", "Arn")]
            seconds = int(self.headers["X-Amzn-Lambda-Deadline-Ms"]) / 1000 - time.time()  # noqa: TID251 - the emulator's clock
            answer = machine.invoke(*what, event, seconds)
            data = json.dumps(answer.value if answer.error is None else answer.error).encode()
            self.send_response(200 if answer.error is None else 500)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            return

    return Invoker


def tool(command: list[str], variables: Mapping[str, str]) -> None:
    settings = {"SAM_CLI_TELEMETRY": "0", "SAM_CLI_POLL_DELAY": "0.2", "AWS_DEFAULT_REGION": "us-east-1"}
    environment = {**os.environ, **settings, **variables}
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
