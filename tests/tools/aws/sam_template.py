"""template.yaml as data."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[3]
FUNCTIONS = ("Api", "Runner", "Sweeper", "Deadletter", "Trigger", "Sandbox", "Socket")


class Tagged(yaml.SafeLoader):
    """`!Ref x` as {"Ref": x}, and so on."""


def _intrinsic(loader: Any, suffix: str, node: yaml.Node) -> Any:
    build = {yaml.ScalarNode: loader.construct_scalar, yaml.SequenceNode: loader.construct_sequence}
    value = build.get(type(node), loader.construct_mapping)(node, **({} if isinstance(node, yaml.ScalarNode) else {"deep": True}))
    return {suffix: value}


Tagged.add_multi_constructor("!", _intrinsic)


def properties(template: dict[str, Any], name: str) -> dict[str, Any]:
    return dict(template["Resources"][name]["Properties"])


def statements(template: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, resource in template["Resources"].items():
        policies = resource.get("Properties", {}).get("Policies", [])
        for policy in policies if resource["Type"] != "AWS::Cognito::UserPool" else ():  # those of a pool are about passwords
            for statement in policy["PolicyDocument"]["Statement"]:
                parts = statement.get("If", [statement])
                yield from ((name, part) for part in parts if isinstance(part, dict) and "Action" in part)


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def transformed(*given: str) -> dict[str, Any]:
    """The resources after SAM's transform, with these parameters."""
    command = [".tools/sam/bin/python", "tests/deploy/transform.py", "template.yaml", *given]
    variables = {**os.environ, "AWS_DEFAULT_REGION": "us-east-1"}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout)["Resources"])


def loaded() -> dict[str, Any]:
    return dict(yaml.load((ROOT / "template.yaml").read_text(), Tagged))
