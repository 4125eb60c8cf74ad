"""What `make deploy` is called with, and what is there after it: samconfig.toml, and a stack in an emulator."""

from __future__ import annotations

import os
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from local_cloud import FUNCTIONS, ROOT, ROOT_KEYS

PATIENCE_S = 400


@dataclass
class Project:
    """A clone with its samconfig.toml, and an account."""

    config: Path
    address: str
    stack: str

    def service(self, name: str) -> Any:
        keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}
        return boto3.client(name, endpoint_url=self.address, **keys)

    def command(self, built: bool) -> list[str]:
        """`make deploy`, or what it calls, with a $MAKE that only prints how it is called: what was built stays."""
        if built:
            return [".tools/sam/bin/python", "infrastructure/deploy", self.stack, "--config", str(self.config)]
        return ["make", "deploy", f"STACK={self.stack}", f"CONFIG={self.config}"]

    def variables(self, built: bool) -> dict[str, str]:
        foreign = ("AWS_", "MAKE", "SET", "TAGS", "FUNCTIONS")
        own = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        skipped = {"MAKE": "echo"} if built else {}
        return {**own, **ROOT_KEYS, "AWS_ENDPOINT_URL": self.address, "COLUMNS": "200", "SAM_CLI_POLL_DELAY": "0.1", **skipped}

    def deploy(self, given: str = "", built: bool = True, tags: str = "") -> tuple[int, str]:
        """Without a terminal."""
        done = subprocess.run(
            self.command(built),
            cwd=ROOT,
            env={**self.variables(built), "SET": given, "TAGS": tags},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def parameters(self) -> dict[str, str]:
        """What the stack was deployed with, without `Release`, which is not given."""
        return {name: value for name, value in self._all_parameters().items() if name != "Release"}

    def release(self) -> str:
        return self._all_parameters()["Release"]

    def _all_parameters(self) -> dict[str, str]:
        [stack] = self.service("cloudformation").describe_stacks(StackName=self.stack)["Stacks"]
        return {pair["ParameterKey"]: pair["ParameterValue"] for pair in stack["Parameters"]}

    def outputs(self) -> dict[str, str]:
        [stack] = self.service("cloudformation").describe_stacks(StackName=self.stack)["Stacks"]
        return {pair["OutputKey"]: pair["OutputValue"] for pair in stack["Outputs"]}

    def tags(self) -> dict[str, str]:
        [stack] = self.service("cloudformation").describe_stacks(StackName=self.stack)["Stacks"]
        return {tag["Key"]: tag["Value"] for tag in stack.get("Tags", [])}

    def settings(self, function: str) -> dict[str, str]:
        """Of the version that is invoked."""
        found = self.service("lambda").get_function_configuration(FunctionName=f"{self.stack}-{function}", Qualifier="live")
        return dict(found["Environment"]["Variables"])

    def versions(self) -> dict[str, str]:
        """The version of each function that is invoked."""
        called = self.service("lambda")
        names = [f"{self.stack}-{name}" for name in FUNCTIONS]
        return {name: called.get_alias(FunctionName=name, Name="live")["FunctionVersion"] for name in names}

    def recorded(self) -> dict[str, Any]:
        return dict(tomllib.loads(self.config.read_text())[self.stack])
