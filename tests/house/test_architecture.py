"""The directions of imports: `[tool.importlinter]` in pyproject.toml, checked here so that a violation fails the suite.

The second half proves that each contract can fail: in a stub of the engine without any import, one forbidden import is added, and
the contracts that break are named.
"""

from __future__ import annotations

import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import grimp
import pytest
from importlinter.api import read_configuration
from importlinter.contracts.acyclic_siblings import AcyclicSiblingsContract
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.independence import IndependenceContract
from importlinter.contracts.layers import LayersContract
from importlinter.domain.contract import Contract

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = read_configuration(str(ROOT / "pyproject.toml"))
TYPES = {kind.type_name: kind for kind in (AcyclicSiblingsContract, ForbiddenContract, IndependenceContract, LayersContract)}
CONTRACTS = [
    (
        options["id"],
        TYPES[options["type"]](
            name=options["name"],
            session_options=CONFIGURATION["session_options"],
            contract_options={key: value for key, value in options.items() if key not in ("id", "name", "type")},
        ),
    )
    for options in CONFIGURATION["contracts_options"]
]
IDS = [identity for identity, _ in CONTRACTS]

STUB = """
stepless.__main__ stepless.codes stepless.collector stepless.imports stepless.imports.sim stepless.raised
stepless.adapters stepless.adapters.aws stepless.adapters.aws.dynamo.store stepless.adapters.memory stepless.adapters.memory.store
stepless.api stepless.api.app stepless.builder stepless.builder.workflow stepless.cli stepless.cli.dev.server
stepless.cli.command.main stepless.client stepless.client.calls
stepless.compile stepless.compile.link
stepless.core stepless.core.decide stepless.core.fold stepless.errors stepless.expressions stepless.expressions.parse
stepless.limits stepless.model stepless.model.declaration.validation stepless.nodes stepless.nodes.http stepless.nodes.json_value
stepless.nodes.control.join stepless.nodes.control.loop stepless.ports stepless.runtime
stepless.runtime.wiring.local stepless.runtime.wiring.aws
stepless.runtime.session.runner stepless.testing stepless.testing.simulate
"""
ROOMS = [  # that a contract of layers names: each must be there
    f"{container}.{room.strip()}"
    for options in CONFIGURATION["contracts_options"]
    if options["type"] == "layers"
    for container in options["containers"]
    for layer in options["layers"]
    for room in layer.split("|")
]
TRESPASSES = [  # what is drawn, and the contracts that it breaks, by name
    (["stepless.core.decide -> stepless.runtime.session.runner"], "layers"),
    (["stepless.model.declaration.validation -> stepless.compile.link"], "layers"),
    (["stepless.core.decide -> stepless.compile.link"], "layers"),
    (["stepless.expressions.parse -> stepless.ports"], "layers"),
    (["stepless.cli.command.main -> stepless.api.app"], "layers"),
    (["stepless.api.app -> stepless.testing.simulate"], "layers"),
    (["stepless.imports.sim -> stepless.runtime.session.runner"], "layers"),
    (["stepless.runtime.session.runner -> stepless.builder.workflow"], "layers"),
    (["stepless.core.decide -> stepless.core.fold", "stepless.core.fold -> stepless.core.decide"], "acyclic core"),
    (["stepless.adapters.memory.store -> stepless.core.fold"], "adapters layers"),
    (["stepless.adapters.memory.store -> stepless.expressions.parse"], "adapters"),
    (["stepless.runtime.session.runner -> stepless.adapters.memory.store"], "composition-root"),
    (["stepless.cli.command.main -> stepless.adapters.memory"], "composition-root"),
    (["stepless.runtime.wiring.aws -> stepless.adapters.memory.store"], "composition-root"),
    (["stepless.core.decide -> time"], "pure"),
    (["stepless.compile.link -> stepless.model.declaration.validation", "stepless.model.declaration.validation -> os"], "pure"),
    (["stepless.expressions.parse -> asyncio"], "pure"),
    (["stepless.compile.link -> gc"], "collector pure"),
    (["stepless.runtime.session.runner -> gc"], "collector"),
    (["stepless.runtime.wiring.aws -> stepless.collector"], "collector"),
    (["stepless.core.fold -> stepless.codes", "stepless.codes -> gc"], "collector pure"),
    (["stepless.core.fold -> pydantic"], "pydantic"),
    (["stepless.nodes.http -> boto3"], "boto3"),
    (["stepless.adapters.memory.store -> botocore"], "boto3"),
    (["stepless.runtime.session.runner -> fastapi"], "fastapi"),
    (["stepless.cli.dev.server -> starlette"], "fastapi"),
    (["stepless.client.calls -> fastapi"], "client fastapi"),
    (["stepless.client.calls -> stepless.errors"], "client"),
    (["stepless.client.calls -> stepless.model.declaration.validation"], "layers"),
    (["stepless.core.decide -> stepless.client.calls", "stepless.client.calls -> time"], "pure"),
    (["stepless.nodes.http -> stepless.nodes.control.loop"], "nodes"),
    (["stepless.nodes.control.join -> stepless.nodes.control.loop"], "kinds"),
    (["stepless.drawer -> stepless.limits"], "layers"),
    (["stepless.runtime.verbs.starts.starting -> stepless.runtime.session.runner"], "runtime"),
    (["stepless.runtime.session.runner -> stepless.runtime.wiring.local"], "runtime"),
    (["stepless.runtime.drawer -> stepless.limits"], "runtime"),
    (["stepless.model.kind -> stepless.model.work"], "model"),
    (["stepless.core.values.inputs -> stepless.core.fold"], "core"),
    (["stepless.core.drawer -> stepless.limits"], "core"),
    (["stepless.nodes.json_value -> stepless.nodes.http"], "nodes"),
    (["stepless.runtime.session.permits.limiting -> stepless.runtime.session.loop"], "session"),
    (["stepless.runtime.verbs.starts.starting -> stepless.runtime.verbs.changes.holds"], "verbs"),
    (["stepless.compile.shape -> stepless.compile.link"], "compile"),
    (["stepless.cli.terminal.live -> stepless.cli.verbs.files.run"], "cli"),
    (["stepless.drafts.log -> stepless.drafts.operations"], "drafts"),
    (["stepless.drafts.drawer -> stepless.limits"], "drafts"),
    (["stepless.testing.simulate -> stepless.drafts.rules"], "drafts-guests"),
    (["stepless.runtime.session.runner -> stepless.drafts.log"], "drafts-guests layers"),
    (["stepless.drafts.operations -> stepless.adapters.memory.store"], "composition-root"),
]


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("stepless", include_external_packages=True, cache_dir=None)


def stub(*imports: str) -> grimp.ImportGraph:
    """A house of empty rooms with these imports, each `importer -> imported`."""
    drawn = grimp.ImportGraph()
    for module in dict.fromkeys(["stepless", *STUB.split(), *ROOMS]):
        drawn.add_module(module)
    for line in imports:
        importer, imported = line.split(" -> ")
        for module in (importer, imported):
            if module not in drawn.modules:
                drawn.add_module(module, is_squashed=not module.startswith("stepless"))
        drawn.add_import(importer=importer, imported=imported, line_number=1, line_contents=line)
    return drawn


def broken(graph: grimp.ImportGraph) -> list[str]:
    return sorted(identity for identity, contract in CONTRACTS if not contract.check(deepcopy(graph), verbose=False).kept)


@pytest.mark.parametrize(("identity", "contract"), CONTRACTS, ids=IDS)
def test_the_engine_keeps_the_contract(identity: str, contract: Contract, graph: grimp.ImportGraph) -> None:
    check = contract.check(deepcopy(graph), verbose=False)
    if not check.kept:
        contract.render_broken_contract(check)
    assert check.kept, f"{identity}: {contract.name} (who trespasses is printed above)"


def test_an_empty_house_breaks_no_contract() -> None:
    assert broken(stub()) == []


@pytest.mark.parametrize(
    "lines",
    [
        "stepless.api.app -> stepless.runtime.session.runner",
        "stepless.api.app -> fastapi",
        "stepless.api.app -> stepless.drafts.operations",
        "stepless.drafts.wiring.aws_sockets -> stepless.adapters.aws",
        "stepless.cli.dev.server -> stepless.api.app",
        "stepless.runtime.session.runner -> stepless.core.decide",
        "stepless.runtime.wiring.local -> stepless.adapters.aws.dynamo.store",
        "stepless.runtime.wiring.aws -> stepless.adapters.aws.dynamo.store",
        "stepless.adapters.aws.dynamo.store -> boto3",
        "stepless.adapters.memory.store -> stepless.ports",
        "stepless.core.decide -> stepless.core.fold",
        "stepless.nodes.http -> stepless.nodes.json_value",
        "stepless.testing.simulate -> stepless.adapters.memory.store",
        "stepless.model.declaration.validation -> pydantic",
        "stepless.cli.command.main -> stepless.collector",
        "stepless.collector -> gc",
    ],
)
def test_what_the_house_allows_breaks_nothing(lines: str) -> None:
    assert broken(stub(lines)) == []


@pytest.mark.parametrize(("lines", "caught_by"), TRESPASSES, ids=str)
def test_a_trespass_is_caught(lines: list[str], caught_by: str) -> None:
    assert broken(stub(*lines)) == caught_by.split()


def test_every_contract_is_seen_to_fail() -> None:
    assert {identity for _, caught_by in TRESPASSES for identity in caught_by.split()} == set(IDS)


@pytest.mark.parametrize(
    ("room", "unwanted"),
    [
        ("stepless.core", "boto3 fastapi mangum rich starlette uvicorn"),
        ("stepless.compile", "boto3 fastapi mangum rich starlette uvicorn"),
        ("stepless.runtime", "fastapi mangum rich starlette uvicorn"),
    ],
)
def test_a_room_starts_without_what_it_must_not_need(room: str, unwanted: str) -> None:
    """Asked of a fresh interpreter, since a library may bring another along."""
    source = f"import {room}, sys; print(*sorted(set({unwanted.split()!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", source], cwd=ROOT / "engine", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, [], "")
