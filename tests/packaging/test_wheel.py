"""The wheel, installed as a user installs it: alone, and with the extra for authors of workflows."""

from __future__ import annotations

import json
import shlex
import zipfile
from pathlib import Path

import pytest
from environments import ROOT, Environment, empty, must, say, uv

from stepless.cli.command.extras import EXTRAS, missing_extra
from stepless.runtime.origin import command

pytestmark = pytest.mark.installs

HELLO = """\
id: hello
nodes:
  start: {type: manual}
  greet: {type: function, after: start, with: {call: greetings.hello, args: {name: <start.name>}}}
"""
FUNCTIONS = """\
from stepless import function

@function("greetings.hello")
def hello(name: str) -> str:
    return f"Hello, {name}!"
"""
TEST = """\
from stepless.testing import returns

def test_everybody_is_greeted(workflow):
    hello = workflow("hello.yaml").script("greet", returns("Hi!"))
    hello.run({"name": "Ada"}).assert_completed()
"""
CLOUD = """\
id: cloud
nodes:
  list: {type: aws, with: {service: s3, action: list_buckets}}
"""


def write(environment: Environment, **files: str) -> None:
    for name, text in files.items():
        (environment.folder / name.replace("__", ".")).write_text(text)


def test_the_wheel_holds_the_package_and_all_that_it_reads(wheel: Path) -> None:
    held = {name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith("stepless-")}
    source = ROOT / "engine"
    there = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    deployed = [ROOT / "template.yaml", *(ROOT / "functions").glob("*/app.py"), ROOT / ".github/actions/publish/action.yml"]
    project = {f"stepless/cli/project/{path.relative_to(ROOT).as_posix()}" for path in deployed}  # for `stepless init`
    project |= {f"stepless/cli/project/deploy/{path.stem}.txt" for path in (ROOT / "infrastructure/deploy").glob("*.py")}
    assert held == {name for name in there if "__pycache__" not in name} | project
    assert "stepless/py.typed" in held and "stepless/api/console/index.html" in held


def test_a_workflow_runs_without_any_extra(bare: Environment) -> None:
    write(bare, hello__yaml=HELLO, greetings__py=FUNCTIONS)
    done = bare.say("stepless", "run", "hello.yaml", "-i", '{"name": "Ada"}', "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outputs"] == {"greet": "Hello, Ada!"}
    plain = bare.say("stepless", "run", "hello.yaml", "-i", '{"name": "Ada"}')
    assert plain.returncode == 0 and "completed" in plain.stdout, plain.stderr
    assert bare.say("stepless", "validate", "hello.yaml").returncode == 0


def test_all_that_is_public_can_be_imported_without_any_extra(bare: Environment) -> None:
    source = "import stepless, stepless.testing; [getattr(m, n) for m in (stepless, stepless.testing) for n in m.__all__]"
    done = bare.say("python", "-W", "error", "-c", source)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_command_that_needs_an_extra_says_which(bare: Environment) -> None:
    done = bare.say("stepless", "dev")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    mend = f"pip install 'stepless[local] @ {bare.wheel.as_uri()}'"
    assert f"which is not installed [extra_missing]\n    Install it: {mend}." in done.stderr


def test_a_node_that_needs_an_extra_says_which(bare: Environment) -> None:
    write(bare, cloud__yaml=CLOUD)
    done = bare.say("stepless", "run", "cloud.yaml")
    assert done.returncode == 2 and f"pip install 'stepless[aws] @ {bare.wheel.as_uri()}'" in done.stderr


def test_whoever_writes_workflows_tests_and_serves_them_with_one_extra(dev: Environment) -> None:
    write(dev, hello__yaml=HELLO, greetings__py=FUNCTIONS, test_hello__py=TEST)
    done = dev.say("pytest", "-q")
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout
    assert dev.say("python", "-c", "import stepless.cli.dev.server, rich").returncode == 0


def test_a_project_that_it_begins_passes_its_own_test(dev: Environment) -> None:
    begun = dev.say("stepless", "init", "shop")
    assert begun.returncode == 0, begun.stderr
    done = dev.say("pytest", "-q", where="shop")
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout


def test_the_steps_that_init_prints_work_in_an_empty_environment(dev: Environment, tmp_path: Path) -> None:
    """One step after the other, as they are printed, on a machine where the copy that made the project is gone."""
    begun = dev.say("stepless", "init", str(tmp_path / "steps"))
    assert begun.returncode == 0, begun.stderr
    fresh, folder = empty(tmp_path / "fresh"), tmp_path / "steps"
    printed = [line.strip() for line in begun.stdout.partition("Next steps:\n")[2].splitlines() if line.startswith("  ")]
    assert printed[0] == f"cd {folder}" and printed[-1] == "stepless dev workflows"
    for line in printed[1:-1]:
        words = shlex.split(line)
        if words[0] == "pip":
            must(uv(), "pip", "install", "--quiet", "--python", fresh / "python", *words[2:], folder=folder)
            continue
        done = say(fresh / words[0], *words[1:], *(["--approve"] if words[1] == "run" else []), folder=folder)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
    wheel = next((folder / "wheels").glob("*.whl"))
    for name, extra in (("requirements-dev.txt", "local"), ("requirements.txt", "aws")):
        assert f"./wheels/{wheel.name}[{extra}]" in (folder / name).read_text().splitlines()
    assert set(zipfile.ZipFile(wheel).namelist()) - noted(wheel) == set(zipfile.ZipFile(dev.wheel).namelist()) - noted(dev.wheel)


def noted(wheel: Path) -> set[str]:
    return {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" in name}


def test_every_module_that_may_be_missing_is_brought_by_its_extra() -> None:
    for module, extra in EXTRAS.items():
        told = missing_extra(ModuleNotFoundError(f"No module named {module}", name=f"{module}.part"))
        assert told is not None and told.mend == f"install it: {command(extra)}"
    assert missing_extra(ModuleNotFoundError("No module named payments", name="payments")) is None
