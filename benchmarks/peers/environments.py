"""Each peer's environment, created by uv, with pinned versions."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
UV = ROOT / ".tools" / "bin" / "uv"
FOLDER = ROOT / ".tools" / "peers"
INSTALL_TIMEOUT_S = 300


@dataclass(frozen=True)
class Peer:
    """`requirements` have exact versions, the first of which is the peer's own; `module` is its adapter."""

    name: str
    module: str
    requirements: tuple[str, ...]
    variants: tuple[str, ...] = ("default",)

    @property
    def version(self) -> str:
        return self.requirements[0].split("==")[1]

    def label(self, variant: str) -> str:
        return self.name if variant == "default" else f"{self.name}, {variant}"


AWS_DURABLE = ("aws-durable-execution-sdk-python==3.0.0", "aws-durable-execution-sdk-python-testing==1.4.0")
PEERS = (
    Peer("langgraph", "run_langgraph", ("langgraph==1.2.22", "langgraph-checkpoint-sqlite==3.1.2"), ("sync", "async", "exit")),
    Peer("dbos", "run_dbos", ("dbos==3.4.0",)),
    Peer("pydantic-graph", "run_pydantic_graph", ("pydantic-graph==2.68.0",)),
    Peer("graphon", "run_graphon", ("graphon==0.1.2",), ("default", "50 workers")),
    Peer("aws-durable", "run_aws_durable", AWS_DURABLE, ("memory", "sqlite")),
)


def python(peer: Peer) -> Path:
    return FOLDER / peer.name / "bin" / "python"


def install(peer: Peer) -> str:
    """Creates the environment unless it exists and is current; returns the reason if it cannot."""
    stamp = FOLDER / peer.name / "requirements"
    wanted = "\n".join(peer.requirements)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return ""
    make = [str(UV), "venv", "--quiet", "--clear", "--python", sys.executable, str(FOLDER / peer.name)]
    fill = [str(UV), "pip", "install", "--quiet", "--python", str(python(peer)), *peer.requirements]
    for command in (make, fill):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"cannot be installed: {error}"
        if done.returncode != 0:
            return f"cannot be installed: {done.stderr.strip()[-300:]}"
    stamp.write_text(wanted, encoding="utf-8")
    return ""
